#include "compiler/solver/Tables.h"

#include <cstring>

namespace cleave::solver {

// FNV-1a, over words instead of bytes.
size_t WordsHash::operator()(const Words &words) const {
  uint64_t hash = 14695981039346656037u;
  for (int64_t word : words) {
    hash = (hash ^ static_cast<uint64_t>(word)) * 1099511628211u;
    hash ^= hash >> 29; // otherwise the low bits never depend on the high ones of a word
  }
  return hash;
}

int64_t Tables::number(const CostTable &table) {
  auto [entry, isNew] = numbers_.try_emplace(table.identity(), numbers_.size(), table);
  return entry->second.first;
}

int64_t Tables::number(const std::vector<double> &costs) {
  Words bits(costs.size());
  std::memcpy(bits.data(), costs.data(), costs.size() * sizeof(double));
  return lists_.try_emplace(std::move(bits), static_cast<int64_t>(lists_.size())).first->second;
}

CostTable Tables::transposed(const CostTable &matrix, size_t rows, size_t columns) {
  auto [entry, isNew] =
      transposed_.try_emplace({number(matrix), static_cast<int64_t>(rows)}, CostTable());
  if (!isNew)
    return entry->second;
  std::vector<double> turned(matrix.size());
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j)
      turned[j * rows + i] = matrix[i * columns + j];
  CostTable result = std::move(turned);
  entry->second = result;
  transposed_.try_emplace({number(result), static_cast<int64_t>(columns)}, matrix);
  return result;
}

CostTable Tables::sum(const CostTable &a, const CostTable &b) {
  auto [entry, isNew] = sums_.try_emplace({number(a), number(b)}, CostTable());
  if (isNew) {
    std::vector<double> sums = a.entries();
    for (size_t k = 0; k < sums.size(); ++k)
      sums[k] += b[k];
    entry->second = std::move(sums);
  }
  return entry->second;
}

CostTable Tables::rows(const CostTable &matrix, size_t columns, const std::vector<int> &rows) {
  auto [entry, isNew] = rows_.try_emplace(
      {number(matrix), static_cast<int64_t>(columns), selections_.of(rows)}, CostTable());
  if (isNew) {
    std::vector<double> taken;
    taken.reserve(rows.size() * columns);
    for (int row : rows) {
      auto first = matrix.begin() + static_cast<std::ptrdiff_t>(row * columns);
      taken.insert(taken.end(), first, first + static_cast<std::ptrdiff_t>(columns));
    }
    entry->second = std::move(taken);
  }
  return entry->second;
}

} // namespace cleave::solver
