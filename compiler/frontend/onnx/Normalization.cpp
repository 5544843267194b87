// Softmax and the norms.
#include "compiler/frontend/onnx/NodeImport.h"

#include <numeric>

namespace cleave::onnx {
namespace {

using namespace graph;

// From opset 13 on: along one axis.
template <typename Op> Values alongAxis(NodeImport &n) {
  n.checkInputs(1, 1);
  Value x = n.input(0);
  n.checkFloat(x);
  int64_t dim = n.axis(n.integer("axis", -1), rankOf(x));
  return {Op::create(n.b, n.loc, x.getType(), x, dim)};
}

// Before: over all dims from the axis on together.
template <typename Op> Values flattened(NodeImport &n) {
  n.checkInputs(1, 1);
  Value x = n.input(0);
  n.checkFloat(x);
  Dims dims = dimsOf(x);
  int64_t dim = n.axis(n.integer("axis", 1), std::max<int64_t>(rankOf(x), 2));
  if (dim + 1 == rankOf(x))
    return {Op::create(n.b, n.loc, x.getType(), x, dim)};
  int64_t rows = product(llvm::ArrayRef(dims).take_front(std::min<size_t>(dim, dims.size())));
  Value matrix = n.reshape(x, {rows, rows ? product(dims) / rows : 0});
  Value result = Op::create(n.b, n.loc, matrix.getType(), matrix, 1);
  return {n.reshape(result, dims)};
}

// x with mean 0 and variance 1 over `over`; also the mean and 1 / sqrt(variance + epsilon), with
// those dims of size 1.
struct Normalised {
  Value value, mean, invertedDeviation;
};

Normalised normalise(NodeImport &n, Value x, const Dims &over, double epsilon) {
  Dims kept = dimsOf(x);
  for (int64_t dim : over)
    kept[dim] = 1;
  Normalised out;
  out.mean = n.reshape(buildMean(n.b, x, over), kept);
  Value centred = SubOp::create(n.b, n.loc, x, n.broadcast(out.mean, dimsOf(x)));
  Value squares = MulOp::create(n.b, n.loc, centred, centred);
  Value variance = n.reshape(buildMean(n.b, squares, over), kept);
  Value shifted = AddOp::create(n.b, n.loc, variance, n.splat(variance, epsilon));
  out.invertedDeviation = RsqrtOp::create(n.b, n.loc, shifted.getType(), shifted);
  out.value = MulOp::create(n.b, n.loc, centred, n.broadcast(out.invertedDeviation, dimsOf(x)));
  return out;
}

// One number per channel (dim 1) of `like`, broadcast to it.
Value perChannel(NodeImport &n, Value value, Value like) {
  Dims dims = dimsOf(like);
  if (dims.size() < 2 || dimsOf(value) != Dims{dims[1]})
    fail("has data " + showDims(dims) + " and one operand " + showDims(dimsOf(value)) +
         ", expected one number per channel");
  Dims column(dims.size() - 1, 1);
  column[0] = dims[1];
  return n.broadcast(n.reshape(value, column), dims);
}

Value scaleAndShift(NodeImport &n, Value x, Value scale, Value bias) {
  x = MulOp::create(n.b, n.loc, x, perChannel(n, scale, x));
  return AddOp::create(n.b, n.loc, x, perChannel(n, bias, x));
}

Values importLayerNorm(NodeImport &n) {
  n.checkInputs(2, 3);
  Value x = n.input(0), scale = n.input(1);
  n.checkFloat(x);
  n.checkSameType(x, scale);
  n.ignore({"stash_type"}); // the precision inside
  int64_t axis = n.axis(n.integer("axis", -1), rankOf(x));
  double epsilon = n.number("epsilon", 1e-5);
  Dims dims = dimsOf(x), last(dims.begin() + axis, dims.end());
  scale = n.broadcast(scale, last);
  Value bias = n.hasInput(2) ? n.broadcast(n.input(2), last) : n.splat(scale, 0);
  n.checkSameType(x, bias);
  Values results{
      LayerNormOp::create(n.b, n.loc, x.getType(), x, scale, bias, n.b.getF64FloatAttr(epsilon))};
  if (n.hasOutput(1) || n.hasOutput(2)) {
    Dims over(rankOf(x) - axis);
    std::iota(over.begin(), over.end(), axis);
    Normalised parts = normalise(n, x, over, epsilon);
    results.append({parts.mean, parts.invertedDeviation});
  }
  return results;
}

// With the batch's statistics; the running ones move on.
Values trainBatchNorm(NodeImport &n, double epsilon, double momentum) {
  Value x = n.input(0), mean = n.input(3), variance = n.input(4);
  mlir::Type moments = mean.getType();
  auto op = BatchNormOp::create(n.b, n.loc, mlir::TypeRange{x.getType(), moments, moments}, x,
                                n.input(1), n.input(2), mean, variance,
                                n.b.getF64FloatAttr(epsilon), n.b.getF64FloatAttr(momentum));
  n.services.replaceState(mean, op.getNewMean());
  n.services.replaceState(variance, op.getNewVar());
  return {op.getResult(), op.getNewMean(), op.getNewVar()};
}

// With the given statistics.
Values frozenBatchNorm(NodeImport &n, double epsilon) {
  Value x = n.input(0), variance = n.input(4);
  Value shifted = AddOp::create(n.b, n.loc, variance, n.splat(variance, epsilon));
  Value factor = RsqrtOp::create(n.b, n.loc, shifted.getType(), shifted);
  factor = MulOp::create(n.b, n.loc, factor, n.input(1));
  Value centred = SubOp::create(n.b, n.loc, x, perChannel(n, n.input(3), x));
  return {scaleAndShift(n, centred, factor, n.input(2))};
}

Values batchNorm(NodeImport &n, bool trainsAsExported) {
  n.checkInputs(5, 5);
  Value x = n.input(0);
  n.checkFloat(x);
  for (size_t i = 1; i < 5; ++i) {
    n.checkSameType(x, n.input(i));
    perChannel(n, n.input(i), x); // the check; unused values vanish
  }
  double epsilon = n.number("epsilon", 1e-5);
  // The format's momentum weighs the old value, PyTorch's (and ours) the new one.
  double momentum = std::round((1 - n.number("momentum", 0.9)) * 1e9) / 1e9;
  using Mode = ImportOptions::BatchNorm;
  Mode mode = n.services.options.batchNorm;
  bool canTrain = n.services.isState(n.input(3)) && n.services.isState(n.input(4));
  if (canTrain && (mode == Mode::Train || (mode == Mode::AsExported && trainsAsExported)))
    return trainBatchNorm(n, epsilon, momentum);
  if (n.hasOutput(1) && mode != Mode::Frozen)
    fail("moves running statistics that are no initializers, which Cleave does not do; freeze it "
         "(--batch-norm frozen)");
  return frozenBatchNorm(n, epsilon);
}

// Opset 9: in training form if it has more than one output.
Values importBatchNorm9(NodeImport &n) { return batchNorm(n, n.node.outputs.size() > 1); }
Values importBatchNorm14(NodeImport &n) { return batchNorm(n, n.integer("training_mode", 0)); }

Values importInstanceNorm(NodeImport &n) {
  n.checkInputs(3, 3);
  Value x = n.input(0);
  n.checkFloat(x);
  if (rankOf(x) < 3)
    fail("has data " + showDims(dimsOf(x)) + ", expected at least 3 dims");
  Dims over(rankOf(x) - 2);
  std::iota(over.begin(), over.end(), 2);
  Value normal = normalise(n, x, over, n.number("epsilon", 1e-5)).value;
  return {scaleAndShift(n, normal, n.input(1), n.input(2))};
}

// Groups of channels; up to opset 20 with one scale and bias per group, from 21 on per channel.
Values importGroupNorm(NodeImport &n) {
  n.checkInputs(3, 3);
  Value x = n.input(0);
  n.checkFloat(x);
  n.ignore({"stash_type"});
  Dims dims = dimsOf(x);
  int64_t groups = n.requiredInteger("num_groups");
  if (dims.size() < 3 || groups < 1 || dims[1] % groups)
    fail("has data " + showDims(dims) + " in " + std::to_string(groups) +
         " groups: the channels do not fit");
  int64_t inner = product(dims) / std::max<int64_t>(dims[0] * groups, 1);
  Value grouped = n.reshape(x, {dims[0], groups, inner});
  grouped = normalise(n, grouped, {2}, n.number("epsilon", 1e-5)).value;
  if (dimsOf(n.input(1)) == Dims{groups} && n.services.opset < 21)
    return {n.reshape(scaleAndShift(n, grouped, n.input(1), n.input(2)), dims)};
  return {scaleAndShift(n, n.reshape(grouped, dims), n.input(1), n.input(2))};
}

Values importLpNorm(NodeImport &n) {
  n.checkInputs(1, 1);
  Value x = n.input(0);
  n.checkFloat(x);
  int64_t dim = n.axis(n.integer("axis", -1), rankOf(x)), p = n.integer("p", 2);
  if (p != 1 && p != 2)
    fail("attribute 'p' is " + std::to_string(p) + ", expected 1 or 2");
  Value powers = p == 1 ? Value(AbsOp::create(n.b, n.loc, x.getType(), x))
                        : Value(MulOp::create(n.b, n.loc, x, x));
  Value norm = buildReduce(n.b, Reduction::Sum, powers, {dim});
  if (p == 2)
    norm = SqrtOp::create(n.b, n.loc, norm.getType(), norm);
  Dims kept = dimsOf(x);
  kept[dim] = 1;
  norm = n.broadcast(n.reshape(norm, kept), dimsOf(x));
  Value isZero = CompareOp::create(n.b, n.loc, Predicate::EQ, norm, n.splat(norm, 0));
  Value quotient = DivOp::create(n.b, n.loc, x, norm);
  return {SelectOp::create(n.b, n.loc, x.getType(), isZero, n.splat(x, 0), quotient)};
}

// In training mode it would draw random numbers.
Values importDropout(NodeImport &n) {
  n.checkInputs(1, 3);
  n.ignore({"seed", "ratio"});
  Value x = n.input(0);
  bool training = n.hasInput(2) && n.constantNumber(2, "training mode") != 0;
  double ratio = n.hasInput(1) ? n.constantNumber(1, "ratio") : 0.5;
  if (training && ratio > 0)
    fail("drops elements in training mode, which Cleave does not do yet; export the model with "
         "dropout 0");
  Values results{x};
  if (n.hasOutput(1))
    results.push_back(n.splat(CompareOp::create(n.b, n.loc, Predicate::EQ, x, x), 1));
  return results;
}

constexpr OpEntry kOps[] = {
    {"BatchNormalization", 9, importBatchNorm9},
    {"BatchNormalization", 14, importBatchNorm14},
    {"Dropout", 7, importDropout},
    {"GroupNormalization", 18, importGroupNorm},
    {"InstanceNormalization", 6, importInstanceNorm},
    {"LayerNormalization", 17, importLayerNorm},
    {"LogSoftmax", 1, flattened<LogSoftmaxOp>},
    {"LogSoftmax", 13, alongAxis<LogSoftmaxOp>},
    {"LpNormalization", 1, importLpNorm},
    {"Softmax", 1, flattened<SoftmaxOp>},
    {"Softmax", 13, alongAxis<SoftmaxOp>},
};

} // namespace

llvm::ArrayRef<OpEntry> normalizationOps() { return kOps; }

} // namespace cleave::onnx
