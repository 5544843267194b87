// Eight or four entries at a time, with the widest instructions of the machine. There are no
// products, which some machines would round together with a sum.
#include "compiler/solver/MinPlus.h"

#include <algorithm>
#include <cstring>
#include <limits>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define CLEAVE_VECTORISED __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CLEAVE_VECTORISED
#endif

namespace cleave::solver {

using Four = double __attribute__((vector_size(32)));
using Eight = double __attribute__((vector_size(64)));

CLEAVE_VECTORISED
void leastPerRow(const TableRows &rows, const double *own, double *out) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double *const *tables = rows.tables.data();
  const int64_t *strides = rows.strides.data();
  const size_t count = rows.tables.size(), choices = rows.choices;
  for (int64_t row = 0; row < rows.rows; ++row) {
    Eight bestOfEight = Eight{} + kInfinity;
    size_t i = 0;
    for (; i + 8 <= choices; i += 8) {
      Eight sum, part;
      std::memcpy(&sum, own + i, sizeof(sum));
      for (size_t k = 0; k < count; ++k) {
        std::memcpy(&part, tables[k] + row * strides[k] + i, sizeof(part));
        sum += part;
      }
      bestOfEight = sum < bestOfEight ? sum : bestOfEight;
    }
    Four best, upper;
    std::memcpy(&best, &bestOfEight, sizeof(best));
    std::memcpy(&upper, reinterpret_cast<const char *>(&bestOfEight) + sizeof(best), sizeof(upper));
    best = upper < best ? upper : best;
    for (; i + 4 <= choices; i += 4) {
      Four sum, part;
      std::memcpy(&sum, own + i, sizeof(sum));
      for (size_t k = 0; k < count; ++k) {
        std::memcpy(&part, tables[k] + row * strides[k] + i, sizeof(part));
        sum += part;
      }
      best = sum < best ? sum : best;
    }
    double least = std::min(std::min(best[0], best[1]), std::min(best[2], best[3]));
    for (; i < choices; ++i) {
      double sum = own[i];
      for (size_t k = 0; k < count; ++k)
        sum += tables[k][row * strides[k] + static_cast<int64_t>(i)];
      least = std::min(least, sum);
    }
    out[row] = least;
  }
}

CLEAVE_VECTORISED
void leastPerChoice(const TableRows &rows, double *least) {
  const double *const *tables = rows.tables.data();
  const int64_t *strides = rows.strides.data();
  const size_t count = rows.tables.size(), choices = rows.choices;
  for (int64_t row = 0; row < rows.rows; ++row) {
    size_t i = 0;
    for (; i + 4 <= choices; i += 4) {
      Four sum = {0, 0, 0, 0}, part;
      for (size_t k = 0; k < count; ++k) {
        std::memcpy(&part, tables[k] + row * strides[k] + i, sizeof(part));
        sum += part;
      }
      std::memcpy(&part, least + i, sizeof(part));
      part = sum < part ? sum : part;
      std::memcpy(least + i, &part, sizeof(part));
    }
    for (; i < choices; ++i) {
      double sum = 0;
      for (size_t k = 0; k < count; ++k)
        sum += tables[k][row * strides[k] + static_cast<int64_t>(i)];
      least[i] = std::min(least[i], sum);
    }
  }
}

CLEAVE_VECTORISED
void leastPerColumn(const double *table, const double *less, size_t rows, size_t columns,
                    double *least) {
  std::fill(least, least + columns, std::numeric_limits<double>::infinity());
  for (size_t row = 0; row < rows; ++row, table += columns) {
    size_t i = 0;
    for (; i + 8 <= columns; i += 8) {
      Eight sum, part;
      std::memcpy(&sum, table + i, sizeof(sum));
      std::memcpy(&part, least + i, sizeof(part));
      sum -= less[row];
      part = sum < part ? sum : part;
      std::memcpy(least + i, &part, sizeof(part));
    }
    for (; i + 4 <= columns; i += 4) {
      Four sum, part;
      std::memcpy(&sum, table + i, sizeof(sum));
      std::memcpy(&part, least + i, sizeof(part));
      sum -= less[row];
      part = sum < part ? sum : part;
      std::memcpy(least + i, &part, sizeof(part));
    }
    for (; i < columns; ++i)
      least[i] = std::min(least[i], table[i] - less[row]);
  }
}

CLEAVE_VECTORISED
void addTo(double *to, const double *what, size_t count) {
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    Four sum, part;
    std::memcpy(&sum, to + i, sizeof(sum));
    std::memcpy(&part, what + i, sizeof(part));
    sum += part;
    std::memcpy(to + i, &sum, sizeof(sum));
  }
  for (; i < count; ++i)
    to[i] += what[i];
}

CLEAVE_VECTORISED
double leastOf(const double *values, size_t count) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Four best = Four{} + kInfinity;
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    Four part;
    std::memcpy(&part, values + i, sizeof(part));
    best = part < best ? part : best;
  }
  double least = std::min(std::min(best[0], best[1]), std::min(best[2], best[3]));
  for (; i < count; ++i)
    least = std::min(least, values[i]);
  return least;
}

} // namespace cleave::solver
