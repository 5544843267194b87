// EdgeCosts: the costs of the network's edges. Edges of values of one shape and type between nodes
// with the same layouts share a table: a model of a hundred equal layers has as many tables as a
// model of three.
#pragma once

#include "compiler/planner/network/Costs.h"
#include "compiler/planner/network/Rest.h"
#include "compiler/solver/Tables.h"

#include <tuple>

namespace cleave::planner {

// Prices edges; keeps a reference to the constructor's argument.
class EdgeCosts {
public:
  explicit EdgeCosts(Costs &costs) : costs_(costs) {}

  // Per choice of the maker and choice of the reader (row-major) the seconds of bringing the value
  // from a layout of the one to a layout of the other, `times` per step. Empty if all are 0.
  solver::CostTable between(int value, const LayoutSet &made, const LayoutSet &wanted,
                            double times);
  // The table that forbids the choices of a reader that take the value where it lives (`isHome`),
  // unless it lives in their layout. Empty if no choice does.
  solver::CostTable homes(const LayoutSet &made, const LayoutSet &read,
                          const std::vector<bool> &isHome);

private:
  solver::CostTable price(int value, const LayoutSet &made, const LayoutSet &wanted, double times);

  Costs &costs_;
  solver::Numbering<LayoutSet> sets_;
  using Key = std::tuple<std::vector<int64_t>, int64_t, int64_t, int64_t, double>;
  std::map<Key, solver::CostTable> tables_; // by shape, bytes of an element, sets, times
  std::map<std::tuple<int64_t, int64_t, std::vector<bool>>, solver::CostTable> homes_; // by sets
};

} // namespace cleave::planner
