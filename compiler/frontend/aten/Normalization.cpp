// Norms. Running statistics are written in place, or returned by the functional forms.
#include "compiler/frontend/emit/Normalization.h"
#include "compiler/frontend/aten/OpCall.h"
#include "compiler/frontend/emit/Elementwise.h"
#include "compiler/frontend/emit/Reductions.h"

namespace cleave::aten {
namespace {

Array given(OpCall &c, std::string_view name) { return c.has(name) ? c.tensor(name) : Array(); }

// x in the type of `parameter`, if that is wider: norms of 16-bit floats may have f32 parameters;
// they compute in f32 and round the result to the type of x.
Array widenedFor(OpCall &c, Array x, Array parameter) {
  bool isWider = parameter && byteSize(typeOf(parameter)) > byteSize(typeOf(x));
  return isWider ? c.cast(x, typeOf(parameter)) : x;
}

// -- batch norm -----------------------------------------------------------------------------------
struct BatchNorm {
  Array value, newMean, newVariance; // the last two are null if the statistics do not change
};

// Whether a norm uses the statistics of the batch.
bool trains(OpCall &c, bool asExported) {
  using Mode = frontend::ImportOptions::BatchNorm;
  bool isState = c.handle("running_mean")->storage() &&
                 c.handle("running_mean")->storage()->isBuffer &&
                 c.handle("running_var")->storage()->isBuffer;
  if (c.context.batchNorm == Mode::Train && isState)
    return true;
  return c.context.batchNorm == Mode::Frozen ? false : asExported;
}

// Always uses the statistics of the batch; no option freezes it.
Array normByBatch(OpCall &c, Array x, Array scale, Array bias, double epsilon) {
  c.e.checkRank(x, 2);
  Sizes perChannel(rankOf(x) - 1, Polynomial(1));
  perChannel[0] = shapeOf(x)[1];
  emit::Ints others{0};
  for (int64_t dim = 2; dim < rankOf(x); ++dim)
    others.push_back(dim);
  auto whole = [&](Array value) {
    return c.e.broadcast(c.e.reshape(value, perChannel), shapeOf(x));
  };
  Array out = emit::normalise(c.e, x, others, epsilon).value;
  if (scale)
    out = c.e.mul(out, whole(scale));
  return bias ? c.e.add(out, whole(bias)) : out;
}

// The running statistics of a norm that does not change them.
std::pair<Array, Array> statisticsRead(OpCall &c) {
  Array mean = c.tensor("running_mean"), variance = c.tensor("running_var");
  c.context.statistics.insert(c.context.statistics.end(), {mean, variance});
  return {mean, variance};
}

BatchNorm wideBatchNorm(OpCall &c, Array x, bool asExported, bool hasStatistics) {
  Array scale = given(c, "weight"), bias = given(c, "bias");
  double epsilon = c.number("eps");
  if (!hasStatistics)
    return {normByBatch(c, x, scale, bias, epsilon), {}, {}};
  if (!trains(c, asExported)) {
    auto [mean, variance] = statisticsRead(c);
    return {emit::frozenBatchNorm(c.e, x, scale, bias, mean, variance, epsilon), {}, {}};
  }
  Array mean = c.tensor("running_mean"), variance = c.tensor("running_var");
  const bool isKnown = !c["momentum"].isTensor() || c.e.known(c.tensor("momentum"));
  emit::TrainedBatchNorm out = emit::trainedBatchNorm(c.e, x, scale, bias, mean, variance, epsilon,
                                                      isKnown ? c.number("momentum") : 1);
  if (isKnown)
    return {out.value, out.newMean, out.newVariance};
  // With a momentum of 1 the op gives the statistics of the batch.
  Array momentum = c.cast(c.e.reshape(c.tensor("momentum"), {}), typeOf(mean));
  auto moved = [&](Array before, Array ofBatch) {
    return emit::interpolate(c.e, before, ofBatch, momentum);
  };
  return {out.value, moved(mean, out.newMean), moved(variance, out.newVariance)};
}

BatchNorm batchNormOf(OpCall &c, bool asExported, bool hasStatistics) {
  Array x = c.tensor("input");
  c.e.checkFloat(x);
  c.e.checkRank(x, 2);
  Array parameter = hasStatistics ? c.tensor("running_mean") : given(c, "weight");
  BatchNorm norm = wideBatchNorm(c, widenedFor(c, x, parameter), asExported, hasStatistics);
  norm.value = c.cast(norm.value, typeOf(x));
  return norm;
}

// Writes the new running statistics, which are constants to gradients.
void moveStatistics(OpCall &c, const BatchNorm &norm) {
  if (!norm.newMean)
    return;
  c.handle("running_mean")->write(c.e, norm.newMean, /*isRecorded=*/false);
  c.handle("running_var")->write(c.e, norm.newVariance, /*isRecorded=*/false);
}

bool hasStatistics(OpCall &c) { return c.has("running_mean") && c.has("running_var"); }

Results batchNorm(OpCall &c) {
  BatchNorm norm = batchNormOf(c, c.boolean("training"), hasStatistics(c));
  if (hasStatistics(c))
    moveStatistics(c, norm);
  return norm.value;
}
Results batchNormNoTraining(OpCall &c) {
  BatchNorm norm = batchNormOf(c, false, true);
  moveStatistics(c, norm);
  return norm.value;
}
Results batchNormWithUpdate(OpCall &c) {
  BatchNorm norm = batchNormOf(c, true, true);
  moveStatistics(c, norm);
  return norm.value;
}
Results batchNormNoStatistics(OpCall &c) { return batchNormOf(c, true, false).value; }

// Returns the new statistics as the fourth and fifth result.
Results batchNormFunctional(OpCall &c) {
  BatchNorm norm = batchNormOf(c, c.boolean("training"), true);
  bool moved = norm.newMean != nullptr;
  Array mean = moved ? norm.newMean : c.tensor("running_mean");
  Array variance = moved ? norm.newVariance : c.tensor("running_var");
  IValue unused;
  return IValueList{TensorState::create(norm.value), unused, unused, TensorState::create(mean),
                    TensorState::create(variance)};
}

// -- norms of single samples ----------------------------------------------------------------------
int64_t firstNormalised(OpCall &c, Array x) {
  Sizes shape = shapeOf(x), normalised = c.integers("normalized_shape");
  if (normalised.empty() || normalised.size() > shape.size() ||
      !std::equal(normalised.rbegin(), normalised.rend(), shape.rbegin()))
    fail("normalises the last dims ", emit::showShape(normalised), " of ", emit::showShape(shape));
  return static_cast<int64_t>(shape.size() - normalised.size());
}

Array layerNormOf(OpCall &c, Array x) {
  Array weight = given(c, "weight"), wide = widenedFor(c, x, weight);
  Array out =
      emit::layerNorm(c.e, wide, firstNormalised(c, x), weight, given(c, "bias"), c.number("eps"));
  return c.cast(out, typeOf(x));
}

Results layerNorm(OpCall &c) { return layerNormOf(c, c.floats("input")); }

Results nativeLayerNorm(OpCall &c) {
  Array x = c.floats("input");
  Ints over = emit::dimsFrom(firstNormalised(c, x), rankOf(x));
  emit::Normalised parts = emit::normalise(c.e, x, over, c.number("eps"));
  return {layerNormOf(c, x), parts.mean, parts.invertedDeviation};
}

// Without an epsilon, the smallest step of the type from 1.
double epsilonOf(OpCall &c, Array x) {
  if (c.has("eps"))
    return c.number("eps");
  return typeOf(x) == ElementType::F64    ? 2.220446049250313e-16
         : typeOf(x) == ElementType::F16  ? 0.0009765625
         : typeOf(x) == ElementType::BF16 ? 0.0078125
                                          : 1.1920928955078125e-07;
}

Results rmsNorm(OpCall &c) {
  Array x = c.floats("input");
  Array weight = given(c, "weight"), wide = widenedFor(c, x, weight);
  return c.cast(emit::rmsNorm(c.e, wide, firstNormalised(c, x), weight, epsilonOf(c, x)),
                typeOf(x));
}

Array groupNormOf(OpCall &c, int64_t groups) {
  Array x = c.floats("input"), weight = given(c, "weight"), wide = widenedFor(c, x, weight);
  Array out = emit::groupNorm(c.e, wide, groups, weight, given(c, "bias"), c.number("eps"));
  return c.cast(out, typeOf(x));
}
Results groupNorm(OpCall &c) { return groupNormOf(c, c.plainInteger("num_groups")); }
Results nativeGroupNorm(OpCall &c) { return groupNormOf(c, c.plainInteger("group")); }

// A batch norm of which each channel of each sample is a channel. The running statistics are the
// means over the samples.
Results trackedInstanceNorm(OpCall &c, Array x) {
  c.e.checkRank(x, 3);
  const Sizes shape = shapeOf(x), each{shape[0], shape[1]};
  Sizes joined = shape;
  joined[0] = 1;
  joined[1] = shape[0] * shape[1];
  auto spread = [&](Array perChannel) {
    return perChannel ? c.e.reshape(c.e.broadcast(perChannel, each), {joined[1]}) : perChannel;
  };
  emit::TrainedBatchNorm norm = emit::trainedBatchNorm(
      c.e, c.e.reshape(x, joined), spread(given(c, "weight")), spread(given(c, "bias")),
      spread(c.tensor("running_mean")), spread(c.tensor("running_var")), c.number("eps"),
      c.number("momentum"));
  auto overSamples = [&](Array statistic) {
    return emit::summarise(c.e, emit::Summary::Mean, c.e.reshape(statistic, each), {0},
                           /*keep=*/false);
  };
  moveStatistics(c, {norm.value, overSamples(norm.newMean), overSamples(norm.newVariance)});
  return c.e.reshape(norm.value, shape);
}

Results instanceNorm(OpCall &c) {
  Array x = c.floats("input"), scale = given(c, "weight"), bias = given(c, "bias");
  double epsilon = c.number("eps");
  if (hasStatistics(c) && trains(c, c.boolean("use_input_stats")))
    return trackedInstanceNorm(c, x);
  if (!hasStatistics(c))
    return emit::instanceNorm(c.e, x, scale, bias, epsilon);
  auto [mean, variance] = statisticsRead(c);
  return emit::frozenBatchNorm(c.e, x, scale, bias, mean, variance, epsilon);
}

// g v / |v|, the norm over all dims but `dim`; with -1 over all.
Results weightNorm(OpCall &c) {
  Array v = c.tensor("v"), g = c.tensor("g");
  int64_t dim = c.plainInteger("dim") == -1 ? -1 : c.dim("dim", rankOf(v));
  Ints over;
  for (int64_t i = 0; i < rankOf(v); ++i)
    if (i != dim)
      over.push_back(i);
  Array size = emit::summarise(c.e, emit::Summary::L2, v, over, /*keep=*/true);
  Array factor = c.e.div(c.e.reshape(g, shapeOf(size)), size); // g may lack the dims of size 1
  return {c.e.mul(v, c.e.broadcast(factor, shapeOf(v))), size};
}
Results weightNormAlone(OpCall &c) { return IValueList{weightNorm(c).values[0]}; }

#define CLEAVE_AFFINE "T input, T? weight, T? bias, "
#define CLEAVE_RUNNING "T running_mean, T running_var, "
constexpr const char *kOptional =
    CLEAVE_AFFINE "T? running_mean, T? running_var, b training, s momentum, f eps, "
                  "any cudnn_enabled=None";
constexpr const char *kTraining = CLEAVE_AFFINE CLEAVE_RUNNING "b training, s momentum, f eps";
constexpr const char *kMoments = CLEAVE_AFFINE CLEAVE_RUNNING "s momentum, f eps";

constexpr OpEntry kNormalizationOps[] = {
    {"_batch_norm_no_update", kMoments, batchNormNoTraining},
    {"_batch_norm_with_update", kMoments, batchNormWithUpdate},
    {"_fused_rms_norm", "T input, i[] normalized_shape, T? weight, f? eps", rmsNorm},
    {"_native_batch_norm_legit", kTraining, batchNorm},
    {"_native_batch_norm_legit", CLEAVE_AFFINE "b training, s momentum, f eps",
     batchNormNoStatistics},
    {"_native_batch_norm_legit_functional", kTraining, batchNormFunctional},
    {"_native_batch_norm_legit_no_training", kMoments, batchNormNoTraining},
    {"_weight_norm", "T v, T g, i dim=0", weightNormAlone},
    {"_weight_norm_interface", "T v, T g, i dim=0", weightNorm},
    {"batch_norm", kOptional, batchNorm},
    {"group_norm",
     "T input, i num_groups, T? weight=None, T? bias=None, f eps=1e-5, any cudnn_enabled=None",
     groupNorm},
    {"instance_norm",
     CLEAVE_AFFINE "T? running_mean, T? running_var, b use_input_stats, s momentum, f eps, "
                   "any cudnn_enabled=None",
     instanceNorm},
    {"layer_norm",
     "T input, i[] normalized_shape, T? weight=None, T? bias=None, f eps=1e-5, "
     "any cudnn_enable=None",
     layerNorm},
    {"native_batch_norm", kOptional, batchNorm},
    {"native_group_norm", CLEAVE_AFFINE "i N, i C, i HxW, i group, f eps", nativeGroupNorm},
    {"native_layer_norm", "T input, i[] normalized_shape, T? weight, T? bias, f eps",
     nativeLayerNorm},
    {"rms_norm", "T input, i[] normalized_shape, T? weight=None, f? eps=None", rmsNorm},
};

} // namespace

llvm::ArrayRef<OpEntry> normalizationOps() { return kNormalizationOps; }

} // namespace cleave::aten
