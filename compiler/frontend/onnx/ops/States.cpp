// States: operators of language models that carry a state from one call to the next: partial writes
// into caches, causal convolutions, and linear attention.
#include "compiler/frontend/emit/Activation.h"
#include "compiler/frontend/emit/Contraction.h"
#include "compiler/frontend/emit/Convolution.h"
#include "compiler/frontend/emit/Coordinates.h"
#include "compiler/frontend/emit/Elementwise.h"
#include "compiler/frontend/onnx/ops/OpTable.h"

#include <cmath>

namespace cleave::onnx {
namespace {

using namespace emit;

// -- caches ---------------------------------------------------------------------------------------

// One number per line of the batch, broadcast to `dims`.
Value perLine(NodeImport &n, Value numbers, const Sizes &dims) {
  Sizes column(dims.size(), Polynomial(1));
  column[0] = dims[0];
  return n.broadcast(n.reshape(numbers, column), dims);
}

// Writes the update into the cache from index write_indices[line] on.
Values importTensorScatter(NodeImport &n) {
  n.checkInputs(2, 3);
  Value cache = n.input(0), update = n.input(1);
  n.checkSameType(cache, update);
  int64_t axis = n.axisAttribute(-2);
  std::string mode = n.string("mode", "linear");
  if (mode != "linear" && mode != "circular")
    fail("attribute 'mode' is '", mode, "', expected linear or circular");
  Sizes dims = shapeOf(cache);
  Value from = n.iota(dims, axis, n.b.getI64Type()); // index into the update
  if (n.hasInput(2))
    from = n.sub(from, perLine(n, n.cast(n.input(2), n.b.getI64Type()), dims));
  if (mode == "circular")
    from = floorRemainder(n, from, n.splatSize(from, dims[axis]));
  Value last = n.sub(n.splatSize(from, shapeOf(update)[axis]), 1);
  Value isWritten = n.binary<graph::AndOp>(n.compare(Predicate::GE, from, 0),
                                           n.compare(Predicate::LE, from, last));
  Value written = gatherElements(n, update, n.min(n.max(from, 0), last), axis);
  return {n.select(isWritten, written, cache)};
}

// -- causal convolution ---------------------------------------------------------------------------

// A depthwise convolution; the state (or zeros) precedes the first element.
Values importCausalConv(NodeImport &n) {
  constexpr size_t kBias = 2, kState = 3;
  n.checkInputs(2, 4);
  Value x = n.input(0), weight = n.input(1);
  std::string activation = n.string("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    fail("attribute 'activation' is '", activation, "', expected none, silu or swish");
  int64_t channels = n.number(n.dim(x, 1), "number of channels");
  int64_t before = n.number(n.dim(weight, 2), "kernel") - 1;
  Value longer = n.hasInput(kState) ? n.concat({n.input(kState), x}, 2) : n.pad(x, 2, before, 0);
  Value result = convolution(n, longer, weight, n.optionalInput(kBias), Window(), channels);
  Value state = n.slice(longer, 2, n.dim(longer, 2) - Polynomial(before), before);
  return {activation == "none" ? result : silu(n, result), state};
}

// -- linear attention -----------------------------------------------------------------------------

// Inputs of LinearAttention.
namespace linear_attention_inputs {
enum Input : size_t {
  kQuery, // [batch, steps, query heads · size]
  kKey,   // [batch, steps, key heads · size]
  kValue, // [batch, steps, key heads · value size]
  kState, // [batch, key heads, size, value size]
  kDecay, // [batch, steps, key heads · (1 or size)]
  kBeta,  // [batch, steps, 1 or key heads]
};
} // namespace linear_attention_inputs

// The operands and options of LinearAttention.
struct LinearAttention {
  bool isGated = false; // the state decays
  bool isDelta = false; // each step writes the difference to the value that the state predicts
  double scale = 1;     // of the outputs
  Value q, k, v;     // [batch, steps, key heads, …]: queries per key head, size; size; value size
  Value decay, beta; // [batch, steps, key heads, 1 or size]; null: none
};

// Step t of a value [batch, steps, …], without the dim of steps.
Value stepOf(NodeImport &n, Value x, int64_t t) { return n.dropDim(n.slice(x, 1, t, 1), 1); }

// The state [batch, heads, size, value size] after step t.
Value advance(NodeImport &n, const LinearAttention &a, Value state, int64_t t) {
  Sizes dims = shapeOf(state);
  if (a.isGated) {
    n.checkFloat(a.decay);
    Value factor = n.unary<graph::ExpOp>(stepOf(n, a.decay, t));
    state = n.mul(state, n.broadcast(n.insertDim(factor, 3), dims));
  }
  Value key = stepOf(n, a.k, t), value = n.insertDim(stepOf(n, a.v, t), 2);
  if (a.isDelta) {
    value = n.sub(value, matmul(n, n.insertDim(key, 2), state));
    Value rate = n.insertDim(stepOf(n, a.beta, t), 3);
    value = n.mul(value, n.broadcast(rate, shapeOf(value)));
  }
  Value product = n.mul(n.broadcast(n.insertDim(key, 3), dims), n.broadcast(value, dims));
  return n.add(state, product);
}

// [batch, steps, heads · size] -> [batch, steps, heads, size].
Value splitWidth(NodeImport &n, Value x, int64_t count) {
  Sizes d = shapeOf(x);
  int64_t width = n.number(d.back(), "width");
  if (d.size() != 3 || width % count)
    fail("has data ", showShape(d), " for ", count, " heads");
  return n.reshape(x, {d[0], d[1], count, width / count});
}

LinearAttention readLinearAttention(NodeImport &n, int64_t queryHeads, int64_t keyHeads) {
  using namespace linear_attention_inputs;
  LinearAttention a;
  std::string rule = n.string("update_rule", "gated_delta");
  a.isGated = rule == "gated" || rule == "gated_delta";
  a.isDelta = rule == "delta" || rule == "gated_delta";
  if (!a.isGated && !a.isDelta && rule != "linear")
    fail("attribute 'update_rule' is '", rule, "', expected linear, gated, delta or gated_delta");
  if (keyHeads < 1 || queryHeads < 1 || queryHeads % keyHeads)
    fail("has ", queryHeads, " heads of queries for ", keyHeads, " of keys");
  Value q = splitWidth(n, n.input(kQuery), queryHeads);
  Sizes d = shapeOf(q);
  a.q = n.reshape(q, {d[0], d[1], keyHeads, queryHeads / keyHeads, d[3]});
  a.k = splitWidth(n, n.input(kKey), keyHeads);
  a.v = splitWidth(n, n.input(kValue), keyHeads);
  if (a.isGated)
    a.decay = splitWidth(n, n.input(kDecay), keyHeads);
  if (a.isDelta) {
    Value beta = n.input(kBeta);
    Sizes one = shapeOf(beta);
    one.back() = keyHeads;
    a.beta = n.insertDim(n.broadcast(beta, one), 3);
  }
  double scale = n.decimal("scale", 0);
  a.scale = scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(n.number(d[3], "head size")));
  return a;
}

Values importLinearAttention(NodeImport &n) {
  n.checkInputs(3, 6);
  n.ignore({"chunk_size"});
  LinearAttention a =
      readLinearAttention(n, n.requiredInteger("q_num_heads"), n.requiredInteger("kv_num_heads"));
  Sizes k = shapeOf(a.k), v = shapeOf(a.v);
  n.checkFloat(a.k);
  int64_t steps = n.number(k[1], "number of steps");
  constexpr int64_t kMaxSteps = 4096; // each is unrolled
  if (steps > kMaxSteps)
    fail("has ", steps, " steps, expected at most ", kMaxSteps);
  Value state = n.optionalInput(linear_attention_inputs::kState);
  if (!state)
    state = n.splat({k[0], k[2], k[3], v[3]}, elementOf(a.k), 0);
  Values outputs;
  for (int64_t t = 0; t < steps; ++t) {
    state = advance(n, a, state, t);
    Value read = matmul(n, stepOf(n, a.q, t), state);
    Polynomial width = product(shapeOf(read).dropFront(1));
    outputs.push_back(n.reshape(n.mul(read, a.scale), {k[0], 1, width}));
  }
  return {n.concat(outputs, 1), state};
}

constexpr OpEntry kStatesOps[] = {
    {"CausalConvWithState", 27, importCausalConv},
    {"LinearAttention", 27, importLinearAttention},
    {"TensorScatter", 24, importTensorScatter},
};

} // namespace

llvm::ArrayRef<OpEntry> stateOps() { return kStatesOps; }

} // namespace cleave::onnx
