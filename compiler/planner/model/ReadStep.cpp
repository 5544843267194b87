// Reading values, ops, arguments and results of the step function.
#include "compiler/planner/model/ReadStep.h"

#include "compiler/analysis/Identity.h"
#include "compiler/cost/Roofline.h"
#include "dialects/graph/Attention.h"
#include "dialects/graph/Away.h"
#include "dialects/graph/Cost.h"
#include "dialects/graph/Direct.h"
#include "dialects/graph/GroupedMatmul.h"
#include "dialects/graph/Messages.h"
#include "dialects/graph/Provenance.h"
#include "dialects/graph/Recomputed.h"
#include "dialects/graph/Stage.h"
#include "dialects/graph/Step.h"
#include "runtime/base/Concat.h"

#include "llvm/ADT/DenseMap.h"

#include <map>
#include <unordered_map>

using namespace mlir;

namespace cleave::planner {

static Group readGroup(graph::FusionOp fusion) {
  Group group;
  llvm::DenseMap<mlir::Value, int> index;
  auto add = [&](mlir::Value value) {
    index[value] = static_cast<int>(group.dims.size());
    group.dims.push_back(static_cast<int>(graph::rankOf(value)));
    return index[value];
  };
  Block &body = fusion.getBody().front();
  for (BlockArgument argument : body.getArguments())
    group.arguments.push_back(add(argument));
  for (Operation &op : body.without_terminator()) {
    GroupOp plain;
    plain.rule = cast<graph::FactorRuleInterface>(op).getFactorRule();
    for (mlir::Value operand : op.getOperands())
      plain.operands.push_back(index.at(operand));
    for (mlir::Value result : op.getResults())
      plain.results.push_back(add(result));
    group.ops.push_back(std::move(plain));
  }
  for (mlir::Value value : body.getTerminator()->getOperands())
    group.yielded.push_back(index.at(value));
  return group;
}

namespace {

class StepReader {
public:
  explicit StepReader(func::FuncOp step) : step_(step) {}

  FailureOr<StepModel> read() {
    for (unsigned i = 0; i < step_.getNumArguments(); ++i)
      if (failed(readArgument(i)))
        return failure();
    for (Operation *op : graph::opsOf(step_))
      if (failed(readOp(op)))
        return failure();
    Operation *end = step_.getBody().front().getTerminator();
    for (unsigned i = 0; i < end->getNumOperands(); ++i)
      readOutput(i, end->getOperand(i));
    findRepeats();
    findParts();
    classifyOps(model_);
    setPlainStores(model_);
    return std::move(model_);
  }

private:
  LogicalResult addValue(mlir::Value value, int producer, int result, int argument) {
    if (!graph::hasStaticShape(value.getType()))
      return emitError(value.getLoc())
             << "a plan needs sizes: the tensor " << value.getType()
             << " still has symbolic dims; give them values with --set NAME=SIZE";
    index_[value] = static_cast<int>(model_.values.size());
    Value plain;
    Operation *maker = value.getDefiningOp();
    plain.space = graph::spaceOf(maker           ? maker->getAttr(graph::kAway)
                                 : argument >= 0 ? step_.getArgAttr(argument, graph::kAway)
                                                 : Attribute());
    plain.shape = graph::staticShapeOf(value);
    plain.element = graph::toElementType(graph::elementTypeOf(value));
    plain.producer = producer;
    plain.result = result;
    plain.argument = argument;
    model_.values.push_back(std::move(plain));
    return success();
  }

  LogicalResult readArgument(unsigned i) {
    Argument argument;
    argument.name = graph::argName(step_, i).str();
    argument.role = graph::argRole(step_, i);
    if (argument.role == Role::Parameter)
      argument.otherNames = graph::otherNamesOf(step_->getParentOfType<ModuleOp>(), argument.name);
    if (auto owner = step_.getArgAttrOfType<StringAttr>(i, "graph.parameter"))
      argument.parameter = owner.str();
    argument.layout = graph::senderLayout(step_, i);
    graph::MessageDims dims = graph::dimsOf(step_, i);
    argument.samples = std::move(dims.samples);
    argument.positions = std::move(dims.positions);
    argument.value = static_cast<int>(model_.values.size());
    model_.arguments.push_back(std::move(argument));
    return addValue(step_.getArgument(i), -1, 0, static_cast<int>(i));
  }

  static std::string nameOf(Operation *op, size_t number) {
    if (auto name = dyn_cast<NameLoc>(op->getLoc()))
      return name.getName().str();
    return concat(op->getName().stripDialect(), ".", number);
  }

  LogicalResult readOp(Operation *op) {
    if (!isa<graph::FactorRuleInterface>(op) || !isa<graph::CostInterface>(op))
      return op->emitOpError("cannot be planned: it has no factor rule");
    int number = static_cast<int>(model_.ops.size());
    Op plain = alike(op);
    plain.name = nameOf(op, number);
    if (const int64_t recomputation = graph::recomputationOf(op))
      plain.name += recomputation == 1 ? ", recomputed" : concat(", recomputed ", recomputation);
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      int value = index_.at(operand);
      plain.operands.push_back(value);
      model_.values[value].uses.push_back({number, static_cast<int>(i)});
    }
    for (auto [i, result] : llvm::enumerate(op->getResults())) {
      if (failed(addValue(result, number, static_cast<int>(i), -1)))
        return failure();
      plain.results.push_back(index_.at(result));
    }
    model_.ops.push_back(std::move(plain));
    return success();
  }

  // What the op has in common with all that are alike.
  const Op &alike(Operation *op) {
    auto [entry, isNew] = alike_.try_emplace(analysis::identityOf(op));
    Op &plain = entry->second;
    if (!isNew)
      return plain;
    plain.isRecomputed = graph::isRecomputed(op);
    plain.kind = op->getName().getStringRef().str();
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      if (graph::isReadSparsely(op, i))
        plain.sparseOperands.push_back(static_cast<int>(i));
    plain.rule = cast<graph::FactorRuleInterface>(op).getFactorRule();
    if (auto fusion = dyn_cast<graph::FusionOp>(op))
      plain.group = std::make_shared<Group>(readGroup(fusion));
    plain.work = graph::workOf(op);
    if (graph::isCausalAttention(op)) {
      auto rows = [&](int operand) { return plain.rule.operands[operand].rbegin()[1][0]; };
      plain.triangle = {rows(0), rows(1)};
    }
    plain.isView = op->hasTrait<graph::LayoutOnly>();
    plain.isAccumulate = isa<graph::AccumulateOp>(op);
    return plain;
  }

  void readOutput(unsigned i, mlir::Value value) {
    Output output;
    output.name = graph::resultName(step_, i).str();
    output.role = graph::resultRole(step_, i);
    output.value = index_.at(value);
    output.layout = graph::receiverLayout(step_, i);
    output.isSentForward = graph::sentWhen(step_, i) == graph::Passed::Forward;
    if (std::optional<unsigned> argument = graph::aliasOf(step_, i)) {
      output.argument = static_cast<int>(*argument);
      model_.arguments[*argument].output = static_cast<int>(i);
    }
    model_.outputs.push_back(std::move(output));
  }

  void findRepeats() {
    const int64_t microBatches = graph::microBatchesOf(step_);
    llvm::DenseSet<Operation *> repeated = graph::perMicroBatch(step_);
    for (auto [i, op] : llvm::enumerate(graph::opsOf(step_)))
      model_.ops[i].repeats = repeated.contains(op) ? microBatches : 1;
  }

  void findParts() {
    if (!graph::isStage(step_))
      return;
    const llvm::DenseMap<Operation *, graph::StagePart> parts = graph::partsOf(step_);
    std::map<graph::StagePart, int> numbers;
    for (auto [i, op] : llvm::enumerate(graph::opsOf(step_))) {
      const graph::StagePart part = parts.lookup(op);
      model_.ops[i].chunk = part.chunk;
      model_.ops[i].stagePart =
          numbers.try_emplace(part, static_cast<int>(numbers.size())).first->second;
    }
  }

  func::FuncOp step_;
  StepModel model_;
  llvm::DenseMap<mlir::Value, int> index_;
  std::unordered_map<std::string, Op> alike_; // by identity
};

} // namespace

FailureOr<StepModel> readStep(func::FuncOp step) { return StepReader(step).read(); }

} // namespace cleave::planner
