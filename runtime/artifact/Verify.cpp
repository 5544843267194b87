// Runs the rules in order, and implements the structure rule. See Verify.h.
#include "runtime/artifact/Verify.h"

#include "runtime/artifact/Access.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/artifact/Modules.h"
#include "runtime/artifact/VerifyRules.h"

#include <cmath>
#include <limits>

namespace cleave::artifact {

std::string ProgramView::buffer(uint32_t index) const {
  return concat("rank ", rank, ", buffer '", program.buffers(index).name(), "'");
}

std::string ProgramView::instruction(int segment, int index) const {
  const plan::Segment &in = program.segments(segment);
  const plan::Instruction &what = in.instructions(index);
  return concat("rank ", rank, ", segment '", in.name(), "', instruction ", index, " (",
                kindName(what), " '", what.name(), "')");
}

static Status verifyMesh(const plan::Plan &plan) {
  constexpr uint64_t most = std::numeric_limits<int>::max();
  uint64_t ranks = 1;
  for (const plan::MeshAxis &axis : plan.mesh()) {
    if (axis.size() == 0)
      return Status::defect("mesh axis '", axis.name(), "' has size 0");
    if ((ranks *= axis.size()) > most) // of a product of 32 bits each
      return Status::defect("the mesh has more than ", most, " ranks");
  }
  return Status::ok();
}

// Whether a number of the cost model can be compared and added.
static bool isAmount(double value) { return value >= 0 && std::isfinite(value); }

// How far sums of seconds may be apart that were added in another order.
constexpr double kRounding = 1e-6;

static Status verifyPrediction(const plan::Prediction &predicted) {
  for (auto [name, value] : {std::pair{"step_seconds", predicted.step_seconds()},
                             {"planned_seconds", predicted.planned_seconds()},
                             {"compute_seconds", predicted.compute_seconds()},
                             {"communication_seconds", predicted.communication_seconds()},
                             {"flops", predicted.flops()}})
    if (!isAmount(value))
      return Status::defect(name, " is ", value, ", expected a number of at least 0");
  if (!(predicted.bound_seconds() >= 0) || std::isnan(predicted.gap()))
    return Status::defect("the bound of ", predicted.bound_seconds(), " seconds or the gap of ",
                          predicted.gap(), " is not a number");
  if (predicted.bound_seconds() > predicted.planned_seconds() * (1 + kRounding))
    return Status::defect("no plan takes less than ", predicted.bound_seconds(),
                          " seconds, and this one is planned to take ",
                          predicted.planned_seconds());
  return Status::ok();
}

static Status verifyModules(const plan::Plan &plan) {
  const bool isCpu = plan.device() == kCpu;
  if (!isCpu && plan.device() != kCuda)
    return Status::defect("the plan is for devices of the kind '", plan.device(), "', expected ",
                          kCpu, " or ", kCuda);
  for (const plan::Module &module : plan.modules())
    if (module.code().empty() ||
        (isCpu ? module.target() != kCpu : computeCapabilityOf(module.target()) == 0))
      return Status::defect("its module of ", module.code().size(), " bytes for '", module.target(),
                            "' is none for ", plan.device());
  for (const plan::Program &program : plan.programs())
    if (program.kernels_size() && plan.modules().empty())
      return Status::defect("the programs have kernels, but the plan holds no module of them");
  return Status::ok();
}

Status verifyStructure(const plan::Plan &plan) {
  CLEAVE_TRY(verifyMesh(plan));
  CLEAVE_TRY(verifyProgramTable(plan));
  CLEAVE_TRY(verifyTensors(plan));
  CLEAVE_TRY(verifyPrediction(plan.predicted()).withContext("its prediction"));
  return verifyModules(plan);
}

Status verifyPlan(const plan::Plan &plan) {
  CLEAVE_TRY(verifyStructure(plan).withContext("the plan is inconsistent"));
  for (const plan::Program &program : plan.programs()) {
    ProgramView view{plan, program, program.ranks(0)};
    for (auto rule : {verifyPlacement, verifyKernels, verifyInstructions, verifySchedule,
                      verifyQueues, verifyEarlyLoads, verifyDataflow})
      CLEAVE_TRY(rule(view).withContext("the plan is inconsistent"));
  }
  CLEAVE_TRY(verifyPrograms(plan).withContext("the plan is inconsistent"));
  return verifyCommunication(plan).withContext("the plan is inconsistent");
}

} // namespace cleave::artifact
