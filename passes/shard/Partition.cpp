#include "passes/shard/Partition.h"

#include "compiler/cluster/Presets.h"
#include "compiler/planner/choices/LayoutChanges.h"
#include "compiler/planner/model/ReadStep.h"
#include "dialects/graph/Away.h"
#include "dialects/graph/Graph.h"
#include "dialects/graph/Recomputed.h"
#include "dialects/graph/Step.h"
#include "dialects/mesh/MeshDialect.h"
#include "passes/shard/Annotate.h"
#include "passes/shard/GroupPartition.h"
#include "passes/shard/LayoutChange.h"
#include "passes/shard/Masking.h"
#include "passes/shard/Zigzag.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace cleave::shard {

namespace {

class Partitioner {
public:
  Partitioner(func::FuncOp step, const planner::StepModel &model,
              const planner::Decisions &decisions, const cluster::Cluster &cluster)
      : step_(step), plan_(decisions), model_(model), mesh_(plan_.mesh), layouts_(cluster, mesh_),
        b_(step.getContext()), copies_(model_.values.size()), outputsOf_(model_.values.size()),
        returned_(model_.outputs.size()) {
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

  // A value in the layout that an op of this part of the step reads, by its stops.
  Value read(int value, const Sharding &wanted, planner::Part part) {
    Copy from = homes_[value];
    if (from.layout == wanted)
      return from.value;
    if (const Copy *made = findCopy(value, part, wanted))
      return made->value;
    for (const Sharding &stop : planner::stopsOf(model_, plan_, value, part))
      from = change(value, planner::partOfStop(model_, plan_, value, part, stop), from, stop);
    return change(value, part, from, wanted).value;
  }

  const Copy *findCopy(int value, planner::Part part, const Sharding &layout) const {
    for (const Copy &copy : copies_[value][static_cast<int>(part)])
      if (copy.layout == layout)
        return &copy;
    return nullptr;
  }

  // The value in another layout: a copy of this part of the step, made at the first call.
  Copy change(int value, planner::Part part, const Copy &from, const Sharding &layout) {
    if (from.layout == layout)
      return from;
    if (const Copy *made = findCopy(value, part, layout))
      return *made;
    Value local =
        layouts_.change(b_, from.value, globals_[value].getType(), from.layout, layout, name(part));
    return copies_[value][static_cast<int>(part)].emplace_back(Copy{layout, local});
  }

  void partitionOp(Operation *op, size_t index) {
    const planner::Op &plain = model_.ops[index];
    const planner::OpDecision &decision = plan_.ops[index];
    const planner::OpChoice choice = planner::choiceOf(plain, decision);
    for (StringRef attribute : {mesh::kStrategy, mesh::kCopies, mesh::kBuckets, mesh::kZigzag})
      op->removeAttr(attribute);
    SmallVector<Value> operands;
    for (size_t i = 0; i < plain.operands.size(); ++i)
      operands.push_back(read(plain.operands[i], choice.operands[i], plain.part));
    Operation *before = block_->empty() ? nullptr : &block_->back();
    SmallVector<Value> results = buildLocal(op, plain, decision, operands);
    if (plain.isRecomputed)
      markRecomputedAfter(before, graph::recomputationOf(op));
    for (auto [i, result] : llvm::enumerate(results)) {
      Value home = layouts_.change(b_, result, op->getResult(i).getType(), choice.natural[i],
                                   choice.results[i], name(plain.part));
      if (!decision.buckets.empty() && decision.buckets[i] >= 0 && home != result)
        home.getDefiningOp()->setAttr(mesh::kBucket, b_.getI64IntegerAttr(decision.buckets[i]));
      if (Attribute away = op->getAttr(graph::kAway); away && home.getDefiningOp())
        home.getDefiningOp()->setAttr(graph::kAway, away);
      homes_.push_back({choice.results[i], home});
    }
    for (int value : plain.results)
      returnValue(value);
  }

  // Marks the ops of the block after `before`, all of them if that is null.
  void markRecomputedAfter(Operation *before, int64_t recomputation) {
    for (Operation *op = before ? before->getNextNode() : &block_->front(); op;
         op = op->getNextNode())
      graph::markRecomputed(op, recomputation);
  }

  // Brings a value that leaves the step to the layout of its output as soon as it is made, so that
  // it does not wait for the end of the step in two layouts.
  void returnValue(int value) {
    for (int i : outputsOf_[value])
      returnOutput(i);
  }

  void returnOutput(int index) {
    const planner::Output &output = model_.outputs[index];
    Sharding layout = planner::outputLayout(model_, plan_, output);
    returned_[index] =
        change(output.value, planner::Part::Update, homes_[output.value], layout).value;
  }

  SmallVector<Value> buildLocal(Operation *op, const planner::Op &plain,
                                const planner::OpDecision &decision, SmallVector<Value> operands) {
    const FactorRule &rule = plain.rule;
    const FactorAxes &axes = decision.factors;
    if (auto fusion = dyn_cast<graph::FusionOp>(op))
      return partitionGroup(b_, fusion, plain, operands, axes, mesh_, *offsets_);
    auto blockOffset = [&](unsigned factor) {
      return offsets_->get(axes[factor], *rule.factors[factor].size.constant(), op->getLoc());
    };
    for (const PaddedDim &padded : paddedDims(op, rule, axes, mesh_))
      operands[padded.operand] =
          maskPadding(b_, operands[padded.operand], padded, blockOffset(padded.factor));
    SmallVector<Type> types;
    for (auto [i, result] : llvm::enumerate(op->getResults()))
      types.push_back(localType(result.getType(), resultSharding(rule, i, axes), mesh_));
    if (decision.isZigzag)
      return partitionInZigzag(b_, {op, rule, axes, operands, types, blockOffset, name(plain.part)},
                               *planner::zigzagFactor(plain, axes, mesh_), mesh_);
    return cast<graph::PartitionInterface>(op).partition(b_, operands, types, blockOffset);
  }

  // The given attributes with the layout and the type of the whole tensor.
  DictionaryAttr described(DictionaryAttr before, const Sharding &layout, Type global) {
    NamedAttrList attrs(before);
    attrs.set(mesh::kSharding, mesh::toAttribute(layout, mesh_, b_.getContext()));
    attrs.set(mesh::kGlobal, TypeAttr::get(global));
    attrs.erase(mesh::kCompute);
    attrs.erase(mesh::kStaysGathered);
    attrs.erase(mesh::kCopies);
    return attrs.getDictionary(b_.getContext());
  }

  void finish(Operation *terminator) {
    SmallVector<DictionaryAttr> argumentAttrs, resultAttrs;
    for (auto [i, output] : llvm::enumerate(model_.outputs)) {
      if (!returned_[i]) // an argument
        returnOutput(static_cast<int>(i));
      Sharding layout = planner::outputLayout(model_, plan_, output);
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
  const planner::Decisions &plan_;
  const planner::StepModel &model_;
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

// Verifies that ops in zigzag can be.
static LogicalResult verifyZigzag(func::FuncOp step, const planner::StepModel &model,
                                  const planner::Decisions &decisions) {
  for (auto [i, op] : llvm::enumerate(graph::opsOf(step)))
    if (decisions.ops[i].isZigzag &&
        !planner::zigzagFactor(model.ops[i], decisions.ops[i].factors, decisions.mesh))
      return op->emitOpError("has ")
             << mesh::kZigzag << ", but is not a causal attention with as many queries as keys, "
             << "whose queries are split into equal blocks of an even size";
  return success();
}

LogicalResult partition(func::FuncOp step, const cluster::Cluster &cluster) {
  FailureOr<planner::Decisions> decisions = readAnnotations(step);
  if (failed(decisions))
    return failure();
  FailureOr<planner::StepModel> model = planner::readStep(step);
  if (failed(model) || failed(verifyZigzag(step, *model, *decisions)))
    return failure();
  partition(step, *model, *decisions, cluster);
  return success();
}

void partition(func::FuncOp step, const planner::StepModel &model,
               const planner::Decisions &decisions, const cluster::Cluster &cluster) {
  step->getParentOfType<ModuleOp>()->setAttr(mesh::kMesh,
                                             mesh::toAttribute(decisions.mesh, step.getContext()));
  Partitioner(step, model, decisions, cluster).run();
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
