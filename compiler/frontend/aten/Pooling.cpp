// Pooling over windows, and to given sizes.
#include "compiler/frontend/emit/Pooling.h"
#include "compiler/frontend/aten/OpCall.h"

namespace cleave::aten {
namespace {

// `rank` spatial dims; a missing batch dim is put in front and taken away again.
template <typename Pool> Results pooledBatch(OpCall &c, int64_t rank, Pool pool) {
  Array x = c.tensor("self");
  c.e.checkFloat(x);
  if (rankOf(x) != rank + 1 && rankOf(x) != rank + 2)
    fail("has data ", emit::showShape(shapeOf(x)), ", expected ", rank, " spatial dims");
  bool hasBatch = rankOf(x) == rank + 2;
  Array out = pool(hasBatch ? x : c.e.insertDim(x, 0));
  return hasBatch ? out : c.e.dropDim(out, 0);
}

Ints perDim(OpCall &c, const char *name, int64_t rank) {
  Ints values = c.plainIntegers(name);
  if (values.size() == 1)
    values.assign(rank, values[0]);
  if (static_cast<int64_t>(values.size()) != rank)
    fail("has ", values.size(), " entries as '", name, "' for ", rank, " spatial dims");
  return values;
}

emit::PoolOptions optionsOf(OpCall &c, int64_t rank, bool hasDilation) {
  emit::PoolOptions out;
  out.window.kernel = perDim(c, "kernel_size", rank);
  bool hasStride = c.has("stride") && !(c["stride"].isList() && c["stride"].items().empty());
  out.window.strides = hasStride ? perDim(c, "stride", rank) : out.window.kernel;
  out.window.padsLow = out.window.padsHigh = perDim(c, "padding", rank);
  if (hasDilation)
    out.window.dilations = perDim(c, "dilation", rank);
  out.ceil = c.boolean("ceil_mode");
  return out;
}

// Returns the pooled values; the places of adaptive poolings are not supported.
Results withoutPlaces(const Results &pooled) { return IValueList{pooled.values[0], IValue()}; }

template <int64_t rank> Results maxPool(OpCall &c) {
  return pooledBatch(c, rank,
                     [&](Array x) { return emit::maxPool(c.e, x, optionsOf(c, rank, true)); });
}

template <int64_t rank> Results maxPoolAndPlaces(OpCall &c) {
  Results places = pooledBatch(
      c, rank, [&](Array x) { return emit::maxPoolPlaces(c.e, x, optionsOf(c, rank, true)); });
  return IValueList{maxPool<rank>(c).values[0], places.values[0]};
}

// Each element at its place among zeros.
template <int64_t rank> Results maxUnpool(OpCall &c) {
  Array x = c.tensor("self");
  Sizes shape = shapeOf(x), to = c.integers("output_size");
  if (static_cast<int64_t>(to.size()) != rank || static_cast<int64_t>(shape.size()) < rank)
    fail("puts ", emit::showShape(shape), " into ", emit::showShape(to), ", expected ", rank,
         " spatial dims");
  Sizes outer(shape.begin(), shape.end() - rank), out = outer;
  Sizes flat{1, emit::product(outer), emit::product(shape.dropFront(outer.size()))};
  Array places = c.e.reshape(c.tensor("indices"), flat);
  out.insert(out.end(), to.begin(), to.end());
  return c.e.reshape(emit::maxUnpool(c.e, c.e.reshape(x, flat), places, emit::product(to)), out);
}

template <int64_t rank> Results averagePool(OpCall &c) {
  emit::PoolOptions options = optionsOf(c, rank, false);
  options.countPadding = c.boolean("count_include_pad");
  return pooledBatch(c, rank, [&](Array x) {
    if (!c.has("divisor_override"))
      return emit::averagePool(c.e, x, options);
    return c.e.div(emit::sumPool(c.e, x, options), c.number("divisor_override"));
  });
}

// The requested sizes; None keeps the size.
Ints outputSize(OpCall &c, Array x, int64_t rank) {
  const IValue &value = c["output_size"];
  Ints sizes;
  IValueList items = value.isList() ? value.items() : IValueList{value};
  if (items.size() == 1)
    items.assign(rank, items[0]);
  if (static_cast<int64_t>(items.size()) != rank)
    fail("has ", items.size(), " output sizes for ", rank, " spatial dims");
  for (int64_t i = 0; i < rank; ++i) {
    Polynomial size =
        items[i].isNone() ? c.e.dim(x, 2 + i) : integerOf(c.context, items[i], "'output_size'");
    sizes.push_back(c.e.number(size, "the output size"));
  }
  return sizes;
}

template <int64_t rank> Results adaptiveAverage(OpCall &c) {
  return pooledBatch(
      c, rank, [&](Array x) { return emit::adaptiveAveragePool(c.e, x, outputSize(c, x, rank)); });
}
template <int64_t rank> Results adaptiveMax(OpCall &c) {
  return withoutPlaces(pooledBatch(
      c, rank, [&](Array x) { return emit::adaptiveMaxPool(c.e, x, outputSize(c, x, rank)); }));
}

constexpr const char *kMax = "T self, i[] kernel_size, i[] stride=[], i[] padding=0, "
                             "i[] dilation=1, b ceil_mode=False";
constexpr const char *kAverage = "T self, i[] kernel_size, i[] stride=[], i[] padding=0, "
                                 "b ceil_mode=False, b count_include_pad=True, "
                                 "i? divisor_override=None";
constexpr const char *kOutputSize = "T self, i?[] output_size";

constexpr OpEntry kPoolingOps[] = {
    {"_adaptive_avg_pool2d", kOutputSize, adaptiveAverage<2>},
    {"_adaptive_avg_pool3d", kOutputSize, adaptiveAverage<3>},
    {"adaptive_avg_pool1d", kOutputSize, adaptiveAverage<1>},
    {"adaptive_avg_pool2d", kOutputSize, adaptiveAverage<2>},
    {"adaptive_avg_pool3d", kOutputSize, adaptiveAverage<3>},
    {"adaptive_max_pool1d", kOutputSize, adaptiveMax<1>},
    {"adaptive_max_pool2d", kOutputSize, adaptiveMax<2>},
    {"adaptive_max_pool3d", kOutputSize, adaptiveMax<3>},
    {"avg_pool1d", kAverage, averagePool<1>},
    {"avg_pool2d", kAverage, averagePool<2>},
    {"avg_pool3d", kAverage, averagePool<3>},
    {"max_pool1d", kMax, maxPool<1>},
    {"max_pool1d_with_indices", kMax, maxPoolAndPlaces<1>},
    {"max_pool2d", kMax, maxPool<2>},
    {"max_pool2d_with_indices", kMax, maxPoolAndPlaces<2>},
    {"max_pool3d", kMax, maxPool<3>},
    {"max_pool3d_with_indices", kMax, maxPoolAndPlaces<3>},
    {"max_unpool2d", "T self, T indices, i[] output_size", maxUnpool<2>},
    {"max_unpool3d", "T self, T indices, i[] output_size, i[] stride, i[] padding", maxUnpool<3>},
};

} // namespace

llvm::ArrayRef<OpEntry> poolingOps() { return kPoolingOps; }

} // namespace cleave::aten
