#include "passes/shard/Passes.h"

#include "compiler/cluster/Presets.h"
#include "compiler/planner/Planner.h"
#include "compiler/planner/ReadStep.h"
#include "dialects/graph/Step.h"
#include "dialects/mesh/MeshDialect.h"
#include "passes/shard/Annotate.h"
#include "passes/shard/Partition.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace cleave::shard {

// The module's step, or failure with a diagnostic.
static FailureOr<func::FuncOp> findStep(ModuleOp module) {
  if (func::FuncOp step = graph::stepOf(module))
    return step;
  return module.emitError("has no function @") << graph::kStepName;
}

// Reports a failed status at the step.
static LogicalResult report(func::FuncOp step, const Status &status) {
  return status.isOk() ? success() : step.emitError(status.message());
}

namespace {

// A pass on the module's step, for a cluster.
template <typename Concrete> struct ClusterPass : PassWrapper<Concrete, OperationPass<ModuleOp>> {
  using Base = ClusterPass;
  Pass::Option<std::string> cluster{*this, "cluster", llvm::cl::desc("Name or file of the cluster"),
                                    llvm::cl::init("h100-node")};

  ClusterPass() = default;
  ClusterPass(const ClusterPass &other) : PassWrapper<Concrete, OperationPass<ModuleOp>>(other) {}
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<mesh::MeshDialect>();
  }
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(this->getOperation());
    if (failed(step) || failed(static_cast<Concrete *>(this)->run(*step)))
      this->signalPassFailure();
  }
};

struct AnnotatePass : ClusterPass<AnnotatePass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AnnotatePass)
  Option<int64_t> ranks{*this, "ranks", llvm::cl::desc("Number of ranks"), llvm::cl::init(1)};
  Option<std::string> mesh{*this, "mesh",
                           llvm::cl::desc("Mesh, such as dp=2,tp=2; chosen if not given")};
  Option<int64_t> memory{*this, "memory", llvm::cl::desc("Bytes of one rank"), llvm::cl::init(0)};
  Option<std::string> pin{*this, "pin", llvm::cl::desc("Recipe or file of pins")};

  AnnotatePass() = default;
  AnnotatePass(const AnnotatePass &other) : Base(other) {}
  StringRef getArgument() const override { return "cleave-shard-annotate"; }
  StringRef getDescription() const override {
    return "Plans the step and states the plan as attributes";
  }

  LogicalResult run(func::FuncOp step) {
    auto model = planner::readStep(step);
    return failed(model) ? failure() : report(step, plan(step, *model));
  }

private:
  Status plan(func::FuncOp step, const planner::StepModel &model) {
    Result<cluster::Cluster> machine = cluster::findCluster(cluster);
    if (!machine)
      return machine.status();
    Result<planner::Pins> pins = planner::Pins::parse(pin);
    if (!pins)
      return pins.status();
    planner::PlannerOptions options;
    options.ranks = ranks;
    options.memoryBytes = memory;
    options.pins = *pins;
    if (!mesh.empty()) {
      options.mesh = planner::parseMesh(mesh);
      if (!options.mesh)
        return Status::userError("malformed mesh " + mesh + ": expected axes like dp=2,tp=2");
      options.ranks = options.mesh->ranks();
    }
    Result<planner::Plan> plan = planner::planStep(model, *machine, options);
    if (!plan)
      return plan.status();
    annotate(step, *plan);
    return Status::ok();
  }
};

struct PartitionPass : ClusterPass<PartitionPass> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PartitionPass)
  StringRef getArgument() const override { return "cleave-shard-partition"; }
  StringRef getDescription() const override {
    return "Turns an annotated step into the program of one rank";
  }

  LogicalResult run(func::FuncOp step) {
    mesh::MeshAttr attr = mesh::meshOf(step);
    Result<cluster::Cluster> machine = cluster::findCluster(cluster);
    if (machine && attr)
      machine = cluster::forRanks(*machine, mesh::toMesh(attr).ranks());
    return failed(report(step, machine.status())) ? failure() : partition(step, *machine);
  }
};

} // namespace

void registerShardPasses() {
  PassRegistration<AnnotatePass>();
  PassRegistration<PartitionPass>();
}

} // namespace cleave::shard
