// Attention of the domain com.microsoft: packed projections, masks in several forms, caches of keys
// and values.
#include "compiler/frontend/emit/Attention.h"
#include "compiler/frontend/emit/Contraction.h"
#include "compiler/frontend/emit/Elementwise.h"
#include "compiler/frontend/emit/Quantization.h"
#include "compiler/frontend/onnx/ops/OpTable.h"

namespace cleave::onnx {
namespace {

using namespace emit;

// -- inputs of the operators, with their shapes ---------------------------------------------------
// size: features of one head; features: heads · size; room: steps that a cache can hold; keys: past
// and new steps together.

namespace attention_inputs {
enum Input : size_t {
  kData,    // [batch, steps, width]
  kWeights, // [width, query, key and value features side by side]
  kBias,    // [query, key and value features]
  kMask,    // see keyMask
  kPast,    // [2, batch, heads, past steps, size]: keys and values
  kAddend,  // added to the scores, broadcast to [batch, heads, steps, keys]
};
} // namespace attention_inputs

namespace quantized_attention_inputs {
enum Input : size_t {
  kData,            // as in Attention, in integers
  kWeights,         // as in Attention, in integers
  kBias,            // as in Attention
  kDataScale,       // scalar
  kWeightScale,     // scalar, or one per column of the weights
  kMask,            // as in Attention
  kDataZeroPoint,   // as kDataScale
  kWeightZeroPoint, // as kWeightScale
  kPast,            // as in Attention
  kCount,
};
} // namespace quantized_attention_inputs

namespace multi_head_inputs {
enum Input : size_t {
  kQuery,            // [batch, steps, features]
  kKey,              // [batch, keys, features], or [batch, heads, keys, size] with heads split
  kValue,            // as kKey
  kBias,             // [query, key and value features]
  kKeyMask,          // see keyMask
  kAddend,           // added to the scores, broadcast to [batch, heads, steps, keys]
  kPastKey,          // [batch, heads, past steps, size]
  kPastValue,        // as kPastKey
  kPastLength,       // not imported
  kCacheIndirection, // not imported
  kCount,
};
} // namespace multi_head_inputs

namespace group_query_inputs {
enum Input : size_t {
  kQuery,       // [batch, steps, features], or queries, keys and values side by side
  kKey,         // [batch, steps, key features]; left out where packed in kQuery
  kValue,       // as kKey
  kPastKey,     // [batch, key heads, room, size]
  kPastValue,   // as kPastKey
  kKeyCounts,   // [batch] or [batch, 1]: keys of each line, past ones included, minus 1
  kTotalLength, // scalar: the largest number of keys of a line
  kCosines,     // [positions, angles]
  kSines,       // as kCosines
  kPositions,   // [batch, steps]
  kAddend,      // added to the scores, broadcast to [batch, heads, steps, keys]
  kCount,
};
} // namespace group_query_inputs

namespace rotary_inputs {
enum Input : size_t {
  kData,      // [batch, steps, width] or [batch, heads, steps, size]
  kPositions, // [1] (of the first step) or [batch, steps]
  kCosines,   // [positions, angles]
  kSines,     // as kCosines
};
} // namespace rotary_inputs

// -- common parts ---------------------------------------------------------------------------------

// [batch, steps, heads · size] -> [batch, heads, steps, size].
Value splitHeads(Emitter &e, Value x, int64_t heads) {
  Sizes d = shapeOf(x);
  int64_t width = d.size() == 3 ? e.number(d[2], "the width") : 0;
  if (heads < 1 || width == 0 || width % heads)
    fail("has data ", showShape(d), " for ", heads, " heads");
  return e.swapDims(e.reshape(x, {d[0], d[1], heads, width / heads}), 1, 2);
}

// [batch, heads, steps, size] -> [batch, steps, heads · size].
Value joinHeads(Emitter &e, Value x) {
  Sizes d = shapeOf(x);
  return e.reshape(e.swapDims(x, 1, 2), {d[0], d[2], d[1] * d[3]});
}

// A bool mask as numbers that are added to scores: 0 where it is true, else `below`.
Value asNumbers(Emitter &e, Value mask, mlir::Type element, double below) {
  Value zero = e.splat(shapeOf(mask), element, 0);
  return e.select(mask, zero, e.splat(zero, below));
}

// A mask of keys as bool [batch, 1, 1 or queries, keys], true for visible keys. The operand has one
// of these forms:
//   [batch]                                   the number of visible keys, which come first
//   [2 batch]                                 the visible range: all ends, then all begins
//   [batch, keys] or [batch, queries, keys]   not zero: visible
Value keyMask(Emitter &e, Value mask, const Polynomial &batch, const Polynomial &keys) {
  Sizes d = shapeOf(mask);
  if (d.size() == 1) {
    Sizes dims{batch, keys};
    Value place = e.iota(dims, 1, elementOf(mask));
    auto line = [&](const Polynomial &start) {
      return e.broadcast(e.insertDim(e.slice(mask, 0, start, batch), 1), dims);
    };
    if (d[0] != batch && d[0] != batch * 2)
      fail("has a mask ", showShape(d), " for ", batch.str(),
           " lines, expected one number for each, or two");
    Value isBefore = e.compare(Predicate::LT, place, line(0));
    mask = d[0] == batch
               ? isBefore
               : e.binary<graph::AndOp>(isBefore, e.compare(Predicate::GE, place, line(batch)));
  } else {
    mask = e.cast(mask, e.b.getI1Type());
  }
  d = shapeOf(mask);
  if (d.size() == 2)
    return e.reshape(mask, {d[0], 1, 1, d[1]});
  if (d.size() == 3)
    return e.insertDim(mask, 1);
  fail("has a mask ", showShape(d), ", expected 1 to 3 dims");
}

// The operands of the attention with which all operators end.
struct AttentionParts {
  Value q, k, v;         // [batch, heads, steps, size]
  Value keyMask, addend; // may be null
  bool causal = false;
  double filter = -10000; // added to the scores of masked keys
};

// The addend of the scores: that of the mask and the given one together. Null if there is none.
Value addendOf(Emitter &e, const AttentionParts &parts) {
  if (!parts.keyMask)
    return parts.addend;
  Value mask = asNumbers(e, parts.keyMask, elementOf(parts.q), parts.filter);
  if (!parts.addend)
    return mask;
  Value other = parts.addend;
  e.broadcastTogether(mask, other);
  return e.add(mask, other);
}

emit::AttentionOptions commonOptions(NodeImport &n, Emitter &e, const AttentionParts &parts) {
  emit::AttentionOptions options;
  if (double scale = n.decimal("scale", 0))
    options.scale = scale;
  options.mask = addendOf(e, parts);
  options.causal = parts.causal;
  options.offset = e.dim(parts.k, 2) - e.dim(parts.q, 2);
  return options;
}

// -- Attention and QAttention ---------------------------------------------------------------------

// The inputs that both operators have, by their numbers.
struct PackedInputs {
  size_t mask, past;
  std::optional<size_t> addend;
};

// Attention on queries, keys and values side by side, [batch, steps, features].
Values packedAttention(NodeImport &n, Value projected, const PackedInputs &inputs) {
  Emitter &e = n;
  int64_t heads = n.requiredInteger("num_heads");
  if (n.integer("do_rotary", 0) || n.integer("past_present_share_buffer", 0))
    fail("rotates queries and keys (do_rotary) or shares a buffer, which Cleave does not import");
  n.ignore({"rotary_embedding_dim"}); // of do_rotary
  int64_t width = e.number(e.dim(projected, 2), "the projection's width");
  Ints sizes = n.integers("qkv_hidden_sizes").value_or(Ints{width / 3, width / 3, width / 3});
  if (sizes.size() != 3 || Polynomial(sizes[0]) + sizes[1] + sizes[2] != Polynomial(width))
    fail("projects to ", width, " features, expected ", showInts(sizes));
  AttentionParts parts;
  parts.filter = n.decimal("mask_filter_value", -10000);
  parts.causal = n.integer("unidirectional", 0);
  parts.q = splitHeads(e, e.slice(projected, 2, 0, sizes[0]), heads);
  parts.k = splitHeads(e, e.slice(projected, 2, sizes[0], sizes[1]), heads);
  parts.v = splitHeads(e, e.slice(projected, 2, sizes[0] + sizes[1], sizes[2]), heads);
  if (n.hasInput(inputs.past)) {
    Value past = n.input(inputs.past);
    parts.k = e.concat({e.dropDim(e.slice(past, 0, 0, 1), 0), parts.k}, 2);
    parts.v = e.concat({e.dropDim(e.slice(past, 0, 1, 1), 0), parts.v}, 2);
  }
  if (n.hasInput(inputs.mask))
    parts.keyMask = keyMask(e, n.input(inputs.mask), e.dim(parts.k, 0), e.dim(parts.k, 2));
  if (inputs.addend)
    parts.addend = n.optionalInput(*inputs.addend);
  Value present;
  if (n.hasOutput(1))
    present = e.concat({e.insertDim(parts.k, 0), e.insertDim(parts.v, 0)}, 0);
  Value output = emit::attention(e, parts.q, parts.k, parts.v, commonOptions(n, e, parts)).output;
  return {joinHeads(e, output), present};
}

Values importContribAttention(NodeImport &n) {
  using namespace attention_inputs;
  n.checkInputs(2, 6);
  Emitter &e = n;
  Value projected = emit::matmul(e, n.input(kData), n.input(kWeights));
  if (n.hasInput(kBias))
    projected = e.add(projected, e.broadcast(n.input(kBias), shapeOf(projected)));
  return packedAttention(n, projected, {.mask = kMask, .past = kPast, .addend = kAddend});
}

// The same with data and weights in integers.
Values importQuantizedAttention(NodeImport &n) {
  using namespace quantized_attention_inputs;
  n.checkInputs(5, kCount);
  Emitter &e = n;
  Value x =
      emit::dequantize(e, n.input(kData), n.input(kDataScale), n.optionalInput(kDataZeroPoint), 0);
  Value weight = emit::dequantize(e, n.input(kWeights), n.input(kWeightScale),
                                  n.optionalInput(kWeightZeroPoint), 1);
  Value projected = emit::matmul(e, x, weight);
  projected = e.add(projected, e.broadcast(n.input(kBias), shapeOf(projected)));
  return packedAttention(n, projected, {.mask = kMask, .past = kPast, .addend = std::nullopt});
}

// -- MultiHeadAttention ---------------------------------------------------------------------------

// x plus the part of a bias for all three projections that begins at `start`; x if there is no
// bias.
Value addBias(Emitter &e, Value x, Value bias, const Polynomial &start) {
  if (!bias)
    return x;
  return e.add(x, e.broadcast(e.slice(bias, 0, start, e.dim(x, 2)), shapeOf(x)));
}

// Past keys (values) at input `past`, if present, before the new ones.
Value withPast(NodeImport &n, Emitter &e, size_t past, Value now) {
  return n.hasInput(past) ? e.concat({n.input(past), now}, 2) : now;
}

Values importMultiHead(NodeImport &n) {
  using namespace multi_head_inputs;
  n.checkInputs(1, kCount);
  Emitter &e = n;
  int64_t heads = n.requiredInteger("num_heads");
  if (!n.hasInput(kKey) || !n.hasInput(kValue) || n.hasInput(kPastLength) ||
      n.hasInput(kCacheIndirection))
    fail("has packed operands or shares a buffer, which Cleave does not import; export it with "
         "separate queries, keys and values");
  Value bias = n.optionalInput(kBias);
  Value q = n.input(kQuery), k = n.input(kKey), v = n.input(kValue);
  Polynomial width = e.dim(q, 2);
  AttentionParts parts;
  parts.filter = n.decimal("mask_filter_value", -10000);
  parts.causal = n.integer("unidirectional", 0);
  parts.q = splitHeads(e, addBias(e, q, bias, 0), heads);
  bool isSplit = rankOf(k) == 4; // keys and values of a cross attention
  parts.k = isSplit ? k : splitHeads(e, addBias(e, k, bias, width), heads);
  parts.v = isSplit ? v : splitHeads(e, addBias(e, v, bias, width * 2), heads);
  parts.k = withPast(n, e, kPastKey, parts.k);
  parts.v = withPast(n, e, kPastValue, parts.v);
  if (n.hasInput(kKeyMask))
    parts.keyMask = keyMask(e, n.input(kKeyMask), e.dim(parts.k, 0), e.dim(parts.k, 2));
  parts.addend = n.optionalInput(kAddend);
  emit::AttentionResult result =
      emit::attention(e, parts.q, parts.k, parts.v, commonOptions(n, e, parts));
  return {joinHeads(e, result.output), parts.k, parts.v};
}

// -- GroupQueryAttention --------------------------------------------------------------------------

// x [batch, heads, steps, size] rotated by the angles at `positions` [batch, steps] of two tables
// [positions, angles].
Value rotated(Emitter &e, Value x, Value positions, Value cosines, Value sines, bool interleaved) {
  auto rows = [&](Value table) -> Value {
    Value found = e.gather(table, positions, 0);
    return e.insertDim(found, 1);
  };
  Value cosine = rows(cosines), sine = rows(sines);
  int64_t size = e.number(e.dim(cosine, 3), "the width of the angles") * 2;
  return emit::rotate(e, x, cosine, sine, size, interleaved);
}

// Positions [batch, steps] of the new steps after `past` [batch] earlier ones.
Value positionsFrom(Emitter &e, const Polynomial &steps, Value past) {
  Sizes dims = {e.dim(past, 0), steps};
  return e.add(e.iota(dims, 1, e.b.getI64Type()), e.broadcast(e.insertDim(past, 1), dims));
}

// The cache `before` [batch, heads, room, size], of which the first `past` [batch] entries of each
// line are valid, with `now` [batch, heads, steps, size] behind those: [batch, heads, room + steps,
// size]. Entries behind the last valid one are 0.
Value withEntries(Emitter &e, Value before, Value now, Value past) {
  Sizes room = shapeOf(before), steps = shapeOf(now);
  Value all = e.concat({before, now}, 2);
  Sizes dims = {room[0], room[2] + steps[2]};
  Value at = e.iota(dims, 1, e.b.getI64Type()), length = e.broadcast(e.insertDim(past, 1), dims);
  Value moved = e.add(e.sub(at, length), e.splatSize(at, room[2]));
  // Behind the last entry `moved` is out of range, for which gather gives 0.
  Value from = e.select(e.compare(Predicate::LT, at, length), at, moved);
  Value lines = e.swapDims(all, 1, 2); // [batch, entries, heads, size]
  Value chosen = e.gather(lines, from, 1, /*batch=*/1);
  return e.swapDims(chosen, 1, 2);
}

// Fails for attributes and inputs that change the result and that Cleave does not import.
void checkVariant(NodeImport &n) {
  if (n.integer("smooth_softmax", 0) || n.integer("qk_output", 0) || !n.integer("causal", 1))
    fail("asks for more than causal attention (smooth_softmax, qk_output, causal), which Cleave "
         "does not import");
  for (const char *name : {"k_quant_type", "v_quant_type"})
    if (std::string type = n.string(name, "NONE"); type != "NONE" && !type.empty())
      fail("attribute '", name, "' is '", type, "', expected NONE");
  for (const char *name : {"kv_cache_bit_width", "sliding_window_cache"})
    if (n.integer(name, 0))
      fail("attribute '", name, "' is set, which Cleave does not import");
  n.ignore({"qk_norm_epsilon"}); // of weights at inputs that checkInputs does not allow
}

// Queries, keys and values with their heads split. Keys may have fewer heads than queries.
AttentionParts splitOperands(NodeImport &n, Emitter &e, int64_t heads, int64_t keyHeads) {
  using namespace group_query_inputs;
  Value q = n.input(kQuery), k, v;
  if (n.hasInput(kKey)) {
    k = n.input(kKey), v = n.input(kValue);
  } else { // packed
    constexpr int64_t kMaxHeads = 1 << 20;
    if (heads < 1 || keyHeads < 1 || std::max(heads, keyHeads) > kMaxHeads)
      fail("has ", heads, " heads of queries and ", keyHeads, " of keys, expected 1 to ",
           kMaxHeads);
    int64_t size = e.number(e.dim(q, 2), "the width") / (heads + 2 * keyHeads);
    k = e.slice(q, 2, heads * size, keyHeads * size);
    v = e.slice(q, 2, (heads + keyHeads) * size, keyHeads * size);
    q = e.slice(q, 2, 0, heads * size);
  }
  AttentionParts parts;
  parts.q = splitHeads(e, q, heads);
  parts.k = splitHeads(e, k, keyHeads);
  parts.v = splitHeads(e, v, keyHeads);
  return parts;
}

// Rotates queries and keys where the node asks for it. `past` [batch]: valid steps in the cache.
void rotateOperands(NodeImport &n, Emitter &e, AttentionParts &parts, Value past) {
  using namespace group_query_inputs;
  bool interleaved = n.integer("rotary_interleaved", 0);
  if (!n.integer("do_rotary", 0)) {
    for (size_t i : {kCosines, kSines, kPositions})
      n.ignoreInput(i);
    return;
  }
  Value positions =
      n.hasInput(kPositions) ? n.input(kPositions) : positionsFrom(e, e.dim(parts.q, 2), past);
  parts.q = rotated(e, parts.q, positions, n.input(kCosines), n.input(kSines), interleaved);
  parts.k = rotated(e, parts.k, positions, n.input(kCosines), n.input(kSines), interleaved);
}

Values importGroupQuery(NodeImport &n) {
  using namespace group_query_inputs;
  n.checkInputs(1, kCount);
  Emitter &e = n;
  int64_t heads = n.requiredInteger("num_heads"), keyHeads = n.requiredInteger("kv_num_heads");
  checkVariant(n);
  n.ignoreInput(kTotalLength); // at most the cache's room and the new steps
  AttentionParts parts = splitOperands(n, e, heads, keyHeads);
  Sizes d = shapeOf(parts.q);
  // Keys of each line. The new ones are the last of them, except in a first step without a past,
  // where padding may follow.
  Value keyCounts = e.add(e.cast(e.reshape(n.input(kKeyCounts), {d[0]}), n.b.getI64Type()), 1);
  bool isFirst = !n.hasInput(kPastKey) || e.dim(n.input(kPastKey), 2) == Polynomial();
  Value past =
      isFirst ? e.splat(keyCounts, 0) : e.max(e.sub(keyCounts, e.splatSize(keyCounts, d[2])), 0);
  rotateOperands(n, e, parts, past);
  if (!isFirst) {
    parts.k = withEntries(e, n.input(kPastKey), parts.k, past);
    parts.v = withEntries(e, n.input(kPastValue), parts.v, past);
  }
  n.ignoreInput(kPastKey), n.ignoreInput(kPastValue); // empty in a first step
  parts.causal = true;
  parts.addend = n.optionalInput(kAddend);
  emit::AttentionOptions options = commonOptions(n, e, parts);
  options.softcap = n.decimal("softcap", 0);
  if (int64_t window = n.integer("local_window_size", -1); window > 0)
    options.leftWindow = window - 1;
  options.keyCounts = keyCounts;
  if (!isFirst)
    options.offsets = past;
  Value output = emit::attention(e, parts.q, parts.k, parts.v, options).output;
  return {joinHeads(e, output), parts.k, parts.v};
}

// -- RotaryEmbedding ------------------------------------------------------------------------------

Values importContribRotary(NodeImport &n) {
  using namespace rotary_inputs;
  n.checkInputs(4, 4);
  if (n.integer("is_packed_batching", 0) || n.decimal("scale", 1) != 1)
    fail("rotates packed lines (is_packed_batching) or scaled ones (scale), which Cleave does not "
         "import");
  Emitter &e = n;
  Value x = n.input(kData), positions = n.input(kPositions);
  int64_t heads = n.integer("num_heads", 0), size = n.integer("rotary_embedding_dim", 0);
  bool isFlat = rankOf(x) == 3;
  if (isFlat && heads == 0) {
    int64_t head =
        size ? size : 2 * e.number(e.dim(n.input(kCosines), 1), "the width of the angles");
    heads = head > 0 ? e.number(e.dim(x, 2), "the width") / head : 0;
  }
  if (isFlat)
    x = splitHeads(e, x, heads);
  Sizes d = shapeOf(x);
  if (d.size() != 4)
    fail("has data ", showShape(d), ", expected [batch, steps, width] or 4 dims");
  if (rankOf(positions) == 1) {
    Value first = e.broadcast(e.reshape(positions, {1, 1}), {d[0], d[2]});
    positions = e.add(e.iota({d[0], d[2]}, 1, elementOf(positions)), first);
  }
  x = rotated(e, x, positions, n.input(kCosines), n.input(kSines), n.integer("interleaved", 0));
  return {isFlat ? joinHeads(e, x) : x};
}

constexpr OpEntry kContribAttentionOps[] = {
    {"com.microsoft:Attention", 1, importContribAttention},
    {"com.microsoft:GroupQueryAttention", 1, importGroupQuery},
    {"com.microsoft:MultiHeadAttention", 1, importMultiHead},
    {"com.microsoft:QAttention", 1, importQuantizedAttention},
    {"com.microsoft:RotaryEmbedding", 1, importContribRotary},
};

} // namespace

llvm::ArrayRef<OpEntry> contribAttentionOps() { return kContribAttentionOps; }

} // namespace cleave::onnx
