#include "passes/driver/Predict.h"

#include "compiler/artifact/ExportKernel.h"
#include "compiler/artifact/ExportPlan.h"
#include "compiler/cost/Collective.h"
#include "compiler/cost/Roofline.h"
#include "compiler/schedule/Simulate.h"
#include "compiler/schedule/plan/PlanTimeline.h"
#include "dialects/graph/Graph.h"
#include "dialects/graph/GroupedMatmul.h"
#include "dialects/mesh/MeshDialect.h"
#include "dialects/program/Program.h"
#include "runtime/artifact/Access.h"
#include "runtime/artifact/Enums.h"
#include "runtime/artifact/Work.h"
#include "runtime/base/DType.h"

#include <algorithm>
#include <initializer_list>

namespace cleave::driver {
namespace {

class Predictor {
public:
  Predictor(const plan::Program &program, const cost::CollectiveCost &collectives,
            const ProductKernels &products)
      : program_(program), collectives_(collectives), cluster_(collectives.cluster()),
        products_(products) {}

  double seconds(const plan::Instruction &instruction) const {
    if (instruction.has_collective())
      return collective(instruction.collective());
    if (instruction.has_copy())
      return copy(instruction.copy());
    if (instruction.has_fill())
      return cost::fillSeconds(cluster_, bytesOf({instruction.fill().buffer()}));
    if (instruction.has_launch())
      return launch(program_.kernels(static_cast<int>(instruction.launch().kernel())));
    const double flops = artifact::flopsOf(program_, instruction),
                 bytes = artifact::bytesOf(program_, instruction);
    if (instruction.has_matmul()) {
      const plan::Matmul &matmul = instruction.matmul();
      return kernel({.flops = flops,
                     .bytes = bytes,
                     .elementType = computeType(matmul.lhs().buffer()),
                     .sizes = sizesOf(matmul)});
    }
    if (instruction.has_convolution()) {
      const plan::Convolution &conv = instruction.convolution();
      return kernel({.flops = flops,
                     .bytes = bytes,
                     .elementType = computeType(artifact::rolesOf(conv).reads[0]),
                     .columns = artifact::columnsOf(conv)});
    }
    if (instruction.has_grouped_matmul()) {
      const plan::GroupedMatmul &matmul = instruction.grouped_matmul();
      return kernel({.flops = flops,
                     .bytes = bytes,
                     .elementType = computeType(matmul.input().buffer()),
                     .grouped = {.rows = matmul.rows(),
                                 .inputs = matmul.inputs(),
                                 .outputs = matmul.outputs(),
                                 .groups = matmul.groups(),
                                 .wholeGroups = matmul.whole_groups(),
                                 .isWeightGradient = matmul.weight_gradient()}});
    }
    if (instruction.has_attention()) {
      const plan::Attention &attention = instruction.attention();
      const bool isInLibrary = attention.workspace_size() > 0; // of GPUs
      const double slowest = artifact::slowestShare(attention);
      return kernel({.flops = flops / slowest * cost::waitingShare(cluster_, slowest),
                     .bytes = bytes,
                     .elementType = computeType(attention.query().buffer()),
                     .isAttention = true,
                     .library = isInLibrary ? cost::libraryAttention(attention.has_grad(),
                                                                     artifact::sizesOf(attention))
                                            : cost::LibraryAttention()});
    }
    return 0;
  }

private:
  double bytesOf(std::initializer_list<uint32_t> buffers) const {
    double bytes = 0;
    for (uint32_t buffer : buffers)
      bytes += static_cast<double>(program_.buffers(static_cast<int>(buffer)).bytes());
    return bytes;
  }

  DType dtypeOf(uint32_t buffer) const {
    return static_cast<DType>(program_.buffers(static_cast<int>(buffer)).dtype());
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

  double launch(const plan::Kernel &code) const {
    auto product = products_.find(code.symbol());
    if (product == products_.end())
      return kernel({.flops = code.flops(),
                     .bytes = code.bytes(),
                     .isProduct = false,
                     .directResults = static_cast<double>(code.direct_results())});
    const ProductKernel &what = product->second;
    return kernel({.flops = code.flops(),
                   .bytes = code.bytes(),
                   .elementType = std::string(cleave::name(what.type)),
                   .isAttention = !what.grouped,
                   .grouped = what.grouped.value_or(GroupedSizes())});
  }

  double kernel(const cost::KernelWork &work) const { return cost::kernelSeconds(cluster_, work); }

  // The type of a product of factors of the type of the buffer `factor`.
  std::string computeType(uint32_t factor) const {
    return std::string(name(isFloat(dtypeOf(factor)) ? dtypeOf(factor) : DType::F32));
  }

  // Products with one right (left) factor are one product of more rows (columns).
  static cost::MatrixSizes sizesOf(const plan::Matmul &matmul) {
    cost::MatrixSizes sizes{.m = static_cast<double>(matmul.m()),
                            .n = static_cast<double>(matmul.n()),
                            .k = static_cast<double>(matmul.k())};
    for (int d = 0; d < matmul.batch_size(); ++d) {
      double &extent = matmul.rhs().strides(d) == 0   ? sizes.m
                       : matmul.lhs().strides(d) == 0 ? sizes.n
                                                      : sizes.batch;
      extent *= static_cast<double>(matmul.batch(d));
    }
    return sizes;
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
  const ProductKernels &products_;
};

} // namespace

ProductKernels productKernels(mlir::ModuleOp module) {
  ProductKernels found;
  module.walk([&](program::KernelOp kernel) {
    mlir::Operation &op = kernel.getComputation();
    const std::optional<GroupedSizes> grouped = graph::groupedSizes(&op);
    if (grouped || mlir::isa<graph::AttentionOp, graph::AttentionGradOp>(op))
      found[artifact::exportKernel(kernel).symbol()] = {
          graph::toElementType(graph::elementTypeOf(op.getOperand(0))), grouped};
  });
  return found;
}

void predictInstructions(plan::Plan &plan, mlir::ModuleOp module, const cluster::Cluster &cluster) {
  const ProductKernels products = productKernels(module);
  const mesh::MeshAttr mesh = mesh::meshOf(module);
  const cost::CollectiveCost collectives(cluster, mesh ? mesh::toMesh(mesh) : Mesh());
  for (plan::Program &program : *plan.mutable_programs()) {
    Predictor predictor(program, collectives, products);
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
