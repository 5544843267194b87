// BERT, T5 and Whisper, with the names of Hugging Face's transformers.
#include "compiler/zoo/Architectures.h"
#include "compiler/zoo/Layers.h"

#include <cmath>
#include <limits>

namespace cleave::zoo {
namespace {

// Attention with projections. Keys and values come from `memory` with `keys` positions, queries
// from `x` with `queries` positions.
struct Attention {
  Size batch, queries, keys;
  int64_t width, heads, size; // of the model; number of heads; of one head
  bool bias = true, keyBias = true;
  double scale = 1;
  const char *q = "q_proj", *k = "k_proj", *v = "v_proj", *out = "out_proj";
};

Value attention(Builder &b, const Attention &a, const Value &x, const Value &memory,
                const Value &mask) {
  int64_t inner = a.heads * a.size;
  Value q =
      splitHeads(b, linear(b, a.q, x, a.width, inner, a.bias), a.batch, a.queries, a.heads, a.size);
  Value k = splitHeads(b, linear(b, a.k, memory, a.width, inner, a.keyBias), a.batch, a.keys,
                       a.heads, a.size);
  Value v = splitHeads(b, linear(b, a.v, memory, a.width, inner, a.bias), a.batch, a.keys, a.heads,
                       a.size);
  bool isScaled = a.scale != 1 || mask.empty(); // T5 does not scale
  Value y = isScaled ? attend(b, q, k, v, mask, a.scale) : Value();
  if (!isScaled) {
    Value scores = b.add(b.matmul(q, b.transpose(k, {0, 1, 3, 2})), mask);
    y = b.matmul(b.op("Softmax", {scores}, {attribute("axis", -1)}), v);
  }
  return linear(b, a.out, joinHeads(b, y, a.batch, a.queries, inner), inner, a.width, a.bias);
}

double rootScale(int64_t size) { return 1 / std::sqrt(static_cast<double>(size)); }

// -- BERT -----------------------------------------------------------------------------------------

// The mask that hides padding: [batch, 1, 1, seq].
Value paddingMask(Builder &b, const Value &attended) {
  Value shown = b.cast(b.op("Unsqueeze", {attended, b.integers({1, 2})}), ElementType::F32);
  return b.mul(b.op("Sub", {b.number(1), shown}), b.number(-std::numeric_limits<float>::max()));
}

Value bertLayer(Builder &b, const Value &x, const Value &mask, Attention a, int64_t inner) {
  a.q = "self.query", a.k = "self.key", a.v = "self.value", a.out = "output.dense";
  Value y;
  {
    Builder::Module module(b, "attention");
    y = attention(b, a, x, x, mask);
    y = layerNorm(b, "output.LayerNorm", b.add(y, x), a.width, 1e-12);
  }
  Value z = gelu(b, linear(b, "intermediate.dense", y, a.width, inner));
  return layerNorm(b, "output.LayerNorm", b.add(linear(b, "output.dense", z, inner, a.width), y),
                   a.width, 1e-12);
}

// -- T5 -------------------------------------------------------------------------------------------

// The bias of every pair of positions, [1, heads, queries, keys], by the bucket of their distance:
// one bucket per distance for near positions, then logarithmic up to 128. A decoder has one
// direction only.
Value relativeBias(Builder &b, Size queries, Size keys, int64_t heads, bool bothWays) {
  Builder::Module module(b, "layer.0.SelfAttention");
  int64_t buckets = bothWays ? 16 : 32, exact = buckets / 2;
  Value distance = b.op("Sub", {b.unsqueeze(b.range(keys), 0), b.unsqueeze(b.range(queries), 1)});
  Value bucket, zero = b.integer(0);
  if (bothWays) {
    Value isAfter = b.cast(b.op("Greater", {distance, zero}), ElementType::I64);
    bucket = b.mul(isAfter, b.integer(buckets));
    distance = b.op("Abs", {distance});
  } else {
    distance = b.op("Neg", {b.op("Min", {distance, zero})});
  }
  Value isNear = b.op("Less", {distance, b.integer(exact)});
  Value far = b.op("Max", {b.cast(distance, ElementType::F32), b.number(1)});
  far = b.op("Log", {b.op("Div", {far, b.number(static_cast<double>(exact))})});
  double perBucket = static_cast<double>(buckets - exact) / std::log(128.0 / double(exact));
  far = b.cast(b.mul(far, b.number(perBucket)), ElementType::I64);
  far = b.op("Min", {b.add(far, b.integer(exact)), b.integer(buckets - 1)});
  Value inBucket = b.op("Where", {isNear, distance, far});
  bucket = bucket.empty() ? inBucket : b.add(bucket, inBucket);
  Value bias = embedding(b, "relative_attention_bias", bucket, 32, heads);
  return b.unsqueeze(b.transpose(bias, {2, 0, 1}), 0);
}

Value t5FeedForward(Builder &b, const Value &x, const Sizes &sizes, int index) {
  int64_t width = sizes.at("hidden"), inner = sizes.at("ffn");
  Builder::Module module(b, concat("layer.", index));
  Value normal = rmsNorm(b, "layer_norm", x, width);
  Builder::Module dense(b, "DenseReluDense");
  Value y =
      linear(b, "wo", relu(b, linear(b, "wi", normal, width, inner, false)), inner, width, false);
  return b.add(x, y);
}

Attention t5Attention(const Sizes &sizes, Size batch, Size queries, Size keys) {
  Attention a{.batch = std::move(batch),
              .queries = std::move(queries),
              .keys = std::move(keys),
              .width = sizes.at("hidden"),
              .heads = sizes.at("heads"),
              .size = sizes.at("head-size")};
  a.bias = a.keyBias = false;
  a.q = "q", a.k = "k", a.v = "v", a.out = "o";
  return a;
}

// One stack; with `memory` (of `length` positions) it is a decoder.
Value t5Stack(Builder &b, const char *name, Value x, Size batch, Size own, const Sizes &sizes,
              const Value &memory, Size length) {
  Builder::Module module(b, name);
  int64_t width = sizes.at("hidden");
  Value bias;
  for (int64_t i = 0; i < sizes.at("layers"); ++i) {
    Builder::Module block(b, concat("block.", i));
    if (bias.empty()) {
      bias = relativeBias(b, own, own, sizes.at("heads"), memory.empty());
      if (!memory.empty())
        bias = b.add(bias, causalMask(b, own, own));
    }
    Attention self = t5Attention(sizes, batch, own, own);
    Value normal = rmsNorm(b, "layer.0.layer_norm", x, width);
    {
      Builder::Module attends(b, "layer.0.SelfAttention");
      x = b.add(x, attention(b, self, normal, normal, bias));
    }
    if (!memory.empty()) {
      Attention cross = t5Attention(sizes, batch, own, length);
      normal = rmsNorm(b, "layer.1.layer_norm", x, width);
      Builder::Module attends(b, "layer.1.EncDecAttention");
      x = b.add(x, attention(b, cross, normal, memory, b.number(0)));
    }
    x = t5FeedForward(b, x, sizes, memory.empty() ? 1 : 2);
  }
  return rmsNorm(b, "final_layer_norm", x, width);
}

// -- Whisper --------------------------------------------------------------------------------------

Value conv1dOfSound(Builder &b, const char *name, const Value &x, int64_t in, int64_t out,
                    int64_t stride) {
  Builder::Module module(b, name);
  return b.op(
      "Conv",
      {x, b.parameter("weight", {out, in, 3}, normal(0.02)), b.parameter("bias", {out}, fill(0))},
      {attribute("dilations", Dims{1}), attribute("group", 1), attribute("kernel_shape", Dims{3}),
       attribute("pads", Dims{1, 1}), attribute("strides", Dims{stride})});
}

Value whisperAttention(Builder &b, const char *name, Attention a, const Value &x,
                       const Value &memory, const Value &mask) {
  Builder::Module module(b, name);
  a.keyBias = false;
  a.scale = rootScale(a.size);
  return attention(b, a, x, memory, mask);
}

Value whisperFeedForward(Builder &b, const Value &x, int64_t width, int64_t inner) {
  Value normal = layerNorm(b, "final_layer_norm", x, width);
  Value y = gelu(b, linear(b, "fc1", normal, width, inner));
  return b.add(x, linear(b, "fc2", y, inner, width));
}

Value whisperEncoder(Builder &b, const Sizes &sizes, const Size &batch) {
  int64_t width = sizes.at("hidden"), heads = sizes.at("heads"), frames = sizes.at("frames");
  std::string mels = std::to_string(sizes.at("mels"));
  Value sound =
      b.input("input_features", ElementType::F32, {"batch", mels, std::to_string(2 * frames)});
  Builder::Module module(b, "model.encoder");
  Value x = gelu(b, conv1dOfSound(b, "conv1", sound, sizes.at("mels"), width, 1));
  x = gelu(b, conv1dOfSound(b, "conv2", x, width, width, 2));
  x = b.transpose(x, {0, 2, 1});
  {
    Builder::Module table(b, "embed_positions");
    x = b.add(x, b.parameter("weight", {frames, width}, normal(0.02)));
  }
  Attention self{.batch = batch,
                 .queries = frames,
                 .keys = frames,
                 .width = width,
                 .heads = heads,
                 .size = width / heads};
  for (int64_t i = 0; i < sizes.at("layers"); ++i) {
    Builder::Module layer(b, concat("layers.", i));
    Value normal = layerNorm(b, "self_attn_layer_norm", x, width);
    x = b.add(x, whisperAttention(b, "self_attn", self, normal, normal, {}));
    x = whisperFeedForward(b, x, width, sizes.at("ffn"));
  }
  return layerNorm(b, "layer_norm", x, width);
}

Value whisperDecoder(Builder &b, const Sizes &sizes, const Value &tokens, const Value &memory,
                     const Size &batch, const Size &length) {
  int64_t width = sizes.at("hidden"), heads = sizes.at("heads");
  Builder::Module module(b, "model.decoder");
  Value x = b.add(embedding(b, "embed_tokens", tokens, sizes.at("vocab"), width),
                  positions(b, "embed_positions", length, sizes.at("context"), width));
  Attention self{.batch = batch,
                 .queries = length,
                 .keys = length,
                 .width = width,
                 .heads = heads,
                 .size = width / heads};
  Attention cross = self;
  cross.keys = sizes.at("frames");
  for (int64_t i = 0; i < sizes.at("layers"); ++i) {
    Builder::Module layer(b, concat("layers.", i));
    Value normal = layerNorm(b, "self_attn_layer_norm", x, width);
    x = b.add(
        x, whisperAttention(b, "self_attn", self, normal, normal, causalMask(b, length, length)));
    normal = layerNorm(b, "encoder_attn_layer_norm", x, width);
    x = b.add(x, whisperAttention(b, "encoder_attn", cross, normal, memory, {}));
    x = whisperFeedForward(b, x, width, sizes.at("ffn"));
  }
  return layerNorm(b, "layer_norm", x, width);
}

} // namespace

void buildBert(Builder &b, const Sizes &sizes) {
  int64_t width = sizes.at("hidden"), heads = sizes.at("heads"), vocabulary = sizes.at("vocab");
  Value tokens = b.input("input_ids", ElementType::I64, {"batch", "seq"});
  Value attended = b.input("attention_mask", ElementType::I64, {"batch", "seq"});
  Value kinds = b.input("token_type_ids", ElementType::I64, {"batch", "seq"});
  Size batch = b.sizeOf(tokens, 0, "batch"), length = b.sizeOf(tokens, 1, "seq");
  Value mask = paddingMask(b, attended), x;
  {
    Builder::Module module(b, "bert.embeddings");
    x = b.add(embedding(b, "word_embeddings", tokens, vocabulary, width),
              embedding(b, "token_type_embeddings", kinds, 2, width));
    x = b.add(x, positions(b, "position_embeddings", length, sizes.at("context"), width));
    x = layerNorm(b, "LayerNorm", x, width, 1e-12);
  }
  for (int64_t i = 0; i < sizes.at("layers"); ++i) {
    Builder::Module layer(b, concat("bert.encoder.layer.", i));
    Attention self{.batch = batch,
                   .queries = length,
                   .keys = length,
                   .width = width,
                   .heads = heads,
                   .size = width / heads};
    self.scale = rootScale(self.size);
    x = bertLayer(b, x, mask, self, sizes.at("ffn"));
  }
  Builder::Module head(b, "cls.predictions");
  x = gelu(b, linear(b, "transform.dense", x, width, width));
  x = layerNorm(b, "transform.LayerNorm", x, width, 1e-12);
  Value table = "bert.embeddings.word_embeddings.weight";
  Value logits =
      b.add(b.matmul(x, b.transpose(table, {1, 0})), b.parameter("bias", {vocabulary}, fill(0)));
  b.output("logits", logits, {"batch", "seq", std::to_string(vocabulary)});
}

void buildT5(Builder &b, const Sizes &sizes) {
  int64_t width = sizes.at("hidden"), vocabulary = sizes.at("vocab");
  Value tokens = b.input("input_ids", ElementType::I64, {"batch", "seq"});
  Value targets = b.input("decoder_input_ids", ElementType::I64, {"batch", "target"});
  Size batch = b.sizeOf(tokens, 0, "batch"), length = b.sizeOf(tokens, 1, "seq");
  Size own = b.sizeOf(targets, 1, "target");
  Value memory = t5Stack(b, "encoder", embedding(b, "shared", tokens, vocabulary, width), batch,
                         length, sizes, {}, 0);
  Value x = t5Stack(b, "decoder", embedding(b, "shared", targets, vocabulary, width), batch, own,
                    sizes, memory, length);
  Builder::Module head(b, "lm_head");
  x = b.mul(x, b.number(rootScale(width)));
  b.output("logits", b.matmul(x, b.transpose("shared.weight", {1, 0})),
           {"batch", "target", std::to_string(vocabulary)});
}

void buildWhisper(Builder &b, const Sizes &sizes) {
  Value tokens = b.input("decoder_input_ids", ElementType::I64, {"batch", "seq"});
  Size batch = b.sizeOf(tokens, 0, "batch"), length = b.sizeOf(tokens, 1, "seq");
  Value memory = whisperEncoder(b, sizes, batch);
  Value x = whisperDecoder(b, sizes, tokens, memory, batch, length);
  Builder::Module head(b, "proj_out");
  b.output("logits", b.matmul(x, b.transpose("model.decoder.embed_tokens.weight", {1, 0})),
           {"batch", "seq", std::to_string(sizes.at("vocab"))});
}

} // namespace cleave::zoo
