// Divisions of a chain into stages: by hand, and of random chains against all divisions.
#include "passes/stage/Balance.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

using namespace cleave::stage;

namespace {

double slowestOf(const Chain &chain, std::vector<int64_t> cuts) {
  cuts.insert(cuts.begin(), 0);
  cuts.push_back(static_cast<int64_t>(chain.seconds.size()));
  double slowest = 0;
  for (size_t s = 0; s + 1 < cuts.size(); ++s) {
    double seconds = 0;
    for (int64_t i = cuts[s]; i < cuts[s + 1]; ++i)
      seconds += chain.seconds[i];
    seconds += s > 0 ? chain.crossing[cuts[s]] : 0;
    seconds += s + 2 < cuts.size() ? chain.crossing[cuts[s + 1]] : 0;
    slowest = std::max(slowest, seconds);
  }
  return slowest;
}

// The least seconds of the slowest stage, over all divisions.
double bestOf(const Chain &chain, int64_t stages, std::vector<int64_t> cuts = {}) {
  if (static_cast<int64_t>(cuts.size()) == stages - 1)
    return slowestOf(chain, cuts);
  double best = std::numeric_limits<double>::infinity();
  for (int64_t at = cuts.empty() ? 1 : cuts.back() + 1;
       at < static_cast<int64_t>(chain.seconds.size()); ++at) {
    cuts.push_back(at);
    best = std::min(best, bestOf(chain, stages, cuts));
    cuts.pop_back();
  }
  return best;
}

} // namespace

TEST_CASE("27 equal layers on 4 stages lose none, and the stages differ by one layer") {
  const Chain chain{std::vector<double>(27, 1), std::vector<double>(28, 0)};
  const std::vector<int64_t> cuts = balancedCuts(chain, 4);
  REQUIRE(cuts.size() == 3);
  CHECK(slowestOf(chain, cuts) == 7);
}

TEST_CASE("a cut prefers the place where few seconds cross") {
  const Chain chain{{1, 1, 1, 1}, {0, 0.1, 5, 0.1, 0}};
  const std::vector<int64_t> cuts = balancedCuts(chain, 2);
  REQUIRE(cuts.size() == 1);
  CHECK(cuts[0] != 2);
}

TEST_CASE("every stage has an op, even where all places are wide") {
  const Chain chain{{1, 1, 1}, {0, 1, 2, 0}};
  CHECK(balancedCuts(chain, 3) == std::vector<int64_t>{1, 2});
}

TEST_CASE("no division of a chain whose places are equally wide is better") {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    Chain chain;
    const size_t ops = 2 + random() % 8;
    for (size_t i = 0; i < ops; ++i)
      chain.seconds.push_back(static_cast<double>(random() % 9));
    chain.crossing.assign(ops + 1, 0.5);
    const auto stages = static_cast<int64_t>(1 + random() % ops);
    CHECK(slowestOf(chain, balancedCuts(chain, stages)) == bestOf(chain, stages));
  }
}
