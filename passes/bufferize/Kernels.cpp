// Chooses the buffers of results and launches the kernels.
#include "passes/bufferize/Kernels.h"

#include "passes/bufferize/ColumnParts.h"
#include "passes/bufferize/InPlace.h"

using namespace mlir;

namespace cleave::bufferize {
namespace {

// A new buffer for a group's result: in the layout of an operand that is read elementwise, if all
// readers are products, which accept any layout.
View newGroupResult(OpResult result, ArrayRef<View> operands, ValueBuffers &buffers) {
  auto fusion = cast<graph::FusionOp>(result.getOwner());
  if (buffers.isChannelsLast(result) || !llvm::all_of(result.getUsers(), [](Operation *user) {
        return isa<graph::DotGeneralOp>(user);
      }))
    return buffers.add(result);
  for (auto [i, operand] : llvm::enumerate(operands))
    if (readsElementwise(fusion, i, result.getResultNumber()))
      return llvm::is_sorted(operand.strides, std::greater<>())
                 ? buffers.add(result)
                 : buffers.addLike(result, operand.strides);
  return buffers.add(result);
}

// The view of an operand that the result may overwrite; none if it needs a buffer.
// `taken`: the buffers of the results before it.
std::optional<View> placeOfOperand(OpResult result, ArrayRef<View> operands,
                                   const llvm::DenseSet<Value> &taken, const ValueBuffers &buffers,
                                   const ValueViews &views) {
  auto fusion = cast<graph::FusionOp>(result.getOwner());
  for (auto [i, operand] : llvm::enumerate(operands)) {
    Value buffer = operand.buffer;
    const bool isOnlyReader =
        llvm::count_if(operands, [&](const View &v) { return v.buffer == buffer; }) == 1;
    if (isOnlyReader && !taken.contains(buffer) && views.diesAt(operand, fusion) &&
        ProgramBuilder::elementOf(buffer) == graph::elementTypeOf(result) &&
        readsElementwise(fusion, i, result.getResultNumber()) &&
        (isWhole(operand, buffers.chosenOrder(result)) || buffers.isPitched(buffer)))
      return operand;
  }
  return std::nullopt;
}

// Launches, in two steps, a group that reduces long columns. Returns whether the group is one.
bool launchInParts(graph::FusionOp op, ArrayRef<View> operands, ArrayRef<View> results,
                   ProgramBuilder &program) {
  Block &body = op.getBody().front();
  OperandRange yielded = body.getTerminator()->getOperands();
  auto split = [&](const ColumnParts &parts, Value value, const View &view) {
    return view.reshaped(shapeInParts(op, parts, value));
  };
  const std::optional<ColumnParts> parts = columnPartsOf(op, [&](const ColumnParts &tried) {
    auto fits = [&](auto pair) {
      return split(tried, std::get<0>(pair), std::get<1>(pair)).has_value();
    };
    return llvm::all_of(llvm::zip(body.getArguments(), operands), fits) &&
           llvm::all_of(llvm::zip(yielded, results), fits);
  });
  if (!parts)
    return false;
  PartialSums sums = inParts(op, *parts);
  SmallVector<View> from, to;
  for (auto [argument, view] : llvm::zip(body.getArguments(), operands))
    from.push_back(*split(*parts, argument, view));
  for (auto [i, value] : llvm::enumerate(yielded)) {
    Value result = sums.first.getResult(i);
    const std::vector<int64_t> shape = graph::staticShapeOf(result);
    to.push_back(sums.second[i]
                     ? View::dense(program.addBuffer("parts", program::Role::Workspace,
                                                     graph::elementTypeOf(result), shape),
                                   shape)
                     : *split(*parts, value, results[i]));
  }
  program.launch(sums.first, from, to);
  for (auto [i, second] : llvm::enumerate(sums.second))
    if (second) {
      program.launch(second, to[i], results[i]);
      second.erase();
    }
  SmallVector<Value> read(sums.first.getOperands());
  sums.first.erase();
  for (auto [before, after] : llvm::zip(op.getOperands(), read))
    if (before != after)
      after.getDefiningOp()->erase();
  return true;
}

} // namespace

void lowerGroup(graph::FusionOp op, ProgramBuilder &program, ValueBuffers &buffers,
                ValueViews &views) {
  if (views.find(op.getResult(0))) // a product has computed it
    return;
  SmallVector<View> operands, results;
  for (Value operand : op.getOperands())
    operands.push_back(views.of(operand));
  llvm::DenseSet<Value> taken;
  for (OpResult result : op->getResults()) {
    if (const View *destination = views.destinationOf(result)) {
      results.push_back(*destination);
      continue;
    }
    const std::optional<View> inPlace = placeOfOperand(result, operands, taken, buffers, views);
    results.push_back(inPlace ? *inPlace : newGroupResult(result, operands, buffers));
    taken.insert(results.back().buffer);
  }
  if (!program::isForGpus(op) || !launchInParts(op, operands, results, program))
    program.launch(op, operands, results);
  for (auto [result, view] : llvm::zip(op.getResults(), results))
    views.set(result, view);
}

void lowerDenseKernel(Operation *op, ProgramBuilder &program, ValueBuffers &buffers,
                      ValueViews &views) {
  SmallVector<int64_t> order;
  if (analysis::takesChannelsLast(op))
    order = buffers.chosenOrder(op->getResult(0));
  SmallVector<View> operands;
  for (Value operand : op->getOperands())
    operands.push_back(views.wholeOf(operand, order));
  SmallVector<View> results;
  for (Value result : op->getResults())
    results.push_back(views.wholeResult(result, order));
  program.launch(op, operands, results);
  for (auto [result, view] : llvm::zip(op->getResults(), results))
    views.finishWhole(result, view);
}

void launchOnViews(Operation *op, ArrayRef<View> results, ProgramBuilder &program,
                   ValueViews &views) {
  SmallVector<View> operands;
  for (Value operand : op->getOperands())
    operands.push_back(views.of(operand));
  program.launch(op, operands, results);
  for (auto [result, view] : llvm::zip(op->getResults(), results))
    views.set(result, view);
}

} // namespace cleave::bufferize
