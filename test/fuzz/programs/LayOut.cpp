// Random layouts of kernels: dims in any order, gaps as after slices, reversed dims, results in
// place.
#include "passes/bufferize/InPlace.h"
#include "test/fuzz/programs/KernelCase.h"

#include "mlir/IR/IRMapping.h"

#include <numeric>

using namespace mlir;

namespace cleave::fuzz {

namespace {

struct Layout {
  int64_t offset = 0;
  SmallVector<int64_t> strides;
  bool isWhole = true; // every element of the buffer, once
};

Layout dense(ArrayRef<int64_t> shape) {
  Layout layout;
  layout.strides.assign(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    layout.strides[dim - 1] = layout.strides[dim] * shape[dim];
  return layout;
}

// Orders the dims randomly from the outermost to the innermost; each may be followed by a gap.
Layout anyLayout(Choices &choices, ArrayRef<int64_t> shape, bool isOperand) {
  uint32_t kind = choices.below(4);
  if (kind < 2)
    return dense(shape);
  SmallVector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  if (kind == 3 || choices.chance(50))
    for (size_t i = order.size(); i-- > 1;)
      std::swap(order[i], order[choices.below(static_cast<uint32_t>(i) + 1)]);
  Layout layout;
  layout.strides.assign(shape.size(), 1);
  int64_t stride = 1;
  for (size_t dim : llvm::reverse(order)) {
    if (kind == 3 && choices.chance(15)) {
      stride *= 2;
      layout.isWhole = false;
    }
    layout.strides[dim] = stride;
    stride *= shape[dim];
    if (kind == 3 && choices.chance(25)) {
      stride += choices.below(4);
      layout.isWhole = false;
    }
    if (isOperand && kind == 3 && choices.chance(10)) {
      layout.offset += layout.strides[dim] * (shape[dim] - 1);
      layout.strides[dim] = -layout.strides[dim];
      layout.isWhole = false;
    }
  }
  if (kind == 3 && choices.chance(30)) {
    layout.offset += choices.below(20);
    layout.isWhole = false;
  }
  return layout;
}

class KernelLayout {
public:
  KernelLayout(Choices &choices, Operation &op) : choices_(choices), op_(op) {
    bool isGroup = isa<graph::FusionOp>(op);
    for (Value operand : op.getOperands()) {
      std::vector<int64_t> shape = graph::staticShapeOf(operand);
      layouts_.push_back(isGroup ? anyLayout(choices, shape, true) : dense(shape));
      operands_.push_back(view(buffers_++, layouts_.back()));
    }
    for (OpResult result : op.getResults())
      results_.push_back(isGroup ? placeResult(cast<graph::FusionOp>(op), result)
                                 : view(buffers_++, dense(graph::staticShapeOf(result))));
  }

  program::KernelOp build(OpBuilder &b, const std::string &name) {
    auto kernel = program::KernelOp::create(
        b, b.getUnknownLoc(), b.getStringAttr(name), b.getI64IntegerAttr(buffers_),
        b.getArrayAttr(operands_), b.getArrayAttr(results_), IntegerAttr(), DenseI64ArrayAttr(),
        FloatAttr(), FloatAttr(), IntegerAttr());
    Block &body = kernel.getBody().emplaceBlock();
    OpBuilder inside = OpBuilder::atBlockEnd(&body);
    SmallVector<Value> arguments;
    for (Value operand : op_.getOperands())
      arguments.push_back(body.addArgument(operand.getType(), b.getUnknownLoc()));
    Operation *copy = inside.clone(op_);
    copy->setOperands(arguments);
    return kernel;
  }

private:
  Attribute view(int64_t buffer, const Layout &layout) {
    return program::ViewAttr::get(op_.getContext(), buffer, layout.offset, layout.strides);
  }

  // Places a result, at random, in the memory of an operand that the group reads only at the
  // elements that it writes.
  Attribute placeResult(graph::FusionOp fusion, OpResult result) {
    if (choices_.chance(50))
      for (unsigned i = 0; i < fusion.getNumOperands(); ++i)
        if (layouts_[i].isWhole && !llvm::is_contained(taken_, i) &&
            graph::elementTypeOf(fusion.getOperand(i)) == graph::elementTypeOf(result) &&
            bufferize::readsElementwise(fusion, i, result.getResultNumber())) {
          taken_.push_back(i);
          return operands_[i];
        }
    return view(buffers_++, anyLayout(choices_, graph::staticShapeOf(result), false));
  }

  Choices &choices_;
  Operation &op_;
  int64_t buffers_ = 0;
  SmallVector<Layout> layouts_; // of the operands
  SmallVector<unsigned> taken_; // operands whose memory holds a result
  SmallVector<Attribute> operands_, results_;
};

} // namespace

program::KernelOp layOut(Choices &choices, ModuleOp module, Operation &op,
                         const std::string &name) {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  return KernelLayout(choices, op).build(b, name);
}

} // namespace cleave::fuzz
