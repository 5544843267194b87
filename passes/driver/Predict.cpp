#include "passes/driver/Predict.h"

#include "compiler/artifact/ExportKernel.h"
#include "compiler/artifact/ExportPlan.h"
#include "compiler/cost/Collective.h"
#include "compiler/cost/Roofline.h"
#include "compiler/schedule/Simulate.h"
#include "compiler/schedule/plan/PlanTimeline.h"
#include "dialects/graph/Cost.h"
#include "dialects/mesh/MeshDialect.h"
#include "dialects/program/Program.h"
#include "runtime/artifact/Access.h"
#include "runtime/artifact/Enums.h"
#include "runtime/artifact/Work.h"

#include <algorithm>
#include <initializer_list>

namespace cleave::driver {
namespace {

class Predictor {
public:
  Predictor(const plan::Program &program, const cost::CollectiveCost &collectives,
            const KernelWorks &kernels)
      : program_(program), collectives_(collectives), cluster_(collectives.cluster()),
        kernels_(kernels) {}

  double seconds(const plan::Instruction &instruction) const {
    if (instruction.has_collective())
      return collective(instruction.collective());
    if (instruction.has_copy())
      return copy(instruction.copy());
    if (instruction.has_fill())
      return cost::fillSeconds(cluster_, bytesOf({instruction.fill().buffer()}));
    if (instruction.has_launch())
      return launch(program_.kernels(static_cast<int>(instruction.launch().kernel())));
    KernelWork work = artifact::workOf(program_, instruction);
    if (instruction.has_attention()) {
      const double slowest = artifact::slowestShare(instruction.attention());
      work.flops = work.flops / slowest * cost::waitingShare(cluster_, slowest);
    }
    return work.isProduct ? cost::kernelSeconds(cluster_, work) : 0;
  }

private:
  double bytesOf(std::initializer_list<uint32_t> buffers) const {
    double bytes = 0;
    for (uint32_t buffer : buffers)
      bytes += static_cast<double>(program_.buffers(static_cast<int>(buffer)).bytes());
    return bytes;
  }

  Space spaceOf(uint32_t buffer) const {
    const plan::Buffer &what = program_.buffers(static_cast<int>(buffer));
    return static_cast<Space>(program_.arenas(static_cast<int>(what.arena())).space());
  }

  double copy(const plan::Copy &what) const {
    const Space other = std::max(spaceOf(what.from()), spaceOf(what.to()));
    const double bytes = bytesOf({what.from()});
    return other == Space::Device ? cost::copySeconds(cluster_, bytes)
                                  : cost::awaySeconds(cluster_, other, bytes);
  }

  // The kernel computes its op in each of its instances.
  double launch(const plan::Kernel &code) const {
    KernelWork work = kernels_.at(code.symbol());
    work.flops = code.flops();
    work.bytes = code.bytes();
    return cost::kernelSeconds(cluster_, work);
  }

  double collective(const plan::Collective &op) const {
    std::vector<int> axes(op.axes().begin(), op.axes().end());
    double sent = 0, received = 0;
    for (uint32_t buffer : op.send())
      sent += bytesOf({buffer});
    for (uint32_t buffer : op.recv())
      received += bytesOf({buffer});
    return collectives_.seconds(artifact::kindOf(op), axes, std::max(sent, received));
  }

  const plan::Program &program_;
  const cost::CollectiveCost &collectives_;
  const cluster::Cluster &cluster_;
  const KernelWorks &kernels_;
};

} // namespace

KernelWorks kernelWorks(mlir::ModuleOp module) {
  KernelWorks works;
  module.walk([&](program::KernelOp kernel) {
    works[artifact::exportKernel(kernel).symbol()] = graph::workOf(&kernel.getComputation());
  });
  return works;
}

void predictInstructions(plan::Plan &plan, mlir::ModuleOp module, const cluster::Cluster &cluster) {
  const KernelWorks kernels = kernelWorks(module);
  const mesh::MeshAttr mesh = mesh::meshOf(module);
  const cost::CollectiveCost collectives(cluster, mesh ? mesh::toMesh(mesh) : Mesh());
  for (plan::Program &program : *plan.mutable_programs()) {
    Predictor predictor(program, collectives, kernels);
    for (plan::Segment &segment : *program.mutable_segments())
      for (plan::Instruction &instruction : *segment.mutable_instructions())
        instruction.set_seconds(predictor.seconds(instruction));
  }
}

Result<plan::Plan> predictedOutline(Compilation &c) {
  CLEAVE_TRY_ASSIGN(plan::Plan outline, artifact::exportOutline(c.module()));
  CLEAVE_TRY_ASSIGN(const cluster::Cluster shared,
                    cluster::forRanks(*c.cluster, c.options.ranks).withContext("--cluster"));
  predictInstructions(outline, c.module(), shared);
  return outline;
}

std::vector<int64_t> runsOf(const plan::Program &program) {
  std::vector<int64_t> runs(program.segments_size(), 0);
  for (const plan::ScheduleStep &step : program.schedule())
    ++runs[step.segment()];
  return runs;
}

Result<StepSeconds> secondsOfStep(const plan::Plan &plan) {
  const schedule::Timeline timeline =
      schedule::timelineOf(plan, schedule::TimelineForm::Folded).timeline;
  Result<schedule::Simulation> found = schedule::simulate(timeline);
  if (!found)
    return Status::defect("the plan's step: ", found.status().message());
  StepSeconds seconds{.step = found->seconds};
  for (size_t r = 0; r < timeline.resources.size(); ++r)
    if (timeline.resources[r].rank == 0)
      (timeline.resources[r].kind == schedule::ResourceKind::Link ? seconds.communication
                                                                  : seconds.compute) +=
          found->busySeconds[r];
  return seconds;
}

} // namespace cleave::driver
