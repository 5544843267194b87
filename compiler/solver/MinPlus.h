// MinPlus: the inner loops of elimination: sums of table rows and their least entries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cleave::solver {

// Several rows at once of the tables that are summed. Row r of table k begins at tables[k] + r * strides[k]
// and has one entry per choice.
struct TableRows {
  std::vector<const double *> tables;
  std::vector<int64_t> strides;
  size_t choices = 0;
  int64_t rows = 0;
};

// out[r] = the least over the choices i of own[i] + the tables' entries of row r.
void leastPerRow(const TableRows &rows, const double *own, double *out);

// least[i] = the lesser of itself and the least over the rows of the tables' sums at choice i.
void leastPerChoice(const TableRows &rows, double *least);

// least[i] = the least over the rows r of table[r * columns + i] - less[r].
void leastPerColumn(const double *table, const double *less, size_t rows, size_t columns,
                    double *least);

} // namespace cleave::solver
