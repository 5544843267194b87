// Where a chain of ops is cut.
#include "passes/stage/Balance.h"

#include <catch2/catch.hpp>

using namespace cleave;
using stage::balancedCuts;

using Cuts = std::vector<int64_t>;

TEST_CASE("chunks begin where few values pass, unless these places are too few") {
  const stage::Chain chain{{1, 1, 1, 1}, {0, 0.2, 0.1, 0.2, 0}};
  CHECK(balancedCuts(chain, 2) == Cuts{2});
  CHECK(balancedCuts(chain, 4) == Cuts{1, 2, 3});
}
