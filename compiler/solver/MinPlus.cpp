// Eight entries at a time, then four, then one, with the widest instructions of the machine. There
// are no products, which some machines would round together with a sum.
#include "compiler/solver/MinPlus.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <tuple>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define CLEAVE_VECTORISED __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CLEAVE_VECTORISED
#endif
// What a vectorised function consists of: part of each of its clones.
#define CLEAVE_INLINE __attribute__((always_inline))

namespace cleave::solver {

namespace {

using Four = double __attribute__((vector_size(32)));
using Eight = double __attribute__((vector_size(64)));

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename Lanes> CLEAVE_INLINE inline void load(const double *from, Lanes &lanes) {
  std::memcpy(&lanes, from, sizeof(lanes));
}
template <typename Lanes> CLEAVE_INLINE inline void store(const Lanes &lanes, double *to) {
  std::memcpy(to, &lanes, sizeof(lanes));
}

template <typename Lanes, typename Step>
CLEAVE_INLINE inline void inSteps(size_t &i, size_t count, const Step &step) {
  constexpr size_t kLanes = sizeof(Lanes) / sizeof(double);
  for (; i + kLanes <= count; i += kLanes) {
    Lanes lanes{};
    step(i, lanes);
  }
}

// Calls step(i, lanes) for all entries. `lanes` has a zero for each of the entries from i on that
// the step is for.
template <typename Step> CLEAVE_INLINE inline void inLanes(size_t count, const Step &step) {
  size_t i = 0;
  inSteps<Eight>(i, count, step);
  inSteps<Four>(i, count, step);
  inSteps<double>(i, count, step);
}

// The least values so far, per lane.
class Least {
public:
  template <typename Lanes> CLEAVE_INLINE void add(const Lanes &lanes) {
    Lanes &least = std::get<Lanes>(least_);
    least = lanes < least ? lanes : least;
  }
  CLEAVE_INLINE double value() const {
    Four low, high;
    std::memcpy(&low, &std::get<Eight>(least_), sizeof(low));
    std::memcpy(&high, reinterpret_cast<const char *>(&std::get<Eight>(least_)) + sizeof(low),
                sizeof(high));
    low = high < low ? high : low;
    const Four &four = std::get<Four>(least_);
    low = four < low ? four : low;
    return std::min(std::min(std::min(low[0], low[1]), std::min(low[2], low[3])),
                    std::get<double>(least_));
  }

private:
  std::tuple<Eight, Four, double> least_{Eight{} + kInfinity, Four{} + kInfinity, kInfinity};
};

// Adds the tables' entries from choice i of a row.
template <typename Lanes>
CLEAVE_INLINE inline void addTables(const TableRows &rows, int64_t row, size_t i, Lanes &sum) {
  const double *const *tables = rows.tables.data();
  const int64_t *strides = rows.strides.data();
  for (size_t k = 0, count = rows.tables.size(); k < count; ++k) {
    Lanes part;
    load(tables[k] + row * strides[k] + i, part);
    sum += part;
  }
}

} // namespace

CLEAVE_VECTORISED
void leastPerRow(const TableRows &rows, const double *own, double *out) {
  for (int64_t row = 0; row < rows.rows; ++row) {
    Least least;
    inLanes(rows.choices, [&](size_t i, auto &sum) CLEAVE_INLINE {
      load(own + i, sum);
      addTables(rows, row, i, sum);
      least.add(sum);
    });
    out[row] = least.value();
  }
}

CLEAVE_VECTORISED
void leastPerChoice(const TableRows &rows, double *least) {
  for (int64_t row = 0; row < rows.rows; ++row)
    inLanes(rows.choices, [&](size_t i, auto &sum) CLEAVE_INLINE {
      auto before = sum;
      addTables(rows, row, i, sum);
      load(least + i, before);
      sum = sum < before ? sum : before;
      store(sum, least + i);
    });
}

CLEAVE_VECTORISED
void leastPerColumn(const double *table, const double *less, size_t rows, size_t columns,
                    double *least) {
  std::fill(least, least + columns, kInfinity);
  for (size_t row = 0; row < rows; ++row, table += columns)
    inLanes(columns, [&](size_t i, auto &difference) CLEAVE_INLINE {
      auto before = difference;
      load(table + i, difference);
      load(least + i, before);
      difference -= less[row];
      difference = difference < before ? difference : before;
      store(difference, least + i);
    });
}

CLEAVE_VECTORISED
void addTo(double *to, const double *what, size_t count) {
  inLanes(count, [&](size_t i, auto &sum) CLEAVE_INLINE {
    auto part = sum;
    load(to + i, sum);
    load(what + i, part);
    sum += part;
    store(sum, to + i);
  });
}

CLEAVE_VECTORISED
double largestExcess(const double *more, const double *less, size_t count) {
  Least least; // of less[i] - more[i]
  inLanes(count, [&](size_t i, auto &difference) CLEAVE_INLINE {
    auto other = difference;
    load(less + i, difference);
    load(more + i, other);
    difference -= other;
    least.add(difference);
  });
  return -least.value();
}

CLEAVE_VECTORISED
double leastOf(const double *values, size_t count) {
  Least least;
  inLanes(count, [&](size_t i, auto &part) CLEAVE_INLINE {
    load(values + i, part);
    least.add(part);
  });
  return least.value();
}

} // namespace cleave::solver
