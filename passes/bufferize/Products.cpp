// Copies operands and results that the instruction does not accept.
#include "passes/bufferize/Products.h"

#include "passes/bufferize/MatmulForm.h"
#include "passes/bufferize/Workspace.h"

using namespace mlir;

namespace cleave::bufferize {

ArrayRef<cost::Strided> ProductLowering::stridedOf(Operation *op) const {
  auto it = strided_.find(op);
  return it == strided_.end() ? ArrayRef<cost::Strided>() : it->second;
}

// Null where the group replaces a parameter or state, which other ops may read until the group
// runs, and where the product has a destination, whose order in memory may differ.
std::optional<ProductBias> ProductLowering::biasOf(graph::DotGeneralOp op) const {
  std::optional<ProductBias> added = program::isForGpus(op) ? productBias(op) : std::nullopt;
  if (!added || !views_.find(added->bias) || views_.destinationOf(op.getResult()))
    return std::nullopt;
  const View *destination = views_.destinationOf(added->sum);
  const bool isReplacement = destination && views_.isNeverFree(destination->buffer);
  return isReplacement ? std::nullopt : added;
}

Value ProductLowering::wholeBufferOf(Value value, Type element) {
  const View from = views_.of(value);
  return ProgramBuilder::elementOf(from.buffer) == element
             ? views_.wholeOf(value).buffer
             : copyConverted(program_, from, element).buffer;
}

// An operand of a product, copied so that its contracting dims are the last ones, in this order.
static View copyGrouped(ProgramBuilder &program, const View &view, ArrayRef<int64_t> batch,
                        ArrayRef<int64_t> contracting) {
  SmallVector<int64_t> order(batch);
  for (int64_t dim = 0; dim < static_cast<int64_t>(view.shape.size()); ++dim)
    if (!is_contained(batch, dim) && !is_contained(contracting, dim))
      order.push_back(dim);
  append_range(order, contracting);
  return copyToDense(program, view, order);
}

void ProductLowering::lower(graph::DotGeneralOp op) {
  const std::optional<ProductBias> added = biasOf(op);
  Value result = added ? added->sum : op.getResult();
  View lhs = views_.of(op.getLhs()), rhs = views_.of(op.getRhs());
  auto copiesTo = [&](const View &out) {
    return cost::productCopies(productDims(op), lhs.strided(), rhs.strided(), out.strided());
  };
  graph::AccumulateOp sum = sums_.sumOf(op);
  if (sum && copiesTo(View::dense({}, graph::staticShapeOf(result))).out)
    sum = {};
  const View out = sum ? sums_.addForProduct(sum) : views_.resultView(result);
  const cost::ProductCopies copies = copiesTo(out);
  strided_[op] = {buffers_.withoutPitch(lhs), buffers_.withoutPitch(rhs),
                  buffers_.withoutPitch(out)};
  if (copies.lhs)
    lhs = copyToDense(program_, lhs);
  if (copies.rhs)
    rhs = copyToDense(program_, rhs);
  View target = copies.out ? buffers_.add(result, ".dense") : out;
  if (copies.grouped) {
    lhs = copyGrouped(program_, lhs, op.getLhsBatch(), op.getLhsContracting());
    rhs = copyGrouped(program_, rhs, op.getRhsBatch(), op.getRhsContracting());
  }
  std::optional<MatmulForm> form = matmulForm(op, lhs, rhs, target);
  assert(form && "operands whose contracting dims come last, in one order, have a form");
  // The columns of the form must be those of the op, and lie side by side.
  Value bias;
  if (added && !form->isSwapped && form->n == views_.of(added->bias).size() &&
      form->out.strides.back() == 1)
    bias = wholeBufferOf(added->bias, graph::elementTypeOf(result));
  auto number = [&](int64_t value) { return program_.builder().getI64IntegerAttr(value); };
  Value workspace = libraries_.newWorkspace(productWorkspace(target.size()));
  program_.add<program::MatmulOp>(
      form->lhs.buffer, form->rhs.buffer, form->out.buffer, bias, workspace,
      program_.builder().getDenseI64ArrayAttr(form->batch), number(form->m), number(form->n),
      number(form->k), form->lhs.attribute(0), form->rhs.attribute(1), form->out.attribute(2),
      sum ? program_.builder().getUnitAttr() : UnitAttr(), libraries_.tf32For(lhs));
  if (!(target == out))
    program_.copy(target, out);
  if (sum)
    views_.setWithoutTenancy(op.getResult(), out); // the buffer holds the sum
  else
    views_.set(op.getResult(), out);
  if (bias)
    views_.set(result, out);
}

} // namespace cleave::bufferize
