// -- transformers ---------------------------------------------------------------------------------
#include "compiler/zoo/Layers.h"

#include <cmath>
#include <limits>

namespace cleave::zoo {

Value linear(Builder &b, const std::string &name, const Value &x, int64_t in, int64_t out,
             bool bias, double deviation) {
  Builder::Module module(b, name);
  Value weight = b.parameter("weight", {out, in}, normal(deviation));
  Value product = b.matmul(x, b.transpose(weight, {1, 0}));
  return bias ? b.add(product, b.parameter("bias", {out}, fill(0))) : product;
}

Value conv1d(Builder &b, const std::string &name, const Value &x, const std::vector<Size> &sizes,
             int64_t in, int64_t out, double deviation) {
  Builder::Module module(b, name);
  Value rows = b.reshape(x, {-1, in});
  Value y = b.op("Gemm", {rows, b.parameter("weight", {in, out}, normal(deviation)),
                          b.parameter("bias", {out}, fill(0))});
  std::vector<Size> back = sizes;
  back.push_back(out);
  return b.reshape(y, back);
}

Value layerNorm(Builder &b, const std::string &name, const Value &x, int64_t size, double epsilon) {
  Builder::Module module(b, name);
  return b.op("LayerNormalization",
              {x, b.parameter("weight", {size}, fill(1)), b.parameter("bias", {size}, fill(0))},
              {attribute("axis", -1), attribute("epsilon", epsilon), attribute("stash_type", 1)});
}

Value rmsNorm(Builder &b, const std::string &name, const Value &x, int64_t size, double epsilon) {
  Builder::Module module(b, name);
  Value square = b.op("Pow", {x, b.number(2)});
  Value mean = b.op("ReduceMean", {square, b.integers({-1})}, {attribute("keepdims", 1)});
  Value root = b.op("Sqrt", {b.add(mean, b.number(epsilon))});
  Value normal = b.mul(x, b.op("Reciprocal", {root}));
  return b.mul(b.parameter("weight", {size}, fill(1)), normal);
}

Value embedding(Builder &b, const std::string &name, const Value &indices, int64_t count,
                int64_t size, double deviation) {
  Builder::Module module(b, name);
  Value table = b.parameter("weight", {count, size}, normal(deviation));
  return b.op("Gather", {table, indices}, {attribute("axis", 0)});
}

Value positions(Builder &b, const std::string &name, Size length, int64_t count, int64_t size) {
  return embedding(b, name, b.range(std::move(length)), count, size);
}

Value gelu(Builder &b, const Value &x, bool tanh) {
  return b.op("Gelu", {x}, {attribute("approximate", tanh ? "tanh" : "none")});
}

Value silu(Builder &b, const Value &x) { return b.mul(x, b.op("Sigmoid", {x})); }

Value splitHeads(Builder &b, const Value &x, Size batch, Size length, int64_t heads, int64_t size) {
  return b.transpose(b.reshape(x, {batch, length, heads, size}), {0, 2, 1, 3});
}

Value joinHeads(Builder &b, const Value &x, Size batch, Size length, int64_t width) {
  return b.reshape(b.transpose(x, {0, 2, 1, 3}), {batch, length, width});
}

Value causalMask(Builder &b, Size queries, Size keys) {
  Value ones = b.expand(b.number(1), {queries, keys});
  Value lower = b.op("Trilu", {ones}, {attribute("upper", 0)});
  Value hidden = b.op("Equal", {lower, b.number(0)});
  return b.op("Where", {hidden, b.number(-std::numeric_limits<float>::max()), b.number(0)});
}

Value attend(Builder &b, const Value &q, const Value &k, const Value &v, const Value &mask,
             double scale) {
  Value root = b.number(std::sqrt(scale));
  Value scores = b.matmul(b.mul(q, root), b.mul(b.transpose(k, {0, 1, 3, 2}), root));
  if (!mask.empty())
    scores = b.add(scores, mask);
  return b.matmul(b.op("Softmax", {scores}, {attribute("axis", -1)}), v);
}

// -- convolutional networks -----------------------------------------------------------------------

Value conv2d(Builder &b, const std::string &name, const Value &x, int64_t in, int64_t out,
             Window window, bool bias) {
  Builder::Module module(b, name);
  int64_t k = window.kernel, p = window.pad, s = window.stride;
  double deviation =
      std::sqrt(2.0 / static_cast<double>(out * k * k)); // He initialisation, fan-out
  std::vector<Value> inputs = {
      x, b.parameter("weight", {out, in / window.groups, k, k}, normal(deviation))};
  if (bias)
    inputs.push_back(b.parameter("bias", {out}, fill(0)));
  return b.op("Conv", inputs,
              {attribute("dilations", Dims{1, 1}), attribute("group", window.groups),
               attribute("kernel_shape", Dims{k, k}), attribute("pads", Dims{p, p, p, p}),
               attribute("strides", Dims{s, s})});
}

Value batchNorm(Builder &b, const std::string &name, const Value &x, int64_t channels) {
  Builder::Module module(b, name);
  return b.op("BatchNormalization",
              {x, b.parameter("weight", {channels}, fill(1)),
               b.parameter("bias", {channels}, fill(0)),
               b.parameter("running_mean", {channels}, fill(0)),
               b.parameter("running_var", {channels}, fill(1))},
              {attribute("epsilon", 1e-5), attribute("momentum", 0.9)});
}

Value relu(Builder &b, const Value &x) { return b.op("Relu", {x}); }

static Value pool(Builder &b, const char *op, const Value &x, Window window) {
  int64_t k = window.kernel, p = window.pad, s = window.stride;
  return b.op(op, {x},
              {attribute("ceil_mode", 0), attribute("kernel_shape", Dims{k, k}),
               attribute("pads", Dims{p, p, p, p}), attribute("strides", Dims{s, s})});
}

Value maxPool(Builder &b, const Value &x, Window window) { return pool(b, "MaxPool", x, window); }

Value averagePool(Builder &b, const Value &x, Window window) {
  return pool(b, "AveragePool", x, window);
}

Value globalAverage(Builder &b, const Value &x, int64_t channels) {
  Value mean = b.op("ReduceMean", {x, b.integers({-1, -2})}, {attribute("keepdims", 1)});
  return b.reshape(mean, {-1, channels});
}

Value classifier(Builder &b, const std::string &name, const Value &x, int64_t in, int64_t out,
                 double deviation) {
  Builder::Module module(b, name);
  return b.op(
      "Gemm",
      {x, b.parameter("weight", {out, in}, normal(deviation)), b.parameter("bias", {out}, fill(0))},
      {attribute("transB", 1)});
}

} // namespace cleave::zoo
