// See Plan.h.
#include "passes/shard/Plan.h"

#include "compiler/cluster/Presets.h"
#include "compiler/planner/model/ReadStep.h"
#include "dialects/graph/Step.h"
#include "dialects/mesh/MeshDialect.h"
#include "passes/shard/Annotate.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace cleave::shard {

Result<planner::PlannerOptions> plannerOptions(const PlanRequest &request,
                                               const cluster::Cluster &cluster) {
  planner::PlannerOptions options;
  options.mesh = request.mesh;
  options.ranks = request.ranks.value_or(options.mesh ? options.mesh->ranks() : 1);
  options.nodeRanks = cluster.isCpu ? options.ranks : cluster.devicesPerNode;
  CLEAVE_TRY_ASSIGN(options.pins, planner::Pins::parse(request.pin).withContext("--pin"));
  options.spaces = request.spaces;
  CLEAVE_TRY_ASSIGN(options.budget, planner::budgetOf(request.memory, cluster, options.ranks));
  return options;
}

#define GEN_PASS_DECL_PLANPASS
#define GEN_PASS_DEF_PLANPASS
#include "passes/shard/Passes.h.inc"

namespace {

struct PlanPass : impl::PlanPassBase<PlanPass> {
  using PlanPassBase::PlanPassBase;

  void runOnOperation() override {
    func::FuncOp step = graph::stepOf(getOperation());
    if (!step) {
      getOperation().emitError("has no function @") << graph::kStepName;
      return signalPassFailure();
    }
    FailureOr<planner::StepModel> model = planner::readStep(step);
    if (failed(model))
      return signalPassFailure();
    if (Status status = plan(step, *model); !status.isOk()) {
      emitError(step.getLoc()) << status.message();
      signalPassFailure();
    }
  }

private:
  Status plan(func::FuncOp step, const planner::StepModel &model) {
    CLEAVE_TRY_ASSIGN(cluster::Cluster machine, cluster::findCluster(cluster));
    PlanRequest request{.pin = pin};
    if (mesh.empty()) {
      request.ranks = ranks;
    } else {
      CLEAVE_TRY_ASSIGN(request.mesh, Mesh::parse(mesh).withContext("--mesh"));
    }
    if (memory > 0)
      request.memory = int64_t(memory);
    CLEAVE_TRY_ASSIGN(planner::PlannerOptions options, plannerOptions(request, machine));
    const planner::Pins &pins = options.pins;
    if (pins.recompute() == planner::Recompute::Full ||
        pins.recompute() == planner::Recompute::Selective || !pins.rematRules().empty())
      return Status::userError("the pin ", pins.name(), " says what is recomputed, but ",
                               "--cleave-shard-plan decides on layouts only: mark these ops with ",
                               "graph.remat for --cleave-remat-realise, or use cleave-compile");
    CLEAVE_TRY_ASSIGN(planner::PlanReport decided, planner::planStep(model, machine, options));
    annotate(step, decided);
    return Status::ok();
  }
};

} // namespace

void registerPlanPass() { PassRegistration<PlanPass>(); }

} // namespace cleave::shard
