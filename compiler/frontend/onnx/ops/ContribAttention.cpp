// Attention of the domain com.microsoft: packed projections, masks in several forms, key/value caches.
#include "compiler/frontend/emit/Attention.h"
#include "compiler/frontend/emit/Contraction.h"
#include "compiler/frontend/emit/Elementwise.h"
#include "compiler/frontend/emit/Quantization.h"
#include "compiler/frontend/onnx/ops/OpTable.h"

namespace cleave::onnx {
namespace {

using namespace emit;

// [batch, steps, heads · size] -> [batch, heads, steps, size] and back.
Value splitHeads(Emitter &e, Value x, int64_t heads) {
  Shape d = shapeOf(x);
  int64_t width = d.size() == 3 ? e.number(d[2], "the width") : 0;
  if (heads < 1 || width == 0 || width % heads)
    fail("has data " + showShape(d) + " for " + std::to_string(heads) + " heads");
  return e.swapDims(e.reshape(x, {d[0], d[1], heads, width / heads}), 1, 2);
}

Value joinHeads(Emitter &e, Value x) {
  Shape d = shapeOf(x);
  return e.reshape(e.swapDims(x, 1, 2), {d[0], d[2], d[1] * d[3]});
}

// A bool mask as numbers to be added: `below` where it is false.
Value asNumbers(Emitter &e, Value mask, mlir::Type element, double below) {
  Value zero = e.splat(shapeOf(mask), element, 0);
  return e.select(mask, zero, e.splat(zero, below));
}

// A mask of keys: [batch] (how many count), [2 batch] (before which they count, then from which on), [batch, keys] or
// [batch, queries, keys] (not zero: counts), as truth values [batch, 1, 1 or queries, keys].
Value keyMask(Emitter &e, Value mask, const Polynomial &batch, const Polynomial &keys) {
  Shape d = shapeOf(mask);
  if (d.size() == 1) {
    Shape dims{batch, keys};
    Value place = e.iota(dims, 1, elementOf(mask));
    auto line = [&](const Polynomial &start) {
      return e.broadcast(e.insertDim(e.slice(mask, 0, start, batch), 1), dims);
    };
    if (d[0] != batch && d[0] != batch * 2)
      fail("has a mask " + showShape(d) + " for " + batch.str() +
           " lines, expected one number for each, or two");
    Value counts = e.compare(Predicate::LT, place, line(0));
    mask = d[0] == batch
               ? counts
               : e.binary<graph::AndOp>(counts, e.compare(Predicate::GE, place, line(batch)));
  } else {
    mask = e.cast(mask, e.b.getI1Type());
  }
  d = shapeOf(mask);
  if (d.size() == 2)
    return e.reshape(mask, {d[0], 1, 1, d[1]});
  if (d.size() == 3)
    return e.insertDim(mask, 1);
  fail("has a mask " + showShape(d) + ", expected 1 to 3 dims");
}

// What all three operators end with.
struct Parts {
  Value q, k, v;         // [batch, heads, steps, size]
  Value keyMask, addend; // may be null
  bool causal = false;
  double filter = -10000; // what masked keys get
};

// What is added to the products: the mask's numbers and the given ones together.
Value addendOf(Emitter &e, const Parts &parts) {
  if (!parts.keyMask)
    return parts.addend;
  Value mask = asNumbers(e, parts.keyMask, elementOf(parts.q), parts.filter);
  if (!parts.addend)
    return mask;
  Value other = parts.addend;
  e.broadcastTogether(mask, other);
  return e.add(mask, other);
}

emit::AttentionOptions commonOptions(NodeImport &n, Emitter &e, const Parts &parts) {
  emit::AttentionOptions options;
  if (double scale = n.decimal("scale", 0))
    options.scale = scale;
  options.mask = addendOf(e, parts);
  options.causal = parts.causal;
  options.offset = e.dim(parts.k, 2) - e.dim(parts.q, 2);
  return options;
}

// Past keys (values) before the new ones.
Value withPast(NodeImport &n, Emitter &e, size_t past, Value now) {
  return n.hasInput(past) ? e.concat({n.input(past), now}, 2) : now;
}

// Queries, keys and values side by side, [batch, steps, features], and the inputs that hold a mask, the past and what
// is added to the products.
Values packedAttention(NodeImport &n, Value projected, size_t mask, size_t past, size_t addend) {
  Emitter &e = n;
  int64_t heads = n.requiredInteger("num_heads");
  if (n.integer("do_rotary", 0) || n.integer("past_present_share_buffer", 0))
    fail("turns queries and keys (do_rotary) or shares a buffer, which Cleave does not import");
  n.ignore({"rotary_embedding_dim"}); // of do_rotary
  int64_t width = e.number(e.dim(projected, 2), "the projection's width");
  Ints sizes = n.integers("qkv_hidden_sizes").value_or(Ints{width / 3, width / 3, width / 3});
  if (sizes.size() != 3 || Polynomial(sizes[0]) + sizes[1] + sizes[2] != Polynomial(width))
    fail("projects to " + std::to_string(width) + " features, expected " + showInts(sizes));
  Parts parts;
  parts.filter = n.decimal("mask_filter_value", -10000);
  parts.causal = n.integer("unidirectional", 0);
  parts.q = splitHeads(e, e.slice(projected, 2, 0, sizes[0]), heads);
  parts.k = splitHeads(e, e.slice(projected, 2, sizes[0], sizes[1]), heads);
  parts.v = splitHeads(e, e.slice(projected, 2, sizes[0] + sizes[1], sizes[2]), heads);
  if (n.hasInput(past)) {
    parts.k = e.concat({e.dropDim(e.slice(n.input(past), 0, 0, 1), 0), parts.k}, 2);
    parts.v = e.concat({e.dropDim(e.slice(n.input(past), 0, 1, 1), 0), parts.v}, 2);
  }
  if (n.hasInput(mask))
    parts.keyMask = keyMask(e, n.input(mask), e.dim(parts.k, 0), e.dim(parts.k, 2));
  if (n.hasInput(addend))
    parts.addend = n.input(addend);
  Value present;
  if (n.hasOutput(1))
    present = e.concat({e.insertDim(parts.k, 0), e.insertDim(parts.v, 0)}, 0);
  Value output = emit::attention(e, parts.q, parts.k, parts.v, commonOptions(n, e, parts)).output;
  return {joinHeads(e, output), present};
}

// input [batch, steps, features] projected to queries, keys and values by one matrix.
Values importAttention(NodeImport &n) {
  n.checkInputs(2, 6);
  Emitter &e = n;
  Value projected = emit::matmul(e, n.input(0), n.input(1));
  if (n.hasInput(2))
    projected = e.add(projected, e.broadcast(n.input(2), shapeOf(projected)));
  return packedAttention(n, projected, 3, 4, 5);
}

// The same with input and matrix in whole numbers: scales are inputs 3 and 4, zero points 6 and 7.
Values importQuantizedAttention(NodeImport &n) {
  n.checkInputs(5, 9);
  Emitter &e = n;
  Value x = emit::dequantize(e, n.input(0), n.input(3), n.optionalInput(6), 0);
  Value weight = emit::dequantize(e, n.input(1), n.input(4), n.optionalInput(7), 1);
  Value projected = emit::matmul(e, x, weight);
  projected = e.add(projected, e.broadcast(n.input(2), shapeOf(projected)));
  return packedAttention(n, projected, 5, 8, 9);
}

// The part of a bias for all three projections that begins at `start`, added to x.
Value addBias(Emitter &e, Value x, Value bias, const Polynomial &start) {
  if (!bias)
    return x;
  return e.add(x, e.broadcast(e.slice(bias, 0, start, e.dim(x, 2)), shapeOf(x)));
}

Values importMultiHead(NodeImport &n) {
  n.checkInputs(1, 10);
  Emitter &e = n;
  int64_t heads = n.requiredInteger("num_heads");
  if (!n.hasInput(1) || !n.hasInput(2) || n.hasInput(8) || n.hasInput(9))
    fail("has packed operands or shares a buffer, which Cleave does not import; export it with "
         "queries, keys and "
         "values apart");
  Value bias = n.hasInput(3) ? n.input(3) : Value();
  Value q = n.input(0), k = n.input(1), v = n.input(2);
  Polynomial width = e.dim(q, 2);
  Parts parts;
  parts.filter = n.decimal("mask_filter_value", -10000);
  parts.causal = n.integer("unidirectional", 0);
  parts.q = splitHeads(e, addBias(e, q, bias, 0), heads);
  bool isSplit = rankOf(k) == 4; // keys and values of a cross attention, split already
  parts.k = isSplit ? k : splitHeads(e, addBias(e, k, bias, width), heads);
  parts.v = isSplit ? v : splitHeads(e, addBias(e, v, bias, width * 2), heads);
  parts.k = withPast(n, e, 6, parts.k);
  parts.v = withPast(n, e, 7, parts.v);
  if (n.hasInput(4))
    parts.keyMask = keyMask(e, n.input(4), e.dim(parts.k, 0), e.dim(parts.k, 2));
  if (n.hasInput(5))
    parts.addend = n.input(5);
  emit::AttentionResult result =
      emit::attention(e, parts.q, parts.k, parts.v, commonOptions(n, e, parts));
  return {joinHeads(e, result.output), parts.k, parts.v};
}

// x [batch, heads, steps, size] turned by the rows `positions` ([batch, steps]) of two tables.
Value turned(Emitter &e, Value x, Value positions, Value cosines, Value sines, bool interleaved) {
  auto rows = [&](Value table) -> Value {
    Value found = e.gather(table, positions, 0);
    return e.insertDim(found, 1);
  };
  Value cosine = rows(cosines), sine = rows(sines);
  int64_t size = e.number(e.dim(cosine, 3), "the width of the angles") * 2;
  return emit::rotate(e, x, cosine, sine, size, interleaved);
}

// Positions [batch, steps] of all new steps when `past` [batch] of them came before.
Value positionsFrom(Emitter &e, const Polynomial &steps, Value past) {
  Shape dims = {e.dim(past, 0), steps};
  return e.add(e.iota(dims, 1, e.b.getI64Type()), e.broadcast(e.insertDim(past, 1), dims));
}

// The cache `before` [batch, heads, room, size], of which the first `past` [batch] entries of each line count, with
// `now` [batch, heads, steps, size] behind those; `room + steps` entries, 0 where there are none.
Value withEntries(Emitter &e, Value before, Value now, Value past) {
  Shape room = shapeOf(before), steps = shapeOf(now);
  Value all = e.concat({before, now}, 2);
  Shape dims = {room[0], room[2] + steps[2]};
  Value at = e.iota(dims, 1, e.b.getI64Type()), length = e.broadcast(e.insertDim(past, 1), dims);
  Value moved = e.add(e.sub(at, length), e.splatSize(at, room[2]));
  Value from = e.select(e.compare(Predicate::LT, at, length), at, moved); // 0 behind the last
  // Lines side by side: the entries of each are chosen by its own numbers.
  Value lines = e.swapDims(all, 1, 2);
  Value chosen = e.gather(lines, from, 1, 1);
  return e.swapDims(chosen, 1, 2);
}

// Attributes and inputs that change the result and that this import does not know.
void refuseVariants(NodeImport &n) {
  if (n.integer("smooth_softmax", 0) || n.integer("qk_output", 0) || !n.integer("causal", 1))
    fail("asks for more than causal attention (smooth_softmax, qk_output, causal), which Cleave "
         "does not import");
  for (const char *name : {"k_quant_type", "v_quant_type"})
    if (std::string type = n.text(name, "NONE"); type != "NONE" && !type.empty())
      fail("attribute '" + std::string(name) + "' is '" + type + "', expected NONE");
  for (const char *name : {"kv_cache_bit_width", "sliding_window_cache"})
    if (n.integer(name, 0))
      fail("attribute '" + std::string(name) + "' is set, which Cleave does not import");
  n.ignore({"qk_norm_epsilon"}); // of weights that would be inputs behind the known ones
}

Values importGroupQuery(NodeImport &n) {
  n.checkInputs(1, 11);
  Emitter &e = n;
  int64_t heads = n.requiredInteger("num_heads"), keyHeads = n.requiredInteger("kv_num_heads");
  refuseVariants(n);
  n.ignoreInput(6); // how long the longest line becomes: no more than cache and new steps
  Value q = n.input(0), k, v;
  if (n.hasInput(1)) {
    k = n.input(1), v = n.input(2);
  } else {
    constexpr int64_t most = 1 << 20;
    if (heads < 1 || keyHeads < 1 || std::max(heads, keyHeads) > most)
      fail("has " + std::to_string(heads) + " heads of queries and " + std::to_string(keyHeads) +
           " of keys, expected 1 to " + std::to_string(most));
    int64_t size = e.number(e.dim(q, 2), "the width") / (heads + 2 * keyHeads);
    k = e.slice(q, 2, heads * size, keyHeads * size);
    v = e.slice(q, 2, (heads + keyHeads) * size, keyHeads * size);
    q = e.slice(q, 2, 0, heads * size);
  }
  Parts parts;
  parts.q = splitHeads(e, q, heads);
  parts.k = splitHeads(e, k, keyHeads);
  parts.v = splitHeads(e, v, keyHeads);
  Shape d = shapeOf(parts.q);
  // How many keys of every line count: one more than the operator is told. New ones are the last of them, but for
  // padding behind a first text, which has no past.
  Value counts = e.add(e.cast(e.reshape(n.input(5), {d[0]}), n.b.getI64Type()), 1);
  bool isFirst = !n.hasInput(3) || e.dim(n.input(3), 2) == Polynomial();
  Value past = isFirst ? e.splat(counts, 0) : e.max(e.sub(counts, e.splatSize(counts, d[2])), 0);
  bool interleaved = n.integer("rotary_interleaved", 0);
  if (n.integer("do_rotary", 0)) {
    Value positions = n.hasInput(9) ? n.input(9) : positionsFrom(e, d[2], past);
    parts.q = turned(e, parts.q, positions, n.input(7), n.input(8), interleaved);
    parts.k = turned(e, parts.k, positions, n.input(7), n.input(8), interleaved);
  } else {
    for (size_t i : {7, 8, 9}) // angles and positions
      n.ignoreInput(i);
  }
  if (!isFirst) {
    parts.k = withEntries(e, n.input(3), parts.k, past);
    parts.v = withEntries(e, n.input(4), parts.v, past);
  }
  n.ignoreInput(3), n.ignoreInput(4); // empty otherwise
  parts.causal = true;
  if (n.hasInput(10))
    parts.addend = n.input(10);
  emit::AttentionOptions options = commonOptions(n, e, parts);
  options.softcap = n.decimal("softcap", 0);
  if (int64_t window = n.integer("local_window_size", -1); window > 0)
    options.leftWindow = window - 1;
  options.keyCounts = counts;
  if (!isFirst)
    options.offsets = past;
  Value output = emit::attention(e, parts.q, parts.k, parts.v, options).output;
  return {joinHeads(e, output), parts.k, parts.v};
}

// x [batch, steps, width] or [batch, heads, steps, size]; position_ids [1] (of the first step) or [batch, steps].
Values importRotary(NodeImport &n) {
  n.checkInputs(4, 4);
  if (n.integer("is_packed_batching", 0) || n.decimal("scale", 1) != 1)
    fail("turns packed lines (is_packed_batching) or scaled ones (scale), which Cleave does not "
         "import");
  Emitter &e = n;
  Value x = n.input(0), positions = n.input(1);
  int64_t heads = n.integer("num_heads", 0), size = n.integer("rotary_embedding_dim", 0);
  bool isFlat = rankOf(x) == 3;
  if (isFlat && heads == 0) {
    int64_t head = size ? size : 2 * e.number(e.dim(n.input(2), 1), "the width of the angles");
    heads = head > 0 ? e.number(e.dim(x, 2), "the width") / head : 0;
  }
  if (isFlat)
    x = splitHeads(e, x, heads);
  Shape d = shapeOf(x);
  if (d.size() != 4)
    fail("has data " + showShape(d) + ", expected [batch, steps, width] or 4 dims");
  if (rankOf(positions) == 1) {
    Value first = e.broadcast(e.reshape(positions, {1, 1}), {d[0], d[2]});
    positions = e.add(e.iota({d[0], d[2]}, 1, elementOf(positions)), first);
  }
  x = turned(e, x, positions, n.input(2), n.input(3), n.integer("interleaved", 0));
  return {isFlat ? joinHeads(e, x) : x};
}

constexpr OpEntry kOps[] = {
    {"com.microsoft:Attention", 1, importAttention},
    {"com.microsoft:GroupQueryAttention", 1, importGroupQuery},
    {"com.microsoft:MultiHeadAttention", 1, importMultiHead},
    {"com.microsoft:QAttention", 1, importQuantizedAttention},
    {"com.microsoft:RotaryEmbedding", 1, importRotary},
};

} // namespace

llvm::ArrayRef<OpEntry> contribAttentionOps() { return kOps; }

} // namespace cleave::onnx
