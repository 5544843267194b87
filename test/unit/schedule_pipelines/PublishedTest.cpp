// Orders, makespans and memory against rows of other simulators: ../shared/facts, which is not part
// of the repository. CLEAVE_PIPELINE_ROWS names another file of the same form as
// pipeline_makespans.json.
#include "compiler/schedule/pipelines/Check.h"
#include "runtime/base/Json.h"
#include "runtime/base/Sha256.h"
#include "test/unit/schedule_pipelines/Evaluated.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <functional>

using namespace cleave;
using namespace cleave::pipelines;

namespace {

Json readFile(const std::string &path) {
  std::ifstream file(path);
  if (!file) {
    WARN("skipped: " << path << " is not there");
    return Json();
  }
  return Json::parse(file);
}

Json readFacts(const std::string &name) {
  return readFile(CLEAVE_SOURCE "/../shared/facts/" + name);
}

// A number, or one per stage.
double secondsOf(const Json &row, const char *key, size_t stage) {
  const Json &value = row.at(key);
  return value.is_array() ? value.at(stage).get<double>() : value.get<double>();
}

Costs costsOf(const Json &row, uint32_t stages) {
  Costs costs;
  for (size_t stage = 0; stage < stages; ++stage)
    costs.stages.push_back({secondsOf(row, "F", stage), secondsOf(row, "B", stage),
                            secondsOf(row, "W", stage), secondsOf(row, "R", stage)});
  if (row.contains("FB"))
    costs.overlap = row["FB"].get<double>();
  costs.transfer = row["c"];
  return costs;
}

Shape shapeOf(const Json &row) { return {row["P"], row["V"], row["M"], row.value("f", 1u)}; }

bool isNoMore(const std::vector<uint32_t> &ours, const std::vector<uint32_t> &theirs) {
  return std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(), std::less_equal());
}

// Makespan, memory and weights of a row: equal for the order of the row, no worse for another one.
void checkRow(const Json &row, const Order &order, bool isTheirs) {
  const Result<Evaluation> found = evaluate(order, costsOf(row, order.stages));
  INFO(found.status().message());
  REQUIRE(found);
  const std::vector<uint32_t> inFlight = row["peak_in_flight"], ofRank = row["peak_per_rank"];
  CHECK(order.pipelines() == row["weight_copies"].get<uint32_t>());
  CHECK(found->makespan <= Approx(row["makespan"].get<double>()).epsilon(1e-9));
  CHECK(isNoMore(found->inFlight, inFlight));
  CHECK(isNoMore(found->inFlightOfRank, ofRank));
  if (!isTheirs)
    return;
  CHECK(found->makespan == Approx(row["makespan"].get<double>()).epsilon(1e-9));
  CHECK(found->longestRank == Approx(row["longest_rank"].get<double>()).epsilon(1e-9));
  CHECK(found->bubbleFraction == Approx(row["bubble_fraction"].get<double>()).margin(2e-9));
  CHECK(found->inFlight == inFlight);
  CHECK(found->inFlightOfRank == ofRank);
}

} // namespace

TEST_CASE("orders, makespans and memory equal the rows of other simulators") {
  const char *other = std::getenv("CLEAVE_PIPELINE_ROWS");
  const Json facts = other ? readFile(other) : readFacts("pipeline_makespans.json");
  if (facts.is_null())
    return;
  size_t equal = 0;
  for (const Json &row : facts["rows"]) {
    INFO(row.dump());
    const Result<Order> order = orderOf(row["schedule"].get<std::string>(), shapeOf(row));
    INFO(order.status().message());
    REQUIRE(order);
    const bool isTheirs =
        sha256(textOf(*order)).substr(0, 16) == row["order_hash"].get<std::string>();
    equal += isTheirs;
    checkRow(row, *order, isTheirs);
  }
  CHECK(equal == facts["rows"].size());
  CHECK(equal > 0);
}

TEST_CASE("makespans equal those of Merak's instruction streams") {
  const Json facts = readFacts("merak_makespans.json");
  if (facts.is_null())
    return;
  const std::pair<const char *, const char *> names[] = {{"1f1b", "1f1b_noremat"},
                                                         {"1f1b-recompute", "1f1b_remat"},
                                                         {"pre-recompute", "pre_recompute"},
                                                         {"last-no-recompute", "last_no_recompute"},
                                                         {"critical-path", "full_critical_path"}};
  for (const Json &row : facts)
    for (const auto &[ours, theirs] : names) {
      INFO(ours << " " << row.dump());
      const Order order = made(ours, {.ranks = row["P"], .microBatches = row["M"]});
      CHECK(evaluated(order, {1, 2, 0, 1}).makespan == row[theirs].get<double>());
    }
}
