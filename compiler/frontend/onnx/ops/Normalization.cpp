// Softmax, norms and dropout.
#include "compiler/frontend/emit/Normalization.h"

#include "compiler/frontend/emit/Convolution.h"
#include "compiler/frontend/emit/Movement.h"
#include "compiler/frontend/emit/Random.h"
#include "compiler/frontend/emit/Reductions.h"
#include "compiler/frontend/emit/Root.h"
#include "compiler/frontend/onnx/ops/OpTable.h"

#include <cmath>

namespace cleave::onnx {
namespace {

using emit::shapeOf;

using AlongDim = Value (*)(const emit::Emitter &, Value, int64_t);

// From opset 13 on: along one axis.
template <AlongDim function> Values alongAxis(NodeImport &n) {
  n.checkInputs(1, 1);
  return {function(n, n.input(0), n.axisAttribute(-1))};
}

// Before opset 13: over all dims from the axis on, flattened.
template <AlongDim function> Values flattened(NodeImport &n) {
  n.checkInputs(1, 1);
  Value x = n.input(0);
  int64_t dim = n.axisAttribute(1, std::max<int64_t>(n.rank(), 2));
  if (dim + 1 == n.rank())
    return {function(n, x, dim)};
  Value matrix = emit::flattenToMatrix(n, x, std::min(dim, n.rank()));
  return {n.reshape(function(n, matrix, 1), shapeOf(x))};
}

Values importLayerNorm(NodeImport &n) {
  n.checkInputs(2, 3);
  n.ignore({"stash_type"}); // the precision of intermediate values
  Value x = n.input(0);
  int64_t axis = n.axisAttribute(-1);
  double epsilon = n.decimal("epsilon", 1e-5);
  Values results{emit::layerNorm(n, x, axis, n.input(1), n.optionalInput(2), epsilon)};
  if (n.hasOutput(1) || n.hasOutput(2)) {
    emit::Normalised parts = emit::normalise(n, x, emit::dimsFrom(axis, n.rank()), epsilon);
    results.append({parts.mean, parts.invertedDeviation});
  }
  return results;
}

Values importRmsNorm(NodeImport &n) {
  n.checkInputs(2, 2);
  n.ignore({"stash_type"});
  int64_t axis = n.axisAttribute(-1);
  return {emit::rmsNorm(n, n.input(0), axis, n.input(1), n.decimal("epsilon", 1e-5))};
}

// Inputs of BatchNormalization, each of one number per channel but the data.
enum BatchNormInput : size_t { kData, kScale, kShift, kMean, kVariance };

// Normalises with the batch's statistics and updates the running ones, which are states.
Values trainBatchNorm(NodeImport &n, double epsilon, double momentum) {
  Value mean = n.input(kMean), variance = n.input(kVariance);
  emit::TrainedBatchNorm trained = emit::trainedBatchNorm(
      n, n.input(kData), n.input(kScale), n.input(kShift), mean, variance, epsilon, momentum);
  n.services.replaceState(mean, trained.newMean);
  n.services.replaceState(variance, trained.newVariance);
  return {trained.value, trained.newMean, trained.newVariance};
}

// The same where the running statistics are not states but operands and outputs. The format updates
// the running variance with the biased variance.
Values statelessBatchNorm(NodeImport &n, double epsilon, double oldWeight) {
  Value x = n.input(0);
  n.checkRank(x, 2);
  Ints over = emit::dimsFrom(1, n.rank());
  over[0] = 0; // all but the channels
  Value mean = n.mean(x, over), variance = emit::variance(n, x, over, 0, /*keep=*/false);
  auto moved = [&](size_t i, Value value) {
    return n.add(n.mul(n.input(i), oldWeight), n.mul(value, 1 - oldWeight));
  };
  Value result =
      emit::frozenBatchNorm(n, x, n.input(kScale), n.input(kShift), mean, variance, epsilon);
  return {result, moved(kMean, mean), moved(kVariance, variance)};
}

Values batchNorm(NodeImport &n, bool trainsAsExported) {
  n.checkInputs(5, 5);
  double epsilon = n.decimal("epsilon", 1e-5);
  // The format's momentum is the weight of the old value; PyTorch's and Cleave's that of the new
  // value.
  double momentum = std::round((1 - n.decimal("momentum", 0.9)) * 1e9) / 1e9;
  using Mode = ImportOptions::BatchNorm;
  Mode mode = n.services.options().batchNorm;
  bool canTrain = n.services.isState(n.input(kMean)) && n.services.isState(n.input(kVariance));
  if (canTrain && (mode == Mode::Train || (mode == Mode::AsExported && trainsAsExported)))
    return trainBatchNorm(n, epsilon, momentum);
  if (trainsAsExported && mode != Mode::Frozen)
    return statelessBatchNorm(n, epsilon, n.decimal("momentum", 0.9));
  return {emit::frozenBatchNorm(n, n.input(kData), n.input(kScale), n.input(kShift), n.input(kMean),
                                n.input(kVariance), epsilon)};
}

// Before opset 7: trains unless is_test is set.
Values importBatchNorm6(NodeImport &n) {
  if (!n.integer("spatial", 1))
    fail("normalises every element by itself (spatial=0), which Cleave does not do");
  return batchNorm(n, !n.integer("is_test", 0));
}

// Up to opset 13: trains if it has more than one output.
Values importBatchNorm7(NodeImport &n) {
  if (!n.integer("spatial", 1))
    fail("normalises every element by itself (spatial=0), which Cleave does not do");
  return batchNorm(n, n.node.outputs.size() > 1);
}
Values importBatchNorm14(NodeImport &n) { return batchNorm(n, n.integer("training_mode", 0)); }

Values importInstanceNorm(NodeImport &n) {
  n.checkInputs(3, 3);
  return {emit::instanceNorm(n, n.input(0), n.input(1), n.input(2), n.decimal("epsilon", 1e-5))};
}

// Scale and bias are per group up to opset 20, per channel from opset 21 on.
Values importGroupNorm(NodeImport &n) {
  n.checkInputs(3, 3);
  n.ignore({"stash_type"});
  Value x = n.input(0), scale = n.input(1), bias = n.input(2);
  n.checkRank(x, 3);
  int64_t groups = n.requiredInteger("num_groups");
  double epsilon = n.decimal("epsilon", 1e-5);
  Sizes dims = shapeOf(x);
  bool perGroup = n.opset() < 21 && shapeOf(scale) == Sizes{groups} && dims[1] != groups;
  if (!perGroup)
    return {emit::groupNorm(n, x, groups, scale, bias, epsilon)};
  Value grouped =
      emit::flatten(n, emit::groupNorm(n, x, groups, nullptr, nullptr, epsilon), 2, n.rank() - 1);
  Polynomial inner = shapeOf(grouped)[2] * dims[1].dividedBy(groups).value_or(1);
  grouped = n.reshape(grouped, {dims[0], groups, inner});
  Value scaled = n.mul(grouped, emit::perChannel(n, scale, grouped));
  return {n.reshape(n.add(scaled, emit::perChannel(n, bias, grouped)), dims)};
}

Values importLpNorm(NodeImport &n) {
  n.checkInputs(1, 1);
  int64_t dim = n.axisAttribute(-1);
  return {emit::lpNormalise(n, n.input(0), dim, n.integer("p", 2))};
}

Values importMeanVarianceNorm(NodeImport &n) {
  n.checkInputs(1, 1);
  Ints axes = n.integers("axes").value_or(Ints{0, 2, 3});
  Value x = n.input(0);
  n.checkFloat(x);
  axes = n.axes(axes, n.rank());
  Value centred = n.sub(x, n.broadcast(n.mean(x, axes, /*keep=*/true), shapeOf(x)));
  Value deviation = emit::flatRoot(n, n.mean(n.mul(centred, centred), axes, /*keep=*/true));
  return {n.div(centred, n.broadcast(n.add(deviation, 1e-9), shapeOf(x)))};
}

Values importLrn(NodeImport &n) {
  n.checkInputs(1, 1);
  double alpha = n.decimal("alpha", 1e-4), beta = n.decimal("beta", 0.75),
         bias = n.decimal("bias", 1);
  return {emit::localResponseNorm(n, n.input(0), n.requiredInteger("size"), alpha, beta, bias)};
}

// In training mode elements are dropped in steps that train.
Values dropout(NodeImport &n, bool training, double ratio) {
  Value x = n.input(0);
  Values results{training ? emit::dropout(n, x, ratio) : x};
  if (n.hasOutput(1) && results[0] == x) // dropout that is drawn in the step has no mask here
    results.push_back(n.splat(shapeOf(x), n.b.getI1Type(), 1));
  return results;
}

Values importDropout7(NodeImport &n) {
  n.checkInputs(1, 1);
  n.ignore({"ratio"});
  return dropout(n, false, 0);
}

Values importDropout12(NodeImport &n) {
  n.checkInputs(1, 3);
  n.ignore({"seed"});
  bool training = n.hasInput(2) && n.decimalInput(2, "training mode") != 0;
  return dropout(n, training, n.hasInput(1) ? n.decimalInput(1, "ratio") : 0.5);
}

constexpr OpEntry kNormalizationOps[] = {
    {"BatchNormalization", 6, importBatchNorm6},
    {"BatchNormalization", 7, importBatchNorm7},
    {"BatchNormalization", 14, importBatchNorm14},
    {"Dropout", 7, importDropout7},
    {"Dropout", 12, importDropout12},
    {"GroupNormalization", 18, importGroupNorm},
    {"InstanceNormalization", 6, importInstanceNorm},
    {"LRN", 1, importLrn},
    {"LayerNormalization", 17, importLayerNorm},
    {"LogSoftmax", 1, flattened<emit::logSoftmax>},
    {"LogSoftmax", 13, alongAxis<emit::logSoftmax>},
    {"LpNormalization", 1, importLpNorm},
    {"MeanVarianceNormalization", 9, importMeanVarianceNorm},
    {"RMSNormalization", 23, importRmsNorm},
    {"Softmax", 1, flattened<emit::softmax>},
    {"Softmax", 13, alongAxis<emit::softmax>},
};

} // namespace

llvm::ArrayRef<OpEntry> normalizationOps() { return kNormalizationOps; }

} // namespace cleave::onnx
