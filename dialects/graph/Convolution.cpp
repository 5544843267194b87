// Contraction: the convolution and its two gradients. All three are the same sum of products, with
// another of its three tensors as the result.
#include "dialects/graph/Graph.h"
#include "dialects/graph/Window.h"

using namespace mlir;

namespace cleave::graph {

Shape Window::outputOf(ArrayRef<Polynomial> input) const {
  Shape output;
  for (size_t d = 0; d < rank(); ++d) {
    Polynomial span =
        input[d] + Polynomial(padsLow[d] + padsHigh[d] - dilations[d] * (kernel[d] - 1) - 1);
    // A symbolic input size counts as at least the size of the window.
    bool isEmpty = span.constant().value_or(0) < 0;
    output.push_back(isEmpty ? Polynomial() : span.floorDividedBy(strides[d]) + Polynomial(1));
  }
  return output;
}

void Window::visitInside(
    ArrayRef<int64_t> at, ArrayRef<int64_t> input,
    llvm::function_ref<void(const std::vector<int64_t> &, const std::vector<int64_t> &)> visit)
    const {
  std::vector<int64_t> position(rank());
  forEachIndex(kernel, [&](const std::vector<int64_t> &k) {
    for (size_t d = 0; d < rank(); ++d) {
      position[d] = inputAt(d, at[d], k[d]);
      if (position[d] < 0 || position[d] >= input[d])
        return;
    }
    visit(k, position);
  });
}

template <typename Op> static Window windowOf(Op op, ArrayRef<int64_t> weightShape) {
  return {weightShape.drop_front(2).vec(), op.getStrides().vec(), op.getDilations().vec(),
          op.getPadsLow().vec(), op.getPadsHigh().vec()};
}

// The shape of graph.conv of `input` and `weight` with the window of `op`.
template <typename Op> static Shape outputShape(Op op, Value input, Value weight) {
  Shape data = shapeOf(input), result = {data[0], shapeOf(weight)[0]};
  Window window = windowOf(op, cast<RankedTensorType>(weight.getType()).getShape());
  llvm::append_range(result, window.outputOf(ArrayRef(data).drop_front(2)));
  return result;
}

LogicalResult ConvOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  types.push_back(tensorOf(outputShape(adaptor, adaptor.getInput(), adaptor.getWeight()),
                           elementTypeOf(adaptor.getInput())));
  return success();
}

LogicalResult verifyWindow(Operation *op, const Window &window, Value input) {
  int64_t spatial = rankOf(input) - 2;
  for (const std::vector<int64_t> *list :
       {&window.kernel, &window.strides, &window.dilations, &window.padsLow, &window.padsHigh})
    if (static_cast<int64_t>(list->size()) != spatial) {
      auto diag = op->emitOpError() << "needs one entry per spatial dim (" << spatial
                                    << ") in each list, found " << list->size();
      diag.attachNote(input.getLoc()) << "the input has type " << input.getType();
      return diag;
    }
  for (auto [name, list] :
       {std::pair("strides", &window.strides), std::pair("dilations", &window.dilations)})
    for (int64_t value : *list)
      if (value < 1)
        return op->emitOpError() << "needs " << name << " of at least 1, found " << value;
  return success();
}

bool ConvOp::isCompatibleReturnTypes(TypeRange inferred, TypeRange found) {
  return isProductTensor(found[0], inferred[0]);
}

// Verifies the element types of the two factors and of their product.
static LogicalResult verifyElements(Operation *op) {
  Value first = op->getOperand(0), second = op->getOperand(1), product = op->getResult(0);
  if (elementTypeOf(first) == elementTypeOf(second) &&
      isProductType(elementTypeOf(product), elementTypeOf(first)))
    return success();
  auto diag = op->emitOpError() << "multiplies " << elementTypeOf(first) << " by "
                                << elementTypeOf(second) << " to " << elementTypeOf(product)
                                << ", expected one element type, or f32 for the sums of 16-bit "
                                   "floats";
  diag.attachNote(first.getLoc()) << "the first operand has type " << first.getType();
  diag.attachNote(second.getLoc()) << "the second operand has type " << second.getType();
  return diag;
}

// Verifies the window and the channels of graph.conv of `input` and `weight`, or of a gradient of
// it, whose result is one of the two.
template <typename Op> static LogicalResult verifyConv(Op op, Value input, Value weight) {
  int64_t rank = rankOf(input), groups = op.getGroups();
  auto withTensors = [&](InFlightDiagnostic diag) {
    diag.attachNote(input.getLoc()) << "the input has type " << input.getType();
    diag.attachNote(weight.getLoc())
        << "the weight has type " << weight.getType() << " and " << groups << " groups";
    return diag;
  };
  if (rank < 3 || rankOf(weight) != rank)
    return withTensors(op.emitOpError()
                       << "needs input and weight of one rank of at least 3, found " << rank
                       << " and " << rankOf(weight));
  if (groups < 1)
    return op.emitOpError() << "needs at least one group, found " << groups;
  ArrayRef<int64_t> sizes = cast<RankedTensorType>(weight.getType()).getShape();
  if (failed(verifyWindow(op, windowOf(op, sizes), input)))
    return failure();
  Shape data = shapeOf(input), kernels = shapeOf(weight);
  Polynomial expected = kernels[1] * Polynomial(groups);
  if (data[1] != expected)
    return withTensors(op.emitOpError()
                       << "has " << data[1].str() << " input channels, but its weight expects "
                       << expected.str());
  if (llvm::is_contained(sizes.drop_front(2), ShapedType::kDynamic))
    return withTensors(op.emitOpError() << "has a kernel of symbolic size, expected numbers");
  if (!kernels[0].dividedBy(groups))
    return withTensors(op.emitOpError()
                       << "has " << kernels[0].str() << " output channels, expected a multiple of "
                       << groups << ", the number of groups");
  return verifyElements(op);
}

// Verifies also that `grad` of the op is the gradient of the result of graph.conv. A transposed
// convolution with output padding may have fewer windows than fit into its result.
template <typename Op> static LogicalResult verifyConvGrad(Op op, Value input, Value weight) {
  if (failed(verifyConv(op, input, weight)))
    return failure();
  Shape expected = outputShape(op, input, weight), found = shapeOf(op.getGrad());
  bool fits = found.size() == expected.size() && found[0] == expected[0] && found[1] == expected[1];
  for (size_t d = 2; fits && d < expected.size(); ++d)
    fits = (expected[d] - found[d]).atMost(1).value_or(0) >= 0;
  if (fits)
    return success();
  auto diag = op.emitOpError() << "needs a gradient of the shape of "
                               << tensorOf(expected, elementTypeOf(op.getGrad()))
                               << ", the result of its graph.conv, found "
                               << op.getGrad().getType();
  diag.attachNote(op.getGrad().getLoc()) << "the gradient comes from here";
  return diag;
}

LogicalResult ConvOp::verify() { return verifyConv(*this, getInput(), getWeight()); }
LogicalResult ConvInputGradOp::verify() { return verifyConvGrad(*this, getResult(), getWeight()); }
LogicalResult ConvWeightGradOp::verify() { return verifyConvGrad(*this, getInput(), getResult()); }

// The rule of the sum, from the three shapes; `data` and `out` are N C spatial. Spatial dims are
// not split because windows overlap, and channels are not split if there are several groups.
namespace {
struct ConvDims {
  FactorRule rule;
  FactorRule::Dims data, weight, out;
  int addFactor(const Polynomial &size, FactorKind kind) {
    rule.factors.push_back({size, kind});
    return static_cast<int>(rule.factors.size()) - 1;
  }
};
} // namespace

static ConvDims convDims(const Shape &data, const Shape &weight, const Shape &out, int64_t groups) {
  ConvDims dims;
  auto channels = groups == 1 ? FactorKind::PassThrough : FactorKind::Replicated;
  int n = dims.addFactor(data[0], FactorKind::PassThrough);
  int o = dims.addFactor(out[1], channels);
  int c = dims.addFactor(weight[1], channels);
  dims.data = {{n}, {c}};
  dims.weight = {{o}, {c}};
  dims.out = {{n}, {o}};
  if (groups != 1)
    dims.data[1] = {dims.addFactor(data[1], FactorKind::Replicated)};
  for (size_t d = 2; d < data.size(); ++d) {
    dims.data.push_back({dims.addFactor(data[d], FactorKind::Replicated)});
    dims.weight.push_back({dims.addFactor(weight[d], FactorKind::Replicated)});
    dims.out.push_back({dims.addFactor(out[d], FactorKind::Replicated)});
  }
  return dims;
}

// Factors that do not occur in the result are summed over.
static FactorRule finish(ConvDims dims, FactorRule::Dims first, FactorRule::Dims second,
                         FactorRule::Dims result) {
  for (size_t f = 0; f < dims.rule.factors.size(); ++f) {
    bool kept =
        llvm::any_of(result, [&](const auto &dim) { return llvm::is_contained(dim, (int)f); });
    if (!kept && dims.rule.factors[f].kind == FactorKind::PassThrough)
      dims.rule.factors[f].kind = FactorKind::Reduction;
  }
  dims.rule.operands = {std::move(first), std::move(second)};
  dims.rule.results = {std::move(result)};
  return dims.rule;
}

FactorRule ConvOp::getFactorRule() {
  ConvDims dims =
      convDims(shapeOf(getInput()), shapeOf(getWeight()), shapeOf(getResult()), getGroups());
  return finish(dims, dims.data, dims.weight, dims.out);
}
FactorRule ConvInputGradOp::getFactorRule() {
  ConvDims dims =
      convDims(shapeOf(getResult()), shapeOf(getWeight()), shapeOf(getGrad()), getGroups());
  return finish(dims, dims.out, dims.weight, dims.data);
}
FactorRule ConvWeightGradOp::getFactorRule() {
  ConvDims dims =
      convDims(shapeOf(getInput()), shapeOf(getResult()), shapeOf(getGrad()), getGroups());
  return finish(dims, dims.out, dims.data, dims.weight);
}

static Polynomial convFlops(const Shape &weight, Type out) {
  Polynomial flops = elementCount(out) * Polynomial(2);
  for (const Polynomial &dim : ArrayRef(weight).drop_front())
    flops *= dim;
  return flops;
}
Polynomial ConvOp::getFlops() { return convFlops(shapeOf(getWeight()), getType()); }
Polynomial ConvInputGradOp::getFlops() {
  return convFlops(shapeOf(getWeight()), getGrad().getType());
}
Polynomial ConvWeightGradOp::getFlops() {
  return convFlops(shapeOf(getResult()), getGrad().getType());
}

// Visits every product of the sum as positions in (data, weight, out).
static void forEachProduct(const Window &window, ArrayRef<int64_t> data,
                           const std::vector<int64_t> &weight, const std::vector<int64_t> &out,
                           int64_t groups,
                           llvm::function_ref<void(int64_t, int64_t, int64_t)> visit) {
  auto strides = [](ArrayRef<int64_t> shape) {
    return Tensor(ElementType::F64, shape.vec()).strides();
  };
  std::vector<int64_t> dataStrides = strides(data), weightStrides = strides(weight),
                       outStrides = strides(out);
  int64_t outPerGroup = weight[0] / groups;
  forEachIndex(out, [&](const std::vector<int64_t> &at) {
    int64_t outAt = linearIndex(at, outStrides);
    window.visitInside(
        ArrayRef(at).drop_front(2), data.drop_front(2), [&](const auto &k, const auto &x) {
          int64_t dataAt =
              at[0] * dataStrides[0] + at[1] / outPerGroup * weight[1] * dataStrides[1];
          int64_t weightAt = at[1] * weightStrides[0];
          for (size_t d = 0; d < k.size(); ++d) {
            dataAt += x[d] * dataStrides[d + 2];
            weightAt += k[d] * weightStrides[d + 2];
          }
          for (int64_t c = 0; c < weight[1]; ++c)
            visit(dataAt + c * dataStrides[1], weightAt + c * weightStrides[1], outAt);
        });
  });
}

static SmallVector<Tensor> rounded(Tensor tensor) {
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.set(i, tensor.values[i]);
  return {tensor};
}

SmallVector<Tensor> ConvOp::evaluate(ArrayRef<Tensor> operands) {
  const Tensor &data = operands[0], &weight = operands[1];
  Window window = windowOf(*this, weight.shape);
  std::vector<int64_t> shape = {data.shape[0], weight.shape[0]};
  Shape spatial(data.shape.begin() + 2, data.shape.end());
  for (const Polynomial &size : window.outputOf(spatial))
    shape.push_back(*size.constant());
  Tensor out(toElementType(elementTypeOf(getType())), shape);
  forEachProduct(
      window, data.shape, weight.shape, out.shape, getGroups(),
      [&](int64_t d, int64_t w, int64_t o) { out.values[o] += data.values[d] * weight.values[w]; });
  return rounded(out);
}
SmallVector<Tensor> ConvInputGradOp::evaluate(ArrayRef<Tensor> operands) {
  const Tensor &out = operands[0], &weight = operands[1];
  Tensor data(toElementType(elementTypeOf(getType())), staticShapeOf(getType()));
  data.shape[0] = out.shape[0];
  forEachProduct(
      windowOf(*this, weight.shape), data.shape, weight.shape, out.shape, getGroups(),
      [&](int64_t d, int64_t w, int64_t o) { data.values[d] += out.values[o] * weight.values[w]; });
  return rounded(data);
}
SmallVector<Tensor> ConvWeightGradOp::evaluate(ArrayRef<Tensor> operands) {
  const Tensor &out = operands[0], &data = operands[1];
  Tensor weight(toElementType(elementTypeOf(getType())), staticShapeOf(getType()));
  forEachProduct(
      windowOf(*this, weight.shape), data.shape, weight.shape, out.shape, getGroups(),
      [&](int64_t d, int64_t w, int64_t o) { weight.values[w] += out.values[o] * data.values[d]; });
  return rounded(weight);
}

} // namespace cleave::graph
