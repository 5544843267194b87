#include "compiler/planner/choices/Budget.h"

namespace cleave::planner {

Result<Budget> budgetOf(const std::optional<Budget> &given, const cluster::Cluster &cluster,
                        int64_t ranks) {
  CLEAVE_TRY_ASSIGN(cluster::Cluster shared, cluster::forRanks(cluster, ranks));
  return given.value_or(shared.usableBytes());
}

} // namespace cleave::planner
