// Budgets: an amount, or no limit.
#include "compiler/planner/choices/Budget.h"
#include "compiler/cluster/Presets.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;

TEST_CASE("a budget holds as many bytes as it has, and any number without a limit") {
  const Budget budget(100);
  CHECK(budget.isLimited());
  CHECK(budget.bytes() == 100);
  CHECK(budget.holds(100));
  CHECK_FALSE(budget.holds(101));
  CHECK(Budget::unlimited().holds(INT64_MAX));
  CHECK_FALSE(Budget::unlimited().isLimited());
  CHECK_FALSE(Budget::unlimited() == budget);
}

TEST_CASE("a budget is at most another one that is larger or has no limit") {
  CHECK(Budget(100).isAtMost(100));
  CHECK(Budget(100).isAtMost(101));
  CHECK_FALSE(Budget(100).isAtMost(99));
  CHECK(Budget(100).isAtMost(Budget::unlimited()));
  CHECK_FALSE(Budget::unlimited().isAtMost(100));
  CHECK(Budget::unlimited().isAtMost(Budget::unlimited()));
}

TEST_CASE("what is taken is missing from a budget, but not from one without a limit") {
  CHECK(Budget(100).without(30) == Budget(70));
  CHECK_FALSE(Budget(100).without(100).holds(1)); // nothing left is not no limit
  CHECK(Budget(100).without(100).isLimited());
  CHECK(Budget::unlimited().without(30) == Budget::unlimited());
}

TEST_CASE("a memory space without a limit has more than any step needs, and its sums fit") {
  CHECK(Budget(100).ofSpace() == 100);
  const int64_t most = Budget::unlimited().ofSpace();
  CHECK(most > int64_t(1) << 50);
  CHECK(most <= INT64_MAX / 4);
}

TEST_CASE("the budget is the one that is given, else what the cluster leaves a rank") {
  const cluster::Cluster node = *cluster::findCluster("h100-node");
  CHECK(budgetOf(Budget(100), node, 4)->bytes() == 100);
  CHECK_FALSE(budgetOf(Budget::unlimited(), node, 4)->isLimited());
  CHECK(budgetOf({}, node, 4)->bytes() == node.usableBytes());
  cluster::Cluster cpu = *cluster::findCluster("local-cpu");
  cpu.deviceBytes = 1000;
  cpu.reservedBytes = 200;
  cpu.devicesPerNode = cpu.nodes = 1;
  CHECK(budgetOf({}, cpu, 4)->bytes() == 200); // ranks of a CPU share its memory
  CHECK(budgetOf(Budget(100), node, 0).status().kind() == StatusKind::UserError);
}
