// Tables: functions of cost tables whose results are remembered, so that equal parts of a network
// are computed once and share their results.
#pragma once

#include "compiler/solver/CostTable.h"

#include <cstdint>
#include <map>
#include <unordered_map>

namespace cleave::solver {

// The words that a result depends on, as the key of a map.
using Words = std::vector<int64_t>;
struct WordsHash {
  size_t operator()(const Words &words) const;
};
template <typename Result> using ByWords = std::unordered_map<Words, Result, WordsHash>;

// Gives equal contents equal numbers, counted from 0.
template <typename Content> class Numbering {
public:
  int64_t of(const Content &content) {
    return numbers_.try_emplace(content, static_cast<int64_t>(numbers_.size())).first->second;
  }

private:
  std::map<Content, int64_t> numbers_;
};

// Matrices are row-major. Results are bit-equal to those computed anew.
class Tables {
public:
  // A number that only tables which share their entries have; keeps the table.
  int64_t number(const CostTable &table);
  // The number of a list of costs; equal lists have equal numbers.
  int64_t number(const std::vector<double> &costs);

  // The matrix with rows and columns exchanged. Of its result, the matrix itself.
  CostTable transposed(const CostTable &matrix, size_t rows, size_t columns);
  // The sum of two tables of one size.
  CostTable sum(const CostTable &a, const CostTable &b);
  // The matrix of the given rows, in this order; a row may occur several times.
  CostTable rows(const CostTable &matrix, size_t columns, const std::vector<int> &rows);

private:
  std::unordered_map<const void *, std::pair<int64_t, CostTable>> numbers_;
  ByWords<int64_t> lists_;
  Numbering<std::vector<int>> selections_;
  ByWords<CostTable> transposed_, sums_, rows_;
};

} // namespace cleave::solver
