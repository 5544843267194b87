// Works in blocks that stay in the first-level cache. This file is compiled for several instruction
// sets at once; all give the same bits, since nothing is reordered or contracted.
#include "runtime/comm/Reduction.h"

#include "runtime/base/Float16.h"

#include <algorithm>
#include <type_traits>

namespace cleave::comm {
namespace {

constexpr int64_t kBlock = 1024; // elements

template <typename T> struct Plain {
  using Stored = T;
  using Value = T;
  static Value load(Stored x) { return x; }
  static Stored store(Value x) { return x; }
};

struct Bool {
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

#ifdef __clang__ // which does not have both attributes on one function
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

CLEAVE_ALL_TARGETS void reduceFloats(DType dtype, Reduce op, const void *const *sources,
                                     size_t sourceCount, void *destination, int64_t count) {
  if (dtype == DType::F32)
    return reduceFormat<Plain<float>, SumOp>(op, sources, sourceCount, destination, count);
  if (dtype == DType::F64)
    return reduceFormat<Plain<double>, SumOp>(op, sources, sourceCount, destination, count);
  if (dtype == DType::BF16)
    return reduceFormat<BF16Format, SumOp>(op, sources, sourceCount, destination, count);
  return reduceFormat<F16Format, SumOp>(op, sources, sourceCount, destination, count);
}

void reduceIntegers(DType dtype, Reduce op, const void *const *sources, size_t sourceCount,
                    void *destination, int64_t count) {
  switch (dtype) {
  case DType::I8:
    return reduceFormat<Plain<int8_t>, SumOp>(op, sources, sourceCount, destination, count);
  case DType::I16:
    return reduceFormat<Plain<int16_t>, SumOp>(op, sources, sourceCount, destination, count);
  case DType::I32:
    return reduceFormat<Plain<int32_t>, SumOp>(op, sources, sourceCount, destination, count);
  case DType::I64:
    return reduceFormat<Plain<int64_t>, SumOp>(op, sources, sourceCount, destination, count);
  case DType::U8:
    return reduceFormat<Plain<uint8_t>, SumOp>(op, sources, sourceCount, destination, count);
  case DType::U16:
    return reduceFormat<Plain<uint16_t>, SumOp>(op, sources, sourceCount, destination, count);
  case DType::U32:
    return reduceFormat<Plain<uint32_t>, SumOp>(op, sources, sourceCount, destination, count);
  case DType::U64:
    return reduceFormat<Plain<uint64_t>, SumOp>(op, sources, sourceCount, destination, count);
  default:
    return reduceFormat<Bool, OrOp>(op, sources, sourceCount, destination, count);
  }
}

} // namespace

void reduceInOrder(DType dtype, Reduce op, const std::vector<const void *> &sources,
                   void *destination, int64_t count) {
  bool isFloat =
      dtype == DType::F32 || dtype == DType::F64 || dtype == DType::F16 || dtype == DType::BF16;
  auto *reduce = isFloat ? reduceFloats : reduceIntegers;
  reduce(dtype, op, sources.data(), sources.size(), destination, count);
}

} // namespace cleave::comm
