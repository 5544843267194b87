// Reduces in blocks that fit into the first-level cache. The loops are compiled for several
// instruction sets; all give bitwise equal results, because nothing is reordered or contracted. See
// Reduction.h.
#include "runtime/comm/Reduction.h"

#include "runtime/base/ElementFormat.h"

#include <algorithm>
#include <type_traits>

namespace cleave::comm {
namespace {

constexpr int64_t kBlock = 1024; // elements

// Bools as bytes; every byte other than 0 is stored as 1.
struct BoolFormat {
  using Stored = uint8_t;
  using Value = uint8_t;
  static Value load(Stored x) { return x; }
  static Stored store(Value x) { return x != 0; }
};

struct SumOp {
  template <typename T> static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
    } else {
      return a + b;
    }
  }
};

struct OrOp {
  template <typename T> static T apply(T a, T b) { return a | b; }
};

struct MaxOp {
  template <typename T> static T apply(T a, T b) { return (a > b || a != a) ? a : b; }
};

struct MinOp {
  template <typename T> static T apply(T a, T b) { return (a < b || a != a) ? a : b; }
};

// clang does not support both attributes on one function, and GCC 12 crashes with sanitizers.
#if defined(__clang__) || defined(__SANITIZE_ADDRESS__)
#define CLEAVE_ALL_TARGETS __attribute__((flatten))
#else
#define CLEAVE_ALL_TARGETS __attribute__((target_clones("avx512f", "avx2", "default"), flatten))
#endif

template <typename Format, typename Op>
[[gnu::always_inline]] inline void reduceBlocks(const void *const *sources, size_t sourceCount,
                                                void *destination, int64_t count) {
  using Stored = typename Format::Stored;
  using Value = typename Format::Value;
  alignas(64) Value sum[kBlock];
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    int64_t n = std::min(kBlock, count - begin);
    const Stored *first = static_cast<const Stored *>(sources[0]) + begin;
    for (int64_t i = 0; i < n; ++i)
      sum[i] = Format::load(first[i]);
    for (size_t s = 1; s < sourceCount; ++s) {
      const Stored *next = static_cast<const Stored *>(sources[s]) + begin;
      for (int64_t i = 0; i < n; ++i)
        sum[i] = Op::apply(sum[i], Format::load(next[i]));
    }
    Stored *out = static_cast<Stored *>(destination) + begin;
    for (int64_t i = 0; i < n; ++i)
      out[i] = Format::store(sum[i]);
  }
}

template <typename Format, typename Sum>
[[gnu::always_inline]] inline void reduceFormat(Reduce op, const void *const *sources,
                                                size_t sourceCount, void *destination,
                                                int64_t count) {
  switch (op) {
  case Reduce::Sum:
    return reduceBlocks<Format, Sum>(sources, sourceCount, destination, count);
  case Reduce::Max:
    return reduceBlocks<Format, MaxOp>(sources, sourceCount, destination, count);
  case Reduce::Min:
    return reduceBlocks<Format, MinOp>(sources, sourceCount, destination, count);
  }
}

// Reduces numbers of all types. `flatten` and withFormat inline the loops into every clone.
CLEAVE_ALL_TARGETS void reduceNumbers(DType dtype, Reduce op, const void *const *sources,
                                      size_t sourceCount, void *destination, int64_t count) {
  withFormat<PlainFormat>(dtype, [&](auto format) __attribute__((always_inline)) {
    reduceFormat<decltype(format), SumOp>(op, sources, sourceCount, destination, count);
  });
}

} // namespace

void reduceInOrder(DType dtype, Reduce op, const std::vector<const void *> &sources,
                   void *destination, int64_t count) {
  if (dtype == DType::Bool)
    return reduceFormat<BoolFormat, OrOp>(op, sources.data(), sources.size(), destination, count);
  reduceNumbers(dtype, op, sources.data(), sources.size(), destination, count);
}

} // namespace cleave::comm
