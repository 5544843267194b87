// Arithmetic on vectors of one register, and products of matrices, for attention. The including
// source selects the instruction set and defines CLEAVE_VECTOR_BYTES.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

namespace cleave::device {
namespace { // one copy per instruction set

constexpr int kBytes = CLEAVE_VECTOR_BYTES; // of a register
using Floats = float __attribute__((vector_size(kBytes)));
using Ints = int32_t __attribute__((vector_size(kBytes)));
constexpr int64_t kLanes = kBytes / sizeof(float);
// A product is computed in tiles that fit the registers: rows, and vectors of columns.
constexpr int kTileRows = 6, kTileVectors = kBytes == 64 ? 4 : 2;

inline Floats load(const float *from) {
  Floats v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

inline void store(float *to, Floats v) { std::memcpy(to, &v, sizeof v); }

inline Floats splat(float x) { return x - Floats{}; }

// `a` where the condition's lanes are -1, `b` where they are 0.
inline Floats select(Ints condition, Floats a, Floats b) { return condition ? a : b; }

// e to the power of x, with a relative error below 2e-7; 0 below -87.
inline Floats exponential(Floats x) {
  constexpr float kLog2E = 1.44269504f, kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  constexpr float kRounder = 12582912.0f; // 1.5 * 2^23: adding it rounds to an integer
  Floats bounded = select(x < -87.0f, splat(-87.0f), x);
  bounded = select(bounded > 88.0f, splat(88.0f), bounded);
  Floats shifted = bounded * kLog2E + kRounder, n = shifted - kRounder;
  Floats r = bounded - n * kLn2High - n * kLn2Low;
  Floats p = splat(1.9875691500e-4f); // Cephes' polynomial
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  Ints bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  Ints exponent = (bits - std::bit_cast<int32_t>(kRounder) + 127) << 23;
  Floats scale;
  std::memcpy(&scale, &exponent, sizeof scale);
  Floats result = select(x < -87.0f, splat(0), p * scale);
  result = select(x > 88.0f, splat(std::numeric_limits<float>::infinity()), result);
  return select(x == x, result, x); // NaN stays
}

// The matrix A of a product: element (i, k) is data[i * row + k * column].
struct Scalars {
  const float *data;
  int64_t row, column;
};

// c[M][kLanes * J] (+)= A[M][depth] b[depth][kLanes * J]; ldb and ldc are elements between rows.
template <int M, int J>
inline void multiplyTile(float *c, int64_t ldc, Scalars a, const float *b, int64_t ldb,
                         int64_t depth, bool adds) {
  Floats sum[M][J];
#pragma GCC unroll 8
  for (int i = 0; i < M; ++i)
#pragma GCC unroll 8
    for (int j = 0; j < J; ++j)
      sum[i][j] = adds ? load(c + i * ldc + j * kLanes) : Floats{};
  for (int64_t k = 0; k < depth; ++k) {
    Floats row[J];
#pragma GCC unroll 8
    for (int j = 0; j < J; ++j)
      row[j] = load(b + k * ldb + j * kLanes);
#pragma GCC unroll 8
    for (int i = 0; i < M; ++i) {
      Floats x = splat(a.data[i * a.row + k * a.column]);
#pragma GCC unroll 8
      for (int j = 0; j < J; ++j)
        sum[i][j] += x * row[j];
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < M; ++i)
#pragma GCC unroll 8
    for (int j = 0; j < J; ++j)
      store(c + i * ldc + j * kLanes, sum[i][j]);
}

// The same for any number of rows.
template <int J>
inline void multiplyPanel(float *c, int64_t ldc, Scalars a, const float *b, int64_t ldb,
                          int64_t rows, int64_t depth, bool adds) {
  constexpr int M = kTileRows;
  int64_t i = 0;
  for (; i + M <= rows; i += M)
    multiplyTile<M, J>(c + i * ldc, ldc, {a.data + i * a.row, a.row, a.column}, b, ldb, depth,
                       adds);
  for (; i < rows; ++i)
    multiplyTile<1, J>(c + i * ldc, ldc, {a.data + i * a.row, a.row, a.column}, b, ldb, depth,
                       adds);
}

// c[rows][columns] (+)= A[rows][depth] b[depth][columns], where b and, up to whole vectors, c have
// room for more columns.
inline void multiply(float *c, int64_t ldc, Scalars a, const float *b, int64_t ldb, int64_t rows,
                     int64_t depth, int64_t columns, bool adds) {
  int64_t j = 0;
  for (; j + kTileVectors * kLanes <= columns; j += kTileVectors * kLanes)
    multiplyPanel<kTileVectors>(c + j, ldc, a, b + j, ldb, rows, depth, adds);
  for (; j < columns; j += kLanes)
    multiplyPanel<1>(c + j, ldc, a, b + j, ldb, rows, depth, adds);
}

} // namespace
} // namespace cleave::device
