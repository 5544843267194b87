// CostTable: an immutable list of seconds that copies share.
//
// The layers of a model are alike, so that most edges of its cost network have the costs of another
// edge. They share one table, and everything that is derived from it is derived once (Tables.h).
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <vector>

namespace cleave::solver {

// The entries; a copy refers to the same ones.
class CostTable {
public:
  CostTable() : CostTable(std::vector<double>()) {}
  CostTable(std::vector<double> entries)
      : entries_(std::make_shared<const std::vector<double>>(std::move(entries))) {}
  CostTable(std::initializer_list<double> entries) : CostTable(std::vector<double>(entries)) {}

  size_t size() const { return entries_->size(); }
  bool empty() const { return entries_->empty(); }
  double operator[](size_t index) const { return (*entries_)[index]; }
  const double *data() const { return entries_->data(); }
  auto begin() const { return entries_->begin(); }
  auto end() const { return entries_->end(); }
  const std::vector<double> &entries() const { return *entries_; }

  // Equal for tables that share their entries; valid while one of them exists.
  const void *identity() const { return entries_.get(); }
  bool operator==(const CostTable &other) const { return *entries_ == *other.entries_; }

private:
  std::shared_ptr<const std::vector<double>> entries_;
};

} // namespace cleave::solver
