// MinPlus: the inner loops of elimination: sums of table rows, and their least entries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cleave::solver {

// Several rows of the tables to be summed. Row r of table k begins at tables[k] + r * strides[k]
// and has one entry per choice.
struct TableRows {
  std::vector<const double *> tables;
  std::vector<int64_t> strides;
  size_t choices = 0;
  int64_t rows = 0;
};

// out[r] = min over the choices i of own[i] + the sum of the tables' entries (r, i).
void leastPerRow(const TableRows &rows, const double *own, double *out);

// least[i] = min(least[i], min over the rows of the sum of the tables' entries at choice i).
void leastPerChoice(const TableRows &rows, double *least);

// least[i] = min over the rows r of table[r * columns + i] - less[r].
void leastPerColumn(const double *table, const double *less, size_t rows, size_t columns,
                    double *least);

// to[i] += what[i].
void addTo(double *to, const double *what, size_t count);

// The largest of more[i] - less[i] that is a number; -infinity if there are none.
double largestExcess(const double *more, const double *less, size_t count);

// The least of some values; infinity if there are none.
double leastOf(const double *values, size_t count);

} // namespace cleave::solver
