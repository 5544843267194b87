// GPT-2 and GPT-3, Llama, and Mixtral, with the names of Hugging Face's transformers.
#include "compiler/zoo/Architectures.h"
#include "compiler/zoo/Layers.h"

#include <cmath>
#include <limits>

namespace cleave::zoo {
namespace {

// The two sizes of the token input.
struct Tokens {
  Size batch, length;
};

Tokens tokensOf(Builder &b, const Value &tokens) {
  return {b.sizeOf(tokens, 0, "batch"), b.sizeOf(tokens, 1, "seq")};
}

// -- GPT ------------------------------------------------------------------------------------------

Value gptAttention(Builder &b, const Value &x, const Tokens &at, const Sizes &sizes) {
  Builder::Module module(b, "attn");
  int64_t width = sizes.at("hidden"), heads = sizes.at("heads"), size = width / heads;
  std::vector<Value> qkv =
      b.split(conv1d(b, "c_attn", x, {at.batch, at.length}, width, 3 * width), 3);
  for (Value &part : qkv)
    part = splitHeads(b, part, at.batch, at.length, heads, size);
  Value y = attend(b, qkv[0], qkv[1], qkv[2], causalMask(b, at.length, at.length),
                   1 / std::sqrt(static_cast<double>(size)));
  double deviation = 0.02 / std::sqrt(2.0 * static_cast<double>(sizes.at("layers")));
  return conv1d(b, "c_proj", joinHeads(b, y, at.batch, at.length, width), {at.batch, at.length},
                width, width, deviation);
}

Value gptFeedForward(Builder &b, const Value &x, const Tokens &at, const Sizes &sizes) {
  Builder::Module module(b, "mlp");
  int64_t width = sizes.at("hidden"), inner = sizes.at("ffn");
  Value y = gelu(b, conv1d(b, "c_fc", x, {at.batch, at.length}, width, inner), /*tanh=*/true);
  double deviation = 0.02 / std::sqrt(2.0 * static_cast<double>(sizes.at("layers")));
  return conv1d(b, "c_proj", y, {at.batch, at.length}, inner, width, deviation);
}

// -- Llama ----------------------------------------------------------------------------------------

// Cosines and sines of the rotary positions, [1, 1, length, size].
struct Rotation {
  Value cos, sin;
};

Rotation rotation(Builder &b, Size length, int64_t size, double base) {
  Builder::Module module(b, "rotary_emb");
  std::vector<float> frequencies;
  for (int64_t i = 0; i < size; i += 2)
    frequencies.push_back(
        static_cast<float>(std::pow(base, -static_cast<double>(i) / static_cast<double>(size))));
  Value frequency = b.floats(frequencies, {1, size / 2});
  Value position = b.unsqueeze(b.cast(b.range(std::move(length)), ElementType::F32), 1);
  Value angles = b.matmul(position, frequency);
  angles = b.op("Concat", {angles, angles}, {attribute("axis", -1)});
  angles = b.op("Unsqueeze", {angles, b.integers({0, 1})});
  return {b.op("Cos", {angles}), b.op("Sin", {angles})};
}

Value rotate(Builder &b, const Value &x, const Rotation &by, int64_t size) {
  Value first = b.slice(x, 3, 0, size / 2);
  Value second = b.slice(x, 3, size / 2, std::numeric_limits<int64_t>::max());
  Value rotated = b.op("Concat", {b.op("Neg", {second}), first}, {attribute("axis", -1)});
  return b.add(b.mul(x, by.cos), b.mul(rotated, by.sin));
}

// Repeats every head of keys and values for the heads of queries that share it.
Value repeatHeads(Builder &b, const Value &x, const Tokens &at, int64_t heads, int64_t times,
                  int64_t size) {
  if (times == 1)
    return x;
  Value spread = b.expand(b.unsqueeze(x, 2), {at.batch, heads, times, at.length, size});
  return b.reshape(spread, {at.batch, heads * times, at.length, size});
}

Value llamaAttention(Builder &b, const Value &x, const Tokens &at, const Rotation &rotation,
                     const Sizes &sizes) {
  Builder::Module module(b, "self_attn");
  int64_t width = sizes.at("hidden"), heads = sizes.at("heads"), groups = sizes.at("kv-heads");
  int64_t size = width / heads;
  auto project = [&](const char *name, int64_t count) {
    return splitHeads(b, linear(b, name, x, width, count * size, false), at.batch, at.length, count,
                      size);
  };
  Value q = rotate(b, project("q_proj", heads), rotation, size);
  Value k = rotate(b, project("k_proj", groups), rotation, size);
  k = repeatHeads(b, k, at, groups, heads / groups, size);
  Value v = repeatHeads(b, project("v_proj", groups), at, groups, heads / groups, size);
  Value y = attend(b, q, k, v, causalMask(b, at.length, at.length),
                   1 / std::sqrt(static_cast<double>(size)));
  return linear(b, "o_proj", joinHeads(b, y, at.batch, at.length, width), width, width, false);
}

Value gatedFeedForward(Builder &b, const Value &x, const Sizes &sizes) {
  Builder::Module module(b, "mlp");
  int64_t width = sizes.at("hidden"), inner = sizes.at("ffn");
  Value gate = silu(b, linear(b, "gate_proj", x, width, inner, false));
  Value up = linear(b, "up_proj", x, width, inner, false);
  return linear(b, "down_proj", b.mul(gate, up), inner, width, false);
}

// -- mixture of experts ---------------------------------------------------------------------------

// The router's weights: [batch, seq, experts], 0 for experts that are not chosen. The best expert
// is chosen `top-k` times, each time among the remaining ones.
Value route(Builder &b, const Value &x, const Sizes &sizes) {
  Builder::Module module(b, "gate");
  int64_t times = sizes.at("top-k");
  Value scores = linear(b, "", x, sizes.at("hidden"), sizes.at("experts"), false);
  Value odds = b.op("Softmax", {scores}, {attribute("axis", -1)});
  Value left = odds, zero = b.number(0), chosen;
  for (int64_t i = 0; i < times; ++i) {
    Value best = b.op("ReduceMax", {left, b.integers({-1})}, {attribute("keepdims", 1)});
    Value isBest = b.op("Equal", {left, best});
    chosen = chosen.empty() ? isBest : b.op("Or", {chosen, isBest});
    left = b.op("Where", {isBest, b.number(-1), left});
  }
  Value weights = b.op("Where", {chosen, odds, zero});
  Value sum = b.op("ReduceSum", {weights, b.integers({-1})}, {attribute("keepdims", 1)});
  return b.op("Div", {weights, sum});
}

// The capacity of an expert in tokens of a sequence: 1.25 times its fair share.
Size capacity(Builder &b, const Tokens &at, const Sizes &sizes) {
  int64_t numerator = sizes.at("top-k") * 5, denominator = sizes.at("experts") * 4;
  if (at.length.value.empty())
    return (at.length.number * numerator + denominator - 1) / denominator;
  Value scaled = b.mul(at.length.value, b.integers({numerator}));
  return Size(
      b.op("Div", {b.add(scaled, b.integers({denominator - 1})), b.integers({denominator})}));
}

// Tokens are dispatched to experts by products with a 0/1 tensor [batch, experts, capacity, seq];
// tokens beyond an expert's capacity only pass through the residual connection.
Value mixture(Builder &b, const Value &x, const Tokens &at, const Sizes &sizes) {
  Builder::Module module(b, "block_sparse_moe");
  int64_t width = sizes.at("hidden"), inner = sizes.at("ffn"), experts = sizes.at("experts");
  Value weights = b.transpose(route(b, x, sizes), {0, 2, 1}); // [batch, experts, seq]
  Value chosen = b.cast(b.op("Greater", {weights, b.number(0)}), ElementType::F32);
  // Per expert and token the number of tokens up to this one that chose the expert: a product with
  // a triangle of ones.
  Value ones = b.expand(b.number(1), {at.length, at.length});
  Value count = b.matmul(chosen, b.op("Trilu", {ones}, {attribute("upper", 1)}));
  Size room = capacity(b, at, sizes);
  Value place = b.op("Sub", {b.mul(count, chosen), b.number(1)}); // -1: not chosen
  Value slots = b.unsqueeze(b.cast(b.range(room), ElementType::F32), 1);
  Value given = b.cast(b.op("Equal", {b.unsqueeze(place, 2), slots}), ElementType::F32);
  Value taken = b.matmul(given, b.unsqueeze(x, 1)); // [batch, experts, capacity, hidden]
  Builder::Module expertsModule(b, "experts");
  Value gate = silu(b, b.matmul(taken, b.parameter("w1", {experts, width, inner}, normal(0.02))));
  Value up = b.matmul(taken, b.parameter("w3", {experts, width, inner}, normal(0.02)));
  Value y = b.matmul(b.mul(gate, up), b.parameter("w2", {experts, inner, width}, normal(0.02)));
  Value back = b.transpose(b.mul(given, b.unsqueeze(weights, 2)), {0, 1, 3, 2});
  return b.op("ReduceSum", {b.matmul(back, y), b.integers({1})}, {attribute("keepdims", 0)});
}

} // namespace

void buildGpt(Builder &b, const Sizes &sizes) {
  int64_t width = sizes.at("hidden"), vocabulary = sizes.at("vocab");
  Value tokens = b.input("input_ids", ElementType::I64, {"batch", "seq"}), table, x;
  Tokens at = tokensOf(b, tokens);
  {
    Builder::Module module(b, "transformer");
    x = b.add(embedding(b, "wte", tokens, vocabulary, width),
              positions(b, "wpe", at.length, sizes.at("context"), width));
    for (int64_t i = 0; i < sizes.at("layers"); ++i) {
      Builder::Module layer(b, concat("h.", i));
      x = b.add(gptAttention(b, layerNorm(b, "ln_1", x, width), at, sizes), x);
      x = b.add(x, gptFeedForward(b, layerNorm(b, "ln_2", x, width), at, sizes));
    }
    x = layerNorm(b, "ln_f", x, width);
    Builder::Module tied(b, "wte");
    table = b.parameter("weight", {vocabulary, width}, normal(0.02));
  }
  Builder::Module head(b, "lm_head");
  b.output("logits", b.matmul(x, b.transpose(table, {1, 0})),
           {"batch", "seq", std::to_string(vocabulary)});
}

void buildLlama(Builder &b, const Sizes &sizes) {
  int64_t width = sizes.at("hidden"), vocabulary = sizes.at("vocab");
  Value tokens = b.input("input_ids", ElementType::I64, {"batch", "seq"}), x;
  Tokens at = tokensOf(b, tokens);
  {
    Builder::Module module(b, "model");
    x = embedding(b, "embed_tokens", tokens, vocabulary, width);
    Rotation rotation = zoo::rotation(b, at.length, width / sizes.at("heads"),
                                      static_cast<double>(sizes.at("rope-base")));
    for (int64_t i = 0; i < sizes.at("layers"); ++i) {
      Builder::Module layer(b, concat("layers.", i));
      Value normal = rmsNorm(b, "input_layernorm", x, width, 1e-5);
      x = b.add(x, llamaAttention(b, normal, at, rotation, sizes));
      normal = rmsNorm(b, "post_attention_layernorm", x, width, 1e-5);
      x = b.add(x, sizes.contains("experts") ? mixture(b, normal, at, sizes)
                                             : gatedFeedForward(b, normal, sizes));
    }
    x = rmsNorm(b, "norm", x, width, 1e-5);
  }
  b.output("logits", linear(b, "lm_head", x, width, vocabulary, false),
           {"batch", "seq", std::to_string(vocabulary)});
}

} // namespace cleave::zoo
