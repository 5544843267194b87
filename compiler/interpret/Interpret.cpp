// The loop over the ops, for one batch and for several micro-batches.
#include "compiler/interpret/Interpret.h"

#include "compiler/interpret/LiveValues.h"
#include "dialects/graph/FedArguments.h"
#include "dialects/graph/MicroBatches.h"
#include "dialects/graph/Step.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace cleave::interpret {

static std::string typeText(const Tensor &tensor) {
  std::string text;
  for (int64_t size : tensor.shape)
    text += concat(size, "x");
  MLIRContext context;
  llvm::raw_string_ostream(text) << graph::fromElementType(tensor.type, &context);
  return text;
}

Status checkTensor(const Tensor &tensor, Type type, const std::string &what) {
  auto tensorType = cast<RankedTensorType>(type);
  if (!tensorType.hasStaticShape())
    return Status::userError(what, " has symbolic dims; bind the symbols before interpreting");
  Tensor expected(graph::toElementType(tensorType.getElementType()), tensorType.getShape().vec());
  if (tensor.type == expected.type && tensor.shape == expected.shape &&
      tensor.size() == expected.size())
    return Status::ok();
  return Status::userError(what, " is a tensor of ", typeText(tensor), ", expected ",
                           typeText(expected));
}

static std::string describe(Operation *op) {
  std::string text;
  llvm::raw_string_ostream(text) << op->getName() << " at " << op->getLoc();
  return text;
}

namespace {
using Values = LiveValues<Tensor>;
}

// Runs one op; its operands must be alive.
static Status runOp(Operation *op, Values &values, StepObserver *observer = nullptr) {
  auto reference = dyn_cast<graph::ReferenceInterface>(op);
  if (!reference)
    return Status::defect(describe(op), " has no reference semantics");
  SmallVector<Tensor> operands;
  for (Value operand : op->getOperands())
    operands.push_back(values.get(operand));
  if (observer)
    observer->beforeOp(op, operands);
  SmallVector<Tensor> results = reference.evaluate(operands);
  if (observer)
    observer->afterOp(op, operands, results);
  for (auto [value, tensor] : llvm::zip_equal(op->getResults(), results)) {
    if (Status fits = checkTensor(tensor, value.getType(), concat("the result of ", describe(op)));
        !fits)
      return Status::defect(fits.message());
    values.set(value, std::move(tensor));
  }
  values.release(op);
  return Status::ok();
}

static Status setArguments(func::FuncOp function, ArrayRef<Tensor> args, Values &values) {
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return Status::userError("only a function of one block can be interpreted");
  if (args.size() != function.getNumArguments())
    return Status::userError("found ", args.size(), " arguments, expected ",
                             function.getNumArguments());
  for (auto [i, arg] : llvm::enumerate(function.getArguments())) {
    CLEAVE_TRY(checkTensor(args[i], arg.getType(), concat("argument ", i)));
    values.set(arg, args[i]);
  }
  return Status::ok();
}

static std::vector<Tensor> resultsOf(func::FuncOp function, const Values &values) {
  std::vector<Tensor> results;
  for (Value value : function.getBody().front().getTerminator()->getOperands())
    results.push_back(values.get(value));
  return results;
}

Result<std::vector<Tensor>> run(func::FuncOp function, ArrayRef<Tensor> args) {
  Values values;
  CLEAVE_TRY(setArguments(function, args, values));
  for (Operation &op : function.getBody().front().without_terminator())
    CLEAVE_TRY(runOp(&op, values));
  return resultsOf(function, values);
}

// The inputs called `name` of all micro-batches, joined along their first dim. Empty, which no
// argument is, if a micro-batch lacks it.
static Tensor joined(func::FuncOp step, StringRef name,
                     ArrayRef<std::vector<Tensor>> microBatches) {
  size_t position = 0; // among the inputs of a micro-batch
  for (unsigned i = 0; i < step.getNumArguments() && graph::argName(step, i) != name; ++i)
    position += graph::isPerMicroBatch(step, i);
  Tensor all;
  for (const std::vector<Tensor> &inputs : microBatches) {
    if (position >= inputs.size() || inputs[position].shape.empty())
      return Tensor();
    const Tensor &next = inputs[position];
    const int64_t before = all.shape.empty() ? 0 : all.shape[0];
    all.type = next.type, all.shape = next.shape;
    all.shape[0] += before;
    all.values.insert(all.values.end(), next.values.begin(), next.values.end());
  }
  return all;
}

// The arguments of a micro-batch in the function's order, from the two lists.
static Result<std::vector<Tensor>> mergeArguments(func::FuncOp step, ArrayRef<Tensor> persistent,
                                                  ArrayRef<std::vector<Tensor>> microBatches,
                                                  ArrayRef<Tensor> inputs) {
  std::vector<Tensor> args;
  size_t nextPersistent = 0, nextInput = 0;
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    if (StringRef name = graph::allOf(step, i); !name.empty()) {
      args.push_back(joined(step, name, microBatches));
      continue;
    }
    bool isInput = graph::isPerMicroBatch(step, i);
    size_t &next = isInput ? nextInput : nextPersistent;
    ArrayRef<Tensor> from = isInput ? inputs : persistent;
    if (next >= from.size())
      return Status::userError("argument ", i, " (", graph::argName(step, i), ") is missing");
    args.push_back(from[next++]);
  }
  if (nextPersistent != persistent.size() || nextInput != inputs.size())
    return Status::userError("found ", persistent.size(), " persistent arguments and ",
                             inputs.size(), " inputs, expected ", nextPersistent, " and ",
                             nextInput);
  return args;
}

// Sets persistent arguments that are replaced per micro-batch to their values in the next one.
static void feedForward(func::FuncOp step, const llvm::DenseSet<Operation *> &repeated,
                        const Values &values, std::vector<Tensor> &persistent) {
  std::vector<size_t> position(step.getNumArguments(), 0);
  for (unsigned i = 0, next = 0; i < step.getNumArguments(); ++i)
    if (!graph::isFed(step, i))
      position[i] = next++;
  Operation *end = step.getBody().front().getTerminator();
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    if (graph::isReplacedPerMicroBatch(step, i, repeated))
      persistent[position[*graph::aliasOf(step, i)]] = values.get(end->getOperand(i));
  }
}

Result<std::vector<Tensor>> runStep(func::FuncOp step, ArrayRef<Tensor> persistent,
                                    ArrayRef<std::vector<Tensor>> microBatches,
                                    StepObserver *observer) {
  if (microBatches.empty())
    return Status::userError("a step needs at least one micro-batch");
  llvm::DenseSet<Operation *> repeated = graph::perMicroBatch(step);
  std::vector<Tensor> state(persistent.begin(), persistent.end());
  llvm::DenseMap<Operation *, Tensor> sums;
  Values values;
  for (const std::vector<Tensor> &inputs : microBatches) {
    values = Values();
    CLEAVE_TRY_ASSIGN(std::vector<Tensor> args, mergeArguments(step, state, microBatches, inputs));
    CLEAVE_TRY(setArguments(step, args, values));
    for (Operation &op : step.getBody().front().without_terminator()) {
      if (!repeated.contains(&op))
        continue;
      if (auto accumulate = dyn_cast<graph::AccumulateOp>(op)) {
        const Tensor &summand = values.get(accumulate.getOperand());
        auto [sum, isFirst] = sums.try_emplace(&op, summand);
        for (int64_t i = 0; !isFirst && i < summand.size(); ++i)
          sum->second.set(i, sum->second.values[i] + summand.values[i]);
        values.set(accumulate.getResult(), sum->second);
        values.release(&op);
        continue;
      }
      CLEAVE_TRY(runOp(&op, values, observer));
    }
    feedForward(step, repeated, values, state);
  }
  for (Operation &op : step.getBody().front().without_terminator())
    if (!repeated.contains(&op))
      CLEAVE_TRY(runOp(&op, values, observer));
  return resultsOf(step, values);
}

} // namespace cleave::interpret
