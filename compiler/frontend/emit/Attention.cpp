// See Attention.h. Masked scores are the lowest finite number rather than -infinity: rows without
// a visible key stay finite, also in gradients. graph.attention does the same.
#include "compiler/frontend/emit/Attention.h"

#include "compiler/frontend/emit/Random.h"

#include "llvm/ADT/APFloat.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cleave::emit {

using namespace graph;

namespace {

double lowest(mlir::Type element) {
  const llvm::fltSemantics &semantics = mlir::cast<mlir::FloatType>(element).getFloatSemantics();
  llvm::APFloat value = llvm::APFloat::getLargest(semantics, /*Negative=*/true);
  bool lossy;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lossy);
  return value.convertToDouble();
}

Polynomial dimOf(Value value, int64_t fromEnd) {
  Sizes dims = shapeOf(value);
  return dims[dims.size() - fromEnd];
}

// [batch] to [batch, 1, 1, 1], against scores of [batch, heads, queries, keys].
Value perBatch(const Emitter &e, Value counts, const Sizes &scores) {
  Sizes column(scores.size(), Polynomial(1));
  column[0] = scores[0];
  return e.broadcast(e.reshape(e.cast(counts, e.b.getI64Type()), column), scores);
}

// Bool with the shape of the scores: keys that positions make visible; null: all.
Value allowedByPosition(const Emitter &e, const Sizes &scores, const AttentionOptions &options) {
  auto rank = static_cast<int64_t>(scores.size());
  mlir::Type integer = e.b.getI64Type();
  // Parts that do not depend on the batch have no batch dim.
  bool perLine = options.offsets || options.keyCounts;
  Sizes shape = perLine ? scores : Sizes(scores.end() - 2, scores.end());
  auto keyDim = static_cast<int64_t>(shape.size()) - 1;
  Value key = e.iota(shape, keyDim, integer), query = e.iota(shape, keyDim - 1, integer), allowed;
  if (perLine && rank < 3)
    fail("has lengths per line of a batch, but operands without a batch");
  query = e.add(query, options.offsets ? perBatch(e, options.offsets, shape)
                                       : e.splatSize(query, options.offset));
  auto allow = [&](Value condition) {
    allowed = allowed ? Value(AndOp::create(e.b, e.loc, allowed, condition)) : condition;
  };
  if (options.causal)
    allow(e.compare(Predicate::LE, key, query));
  if (options.leftWindow >= 0)
    allow(e.compare(Predicate::LE, e.sub(query, key), static_cast<double>(options.leftWindow)));
  if (options.rightWindow >= 0)
    allow(e.compare(Predicate::LE, e.sub(key, query), static_cast<double>(options.rightWindow)));
  if (options.keyCounts)
    allow(e.compare(Predicate::LT, key, perBatch(e, options.keyCounts, shape)));
  return allowed ? e.broadcast(allowed, scores) : Value();
}

// The mask for all keys, in the shape of the scores.
Value wholeMask(const Emitter &e, Value mask, const Sizes &scores, double masked) {
  Polynomial have = rankOf(mask) == 0 ? Polynomial(1) : dimOf(mask, 1),
             missing = scores.back() - have;
  if (have != Polynomial(1) && missing != Polynomial())
    mask = e.pad(mask, rankOf(mask) - 1, 0, missing, isBool(mask) ? 0 : masked);
  return e.broadcast(mask, scores);
}

struct Masks {
  Value added;   // numbers
  Value allowed; // bool
};

Masks masksOf(const Emitter &e, const Sizes &scores, mlir::Type element,
              const AttentionOptions &options, double masked) {
  Masks masks;
  masks.allowed = allowedByPosition(e, scores, options);
  if (!options.mask)
    return masks;
  Value mask = isBool(options.mask) ? options.mask : e.cast(options.mask, element);
  mask = wholeMask(e, mask, scores, masked);
  if (!isBool(mask))
    masks.added = mask;
  else
    masks.allowed = masks.allowed ? Value(AndOp::create(e.b, e.loc, masks.allowed, mask)) : mask;
  return masks;
}

// Whether every query has a visible key.
bool everyRowHasOne(const AttentionOptions &options, bool isMasked) {
  return !options.mask && !options.offsets && !options.keyCounts && (options.causal || !isMasked) &&
         options.offset == Polynomial();
}

// The softmax of masked scores, zero in rows without a key.
Value maskedSoftmax(const Emitter &e, Value scores, const AttentionOptions &options) {
  double least = lowest(elementOf(scores));
  int64_t last = rankOf(scores) - 1;
  Masks masks = masksOf(e, shapeOf(scores), elementOf(scores), options, least);
  if (masks.added)
    scores = e.max(e.add(scores, masks.added), least);
  if (masks.allowed)
    scores = e.select(masks.allowed, scores, e.splat(scores, least));
  Value weights = SoftmaxOp::create(e.b, e.loc, scores.getType(), scores, last);
  if (everyRowHasOne(options, bool(masks.allowed)))
    return weights;
  Value most = e.broadcast(e.reduce(Reduction::Max, scores, {last}, true), shapeOf(scores));
  return e.select(e.compare(Predicate::GT, most, least), weights, e.splat(weights, 0));
}

// Merges the queries of all heads that share a key head: [batch…, key heads, group · queries, …].
Value grouped(const Emitter &e, Value value, const Polynomial &keyHeads) {
  Sizes dims = shapeOf(value);
  int64_t heads = rankOf(value) - 3;
  if (rankOf(value) < 3 || dims[heads] == keyHeads)
    return value;
  std::optional<Polynomial> group = dims[heads].dividedBy(keyHeads);
  if (!group)
    fail("has ", dims[heads].str(), " heads of queries and ", keyHeads.str(),
         " of keys, expected a multiple");
  dims[heads] = keyHeads;
  dims[heads + 1] *= *group;
  return e.reshape(value, dims);
}

// The output by graph.attention if that supports all options, else null.
Value composite(const Emitter &e, Value q, Value k, Value v, double scale, const Sizes &scores,
                const AttentionOptions &options) {
  size_t rank = scores.size();
  mlir::Type element = elementOf(q),
             wide = element.getIntOrFloatBitWidth() < 32 ? e.b.getF32Type() : element;
  bool sameHeads = rank >= 3 && dimOf(q, 3) == dimOf(k, 3);
  if (options.softcap != 0 || (options.softmaxType && options.softmaxType != wide) || rank < 3 ||
      (!sameHeads && !(dimOf(q, 3).isConstant() && dimOf(k, 3).isConstant())))
    return nullptr;
  AttentionOptions rest = options;
  bool causal = options.causal && !options.offsets && options.offset == Polynomial();
  rest.causal = options.causal && !causal;
  Masks masks = masksOf(e, scores, element, rest, -std::numeric_limits<double>::infinity());
  bool safe = !everyRowHasOne(options, causal || masks.allowed);
  auto flag = [&](bool isSet) { return isSet ? e.b.getUnitAttr() : mlir::UnitAttr(); };
  mlir::FloatAttr dropout =
      options.dropout > 0 ? e.b.getF64FloatAttr(options.dropout) : mlir::FloatAttr();
  return AttentionOp::create(e.b, e.loc, q, k, v, masks.added, masks.allowed, /*seed=*/Value(),
                             e.b.getF64FloatAttr(scale), flag(causal), flag(safe),
                             /*fill=*/mlir::FloatAttr(), dropout)
      .getResult();
}

} // namespace

Value attentionBias(const Emitter &e, Value product, const AttentionOptions &options) {
  double infinity = std::numeric_limits<double>::infinity();
  Masks masks = masksOf(e, shapeOf(product), elementOf(product), options, -infinity);
  if (!masks.allowed)
    return masks.added;
  Value seen = masks.added ? masks.added : e.splat(product, 0);
  return e.select(masks.allowed, seen, e.splat(product, -infinity));
}

AttentionResult attention(const Emitter &e, Value q, Value k, Value v,
                          const AttentionOptions &options) {
  e.checkFloat(q);
  e.checkSameType(q, k);
  e.checkSameType(q, v);
  e.checkRank(q, 2);
  Sizes a = shapeOf(q), b = shapeOf(k), d = shapeOf(v);
  if (a.size() != b.size() || a.size() != d.size() || a.back() != b.back() ||
      !std::equal(b.begin(), b.end() - 1, d.begin()) ||
      !std::equal(a.begin(), a.end() - std::min<size_t>(a.size(), 3), b.begin()))
    fail("has queries ", showShape(shapeOf(q)), ", keys ", showShape(shapeOf(k)), " and values ",
         showShape(shapeOf(v)), ", which do not fit together");
  double size = static_cast<double>(e.number(dimOf(q, 1), "head size"));
  Polynomial keyHeads = rankOf(k) > 2 ? dimOf(k, 3) : Polynomial(1);
  Sizes scores = shapeOf(q);
  scores.back() = dimOf(k, 2);
  double scale = options.scale.value_or(1 / std::sqrt(size));
  Value scaled = e.mul(q, scale);
  int64_t rank = rankOf(q);
  AttentionResult result;
  result.product = e.reshape(
      buildMatmul(e.b, grouped(e, scaled, keyHeads), e.swapDims(k, rank - 2, rank - 1)), scores);
  result.capped = result.product;
  if (options.softcap != 0)
    result.capped = e.mul(e.unary<TanhOp>(e.div(result.product, options.softcap)), options.softcap);
  mlir::Type type = options.softmaxType ? options.softmaxType : elementOf(q);
  result.weights = e.cast(maskedSoftmax(e, e.cast(result.capped, type), options), elementOf(q));
  Value kept = dropout(e, result.weights, options.dropout);
  result.output = composite(e, q, k, v, scale, scores, options);
  if (result.output)
    return result;
  Sizes output = scores;
  output.back() = dimOf(v, 1);
  result.output = e.reshape(buildMatmul(e.b, grouped(e, kept, keyHeads), v), output);
  return result;
}

Value rotate(const Emitter &e, Value x, Value cos, Value sin, int64_t size, bool interleaved) {
  int64_t last = rankOf(x) - 1;
  Polynomial whole = shapeOf(x)[last];
  Value turned = e.slice(x, last, 0, size);
  auto half = [&](int64_t which) {
    return interleaved ? e.slice(turned, last, which, size / 2, 2)
                       : e.slice(turned, last, which * (size / 2), size / 2);
  };
  Value a = half(0), b = half(1);
  cos = e.broadcast(cos, shapeOf(a));
  sin = e.broadcast(sin, shapeOf(a));
  Value real = e.sub(e.mul(cos, a), e.mul(sin, b)), imaginary = e.add(e.mul(sin, a), e.mul(cos, b));
  Values parts;
  if (interleaved) {
    Value pairs =
        e.concat({e.insertDim(real, last + 1), e.insertDim(imaginary, last + 1)}, last + 1);
    parts = {e.reshape(pairs, shapeOf(turned))};
  } else {
    parts = {real, imaginary};
  }
  if (whole != Polynomial(size))
    parts.push_back(e.slice(x, last, size, whole - size));
  return e.concat(parts, last);
}

} // namespace cleave::emit
