// The kernels of attention; see AttentionTask.h. The formulas are those of program.proto; the
// forward pass keeps a running maximum and sum per query (Milakov and Gimelshein 2018), the
// backward pass recomputes the weights from the log-sum-exp (Dao et al. 2022).
//
// Included once per instruction set, into a source that selects it before; what it includes itself
// must be included there earlier, so that it is compiled for any processor.
#pragma once

#include "runtime/base/AttentionScratch.h"
#include "runtime/base/CounterRandom.h"
#include "runtime/base/Float16.h"
#include "runtime/device/cpu/AttentionTask.h"
#include "runtime/device/cpu/Vectors.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace cleave::device {
namespace {

constexpr int64_t kBlock = kAttentionBlock;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
// Below this difference to the largest score, a weight is 0.
constexpr float kNothing = -87.0f;

// One float per query of a block.
struct alignas(64) PerQuery {
  float at[kBlock];
};
// One row of 64 queries per key or column.
struct alignas(64) Scores {
  float at[kBlock][kBlock];
};
struct alignas(64) Columns {
  float at[kMostAttentionColumns][kBlock];
};
// One row of columns per query, padded to whole vectors.
struct alignas(64) QueryRows {
  float at[kBlock][kMostAttentionColumns];
};

// Element types: how they are stored, and their conversions.
struct F32 {
  using Bits = float;
  static float wide(float x) { return x; }
  static float narrow(float x) { return x; }
};
struct BF16 {
  using Bits = uint16_t;
  static float wide(uint16_t x) { return fromBF16(x); }
  static uint16_t narrow(float x) { return toBF16(x); }
};
struct F16 {
  using Bits = uint16_t;
  static float wide(uint16_t x) { return fromF16(x); }
  static uint16_t narrow(float x) { return toF16(x); }
};

template <class E> inline typename E::Bits *place(HeadView view, int64_t row, int64_t column) {
  return static_cast<typename E::Bits *>(view.data) + row * view.rows + column * view.columns;
}
template <class E> inline float get(HeadView view, int64_t row, int64_t column) {
  return E::wide(*place<E>(view, row, column));
}

// A range of queries or keys.
struct Range {
  int64_t begin, count;
};

inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

inline void fill(float *to, int64_t count, float value) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = value;
}

inline Range blockOf(int64_t block, int64_t size) {
  return {block * kBlock, smaller(kBlock, size - block * kBlock)};
}

inline int64_t blocksOf(int64_t size) { return (size + kBlock - 1) / kBlock; }

// A block of keys or values in f32: as it lies, or a copy.
template <class E> struct KeyBlock {
  alignas(64) float copy[std::is_same_v<E, F32> ? 1 : kBlock * kMostAttentionColumns];

  Scalars read(HeadView from, Range keys, int64_t columns) {
    if constexpr (std::is_same_v<E, F32>)
      return {place<F32>(from, keys.begin, 0), from.rows, from.columns};
    for (int64_t r = 0; r < keys.count; ++r)
      for (int64_t c = 0; c < columns; ++c)
        copy[r * kMostAttentionColumns + c] = get<E>(from, keys.begin + r, c);
    return {copy, kMostAttentionColumns, 1};
  }
};

inline Scalars transposed(Scalars matrix) { return {matrix.data, matrix.column, matrix.row}; }

// The columns of `queries` as rows; queries that do not exist are 0.
template <class E>
inline void packColumns(Columns &to, HeadView from, Range queries, int64_t columns) {
  for (int64_t c = 0; c < columns; ++c)
    for (int64_t r = 0; r < kBlock; ++r)
      to.at[c][r] = r < queries.count ? get<E>(from, queries.begin + r, c) : 0;
}

template <class E>
inline void packRows(QueryRows &to, HeadView from, Range queries, int64_t columns) {
  int64_t padded = (columns + kLanes - 1) / kLanes * kLanes;
  for (int64_t r = 0; r < kBlock; ++r)
    for (int64_t c = 0; c < padded; ++c)
      to.at[r][c] = r < queries.count && c < columns ? get<E>(from, queries.begin + r, c) : 0;
}

// Which keys of a block the queries of a block see.
enum class Sight { All, None, Some };

inline Sight sightOf(const AttentionNumbers &n, const HeadTensors &t, Range queries, Range keys) {
  int64_t first = n.firstQuery + queries.begin;
  if (n.isCausal && keys.begin > first + queries.count - 1)
    return Sight::None;
  bool seesAll = !t.mask && (!n.isCausal || keys.begin + keys.count - 1 <= first);
  return seesAll ? Sight::All : Sight::Some;
}

// The queries of a block, rounded up to whole vectors; loops leave out the other rows.
inline int64_t wholeRows(Range queries) { return (queries.count + kLanes - 1) / kLanes * kLanes; }

// 0, 1, 2, ….
inline Floats numbers() {
  Floats lanes;
  for (int64_t i = 0; i < kLanes; ++i)
    lanes[i] = float(i);
  return lanes;
}

// hide() without a mask: a key is hidden from the `hidden` queries before it.
inline void hideLaterKeys(Scores &scores, Scores *visible, const AttentionNumbers &n, Range queries,
                          Range keys) {
  const Floats lanes = numbers();
  for (int64_t c = 0; c < keys.count; ++c) {
    const auto hidden = float(keys.begin + c - n.firstQuery - queries.begin);
    for (int64_t r = 0; r < wholeRows(queries); r += kLanes) {
      const Ints isVisible = lanes + float(r) >= splat(hidden);
      store(&scores.at[c][r], select(isVisible, load(&scores.at[c][r]), splat(n.fill)));
      if (visible)
        store(&visible->at[c][r], select(isVisible, splat(1), splat(0)));
    }
  }
}

// Sets the hidden scores to `fill`. If `visible` is given, sets it to 1 for visible and to 0 for
// hidden scores.
inline void hide(Scores &scores, Scores *visible, const AttentionNumbers &n, const HeadTensors &t,
                 Range queries, Range keys) {
  if (!t.mask && n.isCausal)
    return hideLaterKeys(scores, visible, n, queries, keys);
  for (int64_t c = 0; c < keys.count; ++c) {
    int64_t key = keys.begin + c;
    for (int64_t r = 0; r < kBlock; ++r) {
      int64_t query = queries.begin + smaller(r, queries.count - 1);
      bool isVisible = !n.isCausal || key <= n.firstQuery + query;
      if (t.mask)
        isVisible &= t.mask[query * t.maskRows + key * t.maskColumns] != 0;
      if (visible)
        visible->at[c][r] = isVisible ? 1 : 0;
      if (!isVisible)
        scores.at[c][r] = n.fill;
    }
  }
}

template <class E> inline void addBias(Scores &scores, HeadView bias, Range queries, Range keys) {
  for (int64_t c = 0; c < keys.count; ++c)
    for (int64_t r = 0; r < queries.count; ++r)
      scores.at[c][r] += get<E>(bias, queries.begin + r, keys.begin + c);
}

// The scores of a block; with `visible`, also which are visible (Sight::Some only).
template <class E>
inline void computeScores(Scores &scores, Scores *visible, const AttentionNumbers &n,
                          const HeadTensors &t, const Columns &query, Scalars key, Range queries,
                          Range keys, Sight sight) {
  if (sight == Sight::None) {
    for (int64_t c = 0; c < keys.count; ++c)
      fill(scores.at[c], kBlock, n.fill);
    return;
  }
  multiply(scores.at[0], kBlock, key, query.at[0], kBlock, keys.count, n.width, kBlock, false);
  for (int64_t c = 0; c < keys.count; ++c)
    for (int64_t r = 0; r < wholeRows(queries); r += kLanes)
      store(&scores.at[c][r], load(&scores.at[c][r]) * n.scale);
  if (t.bias.data && t.isBiasF32)
    addBias<F32>(scores, t.bias, queries, keys);
  else if (t.bias.data)
    addBias<E>(scores, t.bias, queries, keys);
  if (sight == Sight::Some)
    hide(scores, visible, n, t, queries, keys);
}

// The factors of dropout of a block.
inline void drawFactors(Scores &factors, const AttentionNumbers &n, const HeadTensors &t,
                        Range queries, Range keys) {
  for (int64_t c = 0; c < keys.count; ++c)
    for (int64_t r = 0; r < wholeRows(queries); ++r) {
      uint64_t position = t.position + uint64_t(queries.begin + r) * uint64_t(n.wholeKeys) +
                          uint64_t(keys.begin + c);
      factors.at[c][r] = randomNumber(position, n.hashedSeed) >= n.dropRate ? n.keptFactor : 0;
    }
}

// -- forward --------------------------------------------------------------------------------------

// What is known of the queries of a block after some blocks of keys.
struct Running {
  PerQuery largest, sum, seen; // the largest score; the sum of exp(score - largest); 1: sees a key
  Columns result;              // the sums of weighted values
};

inline void clear(Running &running, int64_t depth) {
  fill(running.largest.at, kBlock, -kInfinity);
  fill(running.sum.at, kBlock, 0);
  fill(running.seen.at, kBlock, 0);
  fill(running.result.at[0], depth * kBlock, 0);
}

// Turns the scores into weights relative to the new largest score, and rescales what is there.
inline void addWeights(Running &running, Scores &scores, int64_t rows, int64_t keys,
                       int64_t depth) {
  for (int64_t r = 0; r < rows; r += kLanes) {
    Floats before = load(running.largest.at + r), largest = before;
    for (int64_t c = 0; c < keys; ++c) {
      Floats score = load(&scores.at[c][r]);
      largest = select(score > largest, score, largest);
    }
    // Without any finite score, exp(score - 0) is 0.
    Floats base = select(largest == -kInfinity, splat(0), largest);
    Floats shrunk = exponential(before - base), sum = load(running.sum.at + r) * shrunk;
    for (int64_t c = 0; c < keys; ++c) {
      Floats weight = exponential(load(&scores.at[c][r]) - base);
      store(&scores.at[c][r], weight);
      sum += weight;
    }
    store(running.largest.at + r, largest);
    store(running.sum.at + r, sum);
    for (int64_t e = 0; e < depth; ++e)
      store(&running.result.at[e][r], load(&running.result.at[e][r]) * shrunk);
  }
}

// Whether scores that are not visible have a weight of 0 in all queries.
inline bool isFillNothing(const AttentionNumbers &n, const Running &running, Range queries) {
  bool isNothing = n.fill != -kInfinity;
  for (int64_t r = 0; r < queries.count; ++r)
    isNothing &= n.fill - running.largest.at[r] < kNothing;
  return isNothing || n.fill == -kInfinity;
}

// Notes which queries see a key of a block.
inline void noteSeen(Running &running, const Scores &visible, Sight sight, Range queries,
                     int64_t keys) {
  if (sight == Sight::All)
    return fill(running.seen.at, kBlock, 1);
  for (int64_t r = 0; r < wholeRows(queries); r += kLanes) {
    Floats seen = load(running.seen.at + r);
    for (int64_t c = 0; c < keys; ++c) {
      const Floats sees = load(&visible.at[c][r]);
      seen = select(sees > seen, sees, seen);
    }
    store(running.seen.at + r, seen);
  }
}

template <class E>
inline void finish(const Running &running, const AttentionNumbers &n, const HeadTensors &t,
                   Range queries) {
  for (int64_t r = 0; r < queries.count; ++r) {
    float sum = running.sum.at[r], largest = running.largest.at[r];
    bool hasNone = sum == 0 || sum != sum;
    float *lse = place<F32>(t.lse, queries.begin + r, 0);
    if (hasNone)
      *lse = n.isSafe ? kInfinity : std::numeric_limits<float>::quiet_NaN();
    else if (running.seen.at[r] == 0 && n.fill != -kInfinity)
      *lse = -kInfinity;
    else
      *lse = largest + std::log(sum);
    float factor = hasNone ? std::numeric_limits<float>::quiet_NaN() : 1 / sum;
    for (int64_t e = 0; e < n.depth; ++e)
      *place<E>(t.result, queries.begin + r, e) =
          E::narrow(hasNone && n.isSafe ? 0 : running.result.at[e][r] * factor);
  }
}

template <class E>
inline void forward(const AttentionNumbers &n, const HeadTensors &t, int64_t block) {
  Range queries = blockOf(block, n.queries);
  Columns query;
  packColumns<E>(query, t.query, queries, n.width);
  KeyBlock<E> keyBlock; // of keys, then of values
  Running running;
  clear(running, n.depth);
  Scores scores, other; // `other`: visible keys, then factors of dropout
  for (int64_t b = 0; b < blocksOf(n.keys); ++b) {
    Range keys = blockOf(b, n.keys);
    Sight sight = sightOf(n, t, queries, keys);
    if (sight == Sight::None && isFillNothing(n, running, queries))
      continue;
    computeScores<E>(scores, &other, n, t, query, keyBlock.read(t.key, keys, n.width), queries,
                     keys, sight);
    if (sight != Sight::None)
      noteSeen(running, other, sight, queries, keys.count);
    addWeights(running, scores, wholeRows(queries), keys.count, n.depth);
    if (n.drops) {
      drawFactors(other, n, t, queries, keys);
      for (int64_t c = 0; c < keys.count; ++c)
        for (int64_t r = 0; r < wholeRows(queries); r += kLanes)
          store(&scores.at[c][r], load(&scores.at[c][r]) * load(&other.at[c][r]));
    }
    multiply(running.result.at[0], kBlock, transposed(keyBlock.read(t.value, keys, n.depth)),
             scores.at[0], kBlock, n.depth, keys.count, kBlock, true);
  }
  finish<E>(running, n, t, queries);
}

// -- backward -------------------------------------------------------------------------------------

// The queries of a block, packed, with what does not depend on the keys.
struct PackedQueries {
  Columns query, grad, queryGrad;
  QueryRows queryRows, gradRows;
  PerQuery lse, delta;
};

template <class E>
inline void pack(PackedQueries &to, const AttentionNumbers &n, const HeadTensors &t,
                 Range queries) {
  packColumns<E>(to.query, t.query, queries, n.width);
  packRows<E>(to.queryRows, t.query, queries, n.width);
  packColumns<E>(to.grad, t.grad, queries, n.depth);
  packRows<E>(to.gradRows, t.grad, queries, n.depth);
  fill(to.queryGrad.at[0], n.width * kBlock, 0);
  for (int64_t r = 0; r < kBlock; ++r) {
    bool exists = r < queries.count;
    to.lse.at[r] = exists ? get<F32>(t.lse, queries.begin + r, 0) : kInfinity;
    float sum = 0;
    for (int64_t e = 0; exists && e < n.depth; ++e)
      sum += to.gradRows.at[r][e] * get<E>(t.result, queries.begin + r, e);
    to.delta.at[r] = sum;
  }
}

// Turns scores into weights.
inline void weigh(Scores &scores, const PackedQueries &queries, const AttentionNumbers &n,
                  int64_t rows, int64_t keys) {
  Floats even = splat(1 / float(n.keys));
  for (int64_t r = 0; r < rows; r += kLanes) {
    Floats lse = load(queries.lse.at + r);
    for (int64_t c = 0; c < keys; ++c) {
      Floats weight = exponential(load(&scores.at[c][r]) - lse);
      weight = select(lse == kInfinity, splat(0), weight);
      store(&scores.at[c][r], select(lse == -kInfinity, even, weight));
    }
  }
}

// Whether keys that are not visible have a weight of 0 in all queries.
inline bool isFillNothing(const AttentionNumbers &n, const PackedQueries &queries) {
  bool isNothing = true;
  for (float lse : queries.lse.at)
    isNothing &= lse != -kInfinity && lse == lse && n.fill - lse < kNothing;
  return isNothing;
}

// `weights` become the dropped weights, `grads` (the gradients of the dropped weights) the
// gradients of the scores.
inline void scoreGradients(Scores &weights, Scores &grads, const Scores *factors,
                           const Scores *visible, const PackedQueries &queries, int64_t rows,
                           int64_t keys) {
  for (int64_t c = 0; c < keys; ++c)
    for (int64_t r = 0; r < rows; r += kLanes) {
      Floats weight = load(&weights.at[c][r]), grad = load(&grads.at[c][r]);
      if (factors) {
        Floats factor = load(&factors->at[c][r]);
        grad *= factor;
        store(&weights.at[c][r], weight * factor);
      }
      grad = weight * (grad - load(queries.delta.at + r));
      if (visible)
        grad = select(load(&visible->at[c][r]) == 0.0f, splat(0), grad);
      store(&grads.at[c][r], grad);
    }
}

// to[keys][columns] += scores[keys][queries] rows[queries][columns].
inline void addProduct(HeadView to, const Scores &scores, const QueryRows &rows, Range keys,
                       int64_t queries, int64_t columns) {
  float *first = place<F32>(to, keys.begin, 0);
  int64_t whole = columns / kLanes * kLanes;
  Scalars factors{scores.at[0], kBlock, 1};
  multiply(first, to.rows, factors, rows.at[0], kMostAttentionColumns, keys.count, queries, whole,
           true);
  if (whole == columns)
    return;
  float tail[kBlock][kLanes];
  multiply(tail[0], kLanes, factors, rows.at[0] + whole, kMostAttentionColumns, keys.count, queries,
           kLanes, false);
  for (int64_t c = 0; c < keys.count; ++c)
    for (int64_t i = whole; i < columns; ++i)
      first[c * to.rows + i] += tail[c][i - whole];
}

// Adds what one block of keys contributes.
template <class E>
inline void addBlock(PackedQueries &packed, const AttentionNumbers &n, const HeadTensors &t,
                     Range queries, Range keys) {
  Sight sight = sightOf(n, t, queries, keys);
  if (sight == Sight::None && isFillNothing(n, packed))
    return;
  Scores weights, grads, visible, factors;
  KeyBlock<E> keyBlock, valueBlock;
  Scalars key = keyBlock.read(t.key, keys, n.width),
          value = valueBlock.read(t.value, keys, n.depth);
  computeScores<E>(weights, &visible, n, t, packed.query, key, queries, keys, sight);
  weigh(weights, packed, n, wholeRows(queries), keys.count);
  multiply(grads.at[0], kBlock, value, packed.grad.at[0], kBlock, keys.count, n.depth, kBlock,
           false);
  if (n.drops)
    drawFactors(factors, n, t, queries, keys);
  if (sight == Sight::None)
    fill(visible.at[0], keys.count * kBlock, 0);
  scoreGradients(weights, grads, n.drops ? &factors : nullptr,
                 sight == Sight::All ? nullptr : &visible, packed, wholeRows(queries), keys.count);
  addProduct(t.valueGrad, weights, packed.gradRows, keys, queries.count, n.depth);
  for (int64_t i = 0; i < keys.count * kBlock; i += kLanes)
    store(grads.at[0] + i, load(grads.at[0] + i) * n.scale);
  addProduct(t.keyGrad, grads, packed.queryRows, keys, queries.count, n.width);
  multiply(packed.queryGrad.at[0], kBlock, transposed(key), grads.at[0], kBlock, n.width,
           keys.count, kBlock, true);
}

template <class E>
inline void backward(const AttentionNumbers &n, const HeadTensors &t, HeadView queryGrad,
                     int64_t part, int64_t parts) {
  PackedQueries packed;
  for (int64_t q = 0; q < blocksOf(n.queries); ++q) {
    Range queries = blockOf(q, n.queries);
    pack<E>(packed, n, t, queries);
    for (int64_t k = part; k < blocksOf(n.keys); k += parts)
      addBlock<E>(packed, n, t, queries, blockOf(k, n.keys));
    for (int64_t r = 0; r < queries.count; ++r)
      for (int64_t c = 0; c < n.width; ++c)
        *place<F32>(queryGrad, queries.begin + r, c) = packed.queryGrad.at[c][r];
  }
}

} // namespace

#define CLEAVE_ATTENTION_KERNELS(NAME)                                                             \
  {                                                                                                \
    NAME, {forward<F32>, forward<BF16>, forward<F16>}, {                                           \
      backward<F32>, backward<BF16>, backward<F16>                                                 \
    }                                                                                              \
  }

} // namespace cleave::device
