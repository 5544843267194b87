// Targets: JSON files of clusters, and of the solver's problems and solutions.
#include "compiler/cluster/Cluster.h"
#include "compiler/solver/Json.h"
#include "test/fuzz/Targets.h"

#include <cstdlib>

namespace cleave::fuzz {

void cluster(std::string_view bytes) {
  Result<cluster::Cluster> read = cluster::fromJson(std::string(bytes));
  mustBeTheirs(read.status());
  if (!read.isOk())
    return;
  mustBeTheirs(cluster::forRanks(*read, 2).status());
  Result<cluster::Cluster> again = cluster::fromJson(cluster::toJson(*read));
  if (!again.isOk() || !(*again == *read))
    std::abort();
}

void solver(std::string_view bytes) {
  std::string text(bytes);
  Result<solver::Problem> problem = solver::problemFromJson(text);
  mustBeTheirs(problem.status());
  if (problem.isOk() && !solver::problemFromJson(solver::toJson(*problem)).isOk())
    std::abort();
  mustBeTheirs(solver::choicesFromJson(text).status());
}

} // namespace cleave::fuzz
