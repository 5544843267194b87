#include "passes/shard/Partition.h"

#include "compiler/cluster/Presets.h"
#include "compiler/planner/ReadStep.h"
#include "dialects/graph/Graph.h"
#include "dialects/graph/Step.h"
#include "dialects/mesh/MeshDialect.h"
#include "passes/shard/Annotate.h"
#include "passes/shard/GroupPartition.h"
#include "passes/shard/LayoutChange.h"
#include "passes/shard/Masking.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace cleave::shard {

namespace {

const char *nameOf(planner::Part part) {
  static const char *const names[] = {"forward", "backward", "update"};
  return names[static_cast<int>(part)];
}

class Partitioner {
public:
  Partitioner(func::FuncOp step, Annotations annotations, planner::StepModel model,
              const cluster::Cluster &cluster)
      : step_(step), plan_(std::move(annotations)), model_(std::move(model)), mesh_(plan_.mesh),
        layouts_(cluster, mesh_), b_(step.getContext()), copies_(model_.values.size()),
        outputsOf_(model_.values.size()), returned_(model_.outputs.size()) {
    for (auto [i, output] : llvm::enumerate(model_.outputs))
      outputsOf_[output.value].push_back(static_cast<int>(i));
  }

  void run() {
    SmallVector<Operation *> ops = graph::opsOf(step_);
    Block &old = step_.getBody().front();
    for (BlockArgument argument : old.getArguments())
      globals_.push_back(argument);
    for (Operation *op : ops)
      llvm::append_range(globals_, op->getResults());
    auto *block = new Block();
    block_ = block;
    offsets_.emplace(block, mesh_);
    b_.setInsertionPointToEnd(block);
    for (auto [i, argument] : llvm::enumerate(old.getArguments())) {
      const Sharding &storage = plan_.arguments[i].storage;
      Value local =
          block->addArgument(localType(argument.getType(), storage, mesh_), argument.getLoc());
      homes_.push_back({storage, local});
    }
    for (auto [i, op] : llvm::enumerate(ops))
      partitionOp(op, i);
    finish(old.getTerminator());
  }

private:
  struct Copy {
    Sharding layout;
    Value value;
  };

  // A value in the layout that an op of this part of the step reads.
  Value read(int value, const Sharding &wanted, planner::Part part) {
    Copy home = homes_[value];
    if (home.layout == wanted)
      return home.value;
    std::vector<Copy> &copies = copies_[value][static_cast<int>(part)];
    for (const Copy &copy : copies)
      if (copy.layout == wanted)
        return copy.value;
    int argument = model_.values[value].argument;
    if (argument >= 0 && part != planner::Part::Update &&
        plan_.arguments[argument].compute != wanted &&
        plan_.arguments[argument].compute != home.layout)
      home = {plan_.arguments[argument].compute,
              read(value, plan_.arguments[argument].compute, part)};
    Value local = layouts_.change(b_, home.value, globals_[value].getType(), home.layout, wanted,
                                  nameOf(part));
    copies_[value][static_cast<int>(part)].push_back({wanted, local});
    return local;
  }

  void partitionOp(Operation *op, size_t index) {
    const planner::Op &plain = model_.ops[index];
    const planner::OpDecision &decision = plan_.ops[index];
    op->removeAttr(mesh::kStrategy);
    SmallVector<Value> operands;
    for (size_t i = 0; i < plain.operands.size(); ++i) {
      Sharding wanted = operandSharding(plain.rule, i, decision.factors);
      wanted.partial = decision.partial;
      operands.push_back(read(plain.operands[i], wanted, plain.part));
    }
    SmallVector<Value> results = buildLocal(op, plain.rule, decision.factors, operands);
    for (auto [i, result] : llvm::enumerate(results)) {
      Sharding natural = resultSharding(plain.rule, i, decision.factors);
      natural.partial.insert(natural.partial.end(), decision.partial.begin(),
                             decision.partial.end());
      llvm::sort(natural.partial);
      const Sharding &wanted = decision.results[i];
      homes_.push_back({wanted, layouts_.change(b_, result, op->getResult(i).getType(), natural,
                                                wanted, nameOf(plain.part))});
    }
    for (int value : plain.results)
      returnValue(value);
  }

  // Brings a value that leaves the step to the layout of its output as soon as it is made, so that
  // it does not wait for the end of the step in two layouts.
  void returnValue(int value) {
    for (int i : outputsOf_[value])
      returned_[i] = read(value, outputLayout(model_.outputs[i]), planner::Part::Update);
  }

  SmallVector<Value> buildLocal(Operation *op, const FactorRule &rule, const FactorAxes &axes,
                                SmallVector<Value> operands) {
    if (auto fusion = dyn_cast<graph::FusionOp>(op))
      return partitionGroup(b_, fusion, operands, axes, mesh_, *offsets_);
    auto blockOffset = [&](unsigned factor) {
      return offsets_->get(axes[factor], *rule.factors[factor].size.constant(), op->getLoc());
    };
    for (const PaddedDim &padded : paddedDims(op, rule, axes, mesh_))
      operands[padded.operand] =
          maskPadding(b_, operands[padded.operand], padded, blockOffset(padded.factor));
    SmallVector<Type> types;
    for (auto [i, result] : llvm::enumerate(op->getResults()))
      types.push_back(localType(result.getType(), resultSharding(rule, i, axes), mesh_));
    return cast<graph::PartitionInterface>(op).partition(b_, operands, types, blockOffset);
  }

  // The layout in which an output leaves the step.
  Sharding outputLayout(const planner::Output &output) const {
    if (output.argument >= 0)
      return plan_.arguments[output.argument].storage;
    Sharding layout = homes_[output.value].layout;
    layout.partial.clear();
    layout.reduce = ReduceKind::Sum;
    return layout;
  }

  // The given attributes with the layout and the type of the whole tensor.
  DictionaryAttr described(DictionaryAttr before, const Sharding &layout, Type global) {
    NamedAttrList attrs(before);
    attrs.set(mesh::kSharding, mesh::toAttribute(layout, mesh_, b_.getContext()));
    attrs.set(mesh::kGlobal, TypeAttr::get(global));
    attrs.erase(mesh::kCompute);
    return attrs.getDictionary(b_.getContext());
  }

  void finish(Operation *terminator) {
    SmallVector<DictionaryAttr> argumentAttrs, resultAttrs;
    for (auto [i, output] : llvm::enumerate(model_.outputs)) {
      Sharding layout = outputLayout(output);
      if (!returned_[i]) // an argument
        returned_[i] = read(output.value, layout, planner::Part::Update);
      resultAttrs.push_back(
          described(step_.getResultAttrDict(i), layout, globals_[output.value].getType()));
    }
    func::ReturnOp::create(b_, terminator->getLoc(), returned_);
    for (unsigned i = 0; i < block_->getNumArguments(); ++i)
      argumentAttrs.push_back(
          described(step_.getArgAttrDict(i), plan_.arguments[i].storage, globals_[i].getType()));
    Region &body = step_.getBody();
    body.front().dropAllReferences();
    body.front().dropAllDefinedValueUses();
    body.front().erase();
    body.push_back(block_);
    step_.setType(FunctionType::get(b_.getContext(), block_->getArgumentTypes(),
                                    ValueRange(returned_).getTypes()));
    step_.setAllArgAttrs(argumentAttrs);
    step_.setAllResultAttrs(resultAttrs);
  }

  func::FuncOp step_;
  Annotations plan_;
  planner::StepModel model_;
  const Mesh &mesh_;
  LayoutChanger layouts_;
  OpBuilder b_;
  Block *block_ = nullptr;
  std::optional<BlockOffsets> offsets_;
  SmallVector<Value> globals_; // per value of the model the one of the old step
  std::vector<Copy> homes_;    // per value its layout and local block
  std::vector<std::array<std::vector<Copy>, 3>> copies_; // per value and part other layouts
  std::vector<std::vector<int>> outputsOf_;              // per value
  std::vector<Value> returned_;                          // per output its local block
};

} // namespace

LogicalResult partition(func::FuncOp step, const cluster::Cluster &cluster) {
  FailureOr<Annotations> annotations = readAnnotations(step);
  if (failed(annotations))
    return failure();
  FailureOr<planner::StepModel> model = planner::readStep(step);
  if (failed(model))
    return failure();
  Partitioner(step, std::move(*annotations), std::move(*model), cluster).run();
  return success();
}

#define GEN_PASS_DECL_PARTITIONPASS
#define GEN_PASS_DEF_PARTITIONPASS
#include "passes/shard/Passes.h.inc"

namespace {

struct PartitionPass : impl::PartitionPassBase<PartitionPass> {
  using PartitionPassBase::PartitionPassBase;

  void runOnOperation() override {
    func::FuncOp step = graph::stepOf(getOperation());
    if (!step) {
      getOperation().emitError("has no function @") << graph::kStepName;
      return signalPassFailure();
    }
    mesh::MeshAttr attr = mesh::meshOf(step);
    Result<cluster::Cluster> machine = cluster::findCluster(cluster);
    if (machine && attr)
      machine = cluster::forRanks(*machine, mesh::toMesh(attr).ranks());
    if (!machine)
      emitError(step.getLoc()) << machine.status().message();
    if (!machine || failed(partition(step, *machine)))
      signalPassFailure();
  }
};

} // namespace

void registerPartitionPass() { PassRegistration<PartitionPass>(); }

} // namespace cleave::shard
