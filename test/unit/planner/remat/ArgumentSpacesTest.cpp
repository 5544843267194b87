// The spaces of arguments as nodes of a network.
#include "compiler/planner/remat/ArgumentSpaces.h"
#include "compiler/cost/Roofline.h"
#include "test/unit/graph_text/DeepStep.h"
#include "test/unit/planner/Facts.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

#include <numeric>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

TEST_CASE("an argument is in device memory throughout, or elsewhere with copies for its uses") {
  const StepModel model = modelOf(deepStep(3, 64, 64));
  const PlanReport plan = plannedBy(model, "", 1);
  const Costs costs(model, h100Node(), plan.mesh);
  const PinnedRemat pinned(model.ops.size());
  const OtherSpaces bytes{.host = 1 << 30, .file = 1 << 30};
  const RematChoices choices(model, plan, pinned, bytes, 1, 0);
  ArgumentSpaces spaces(costs, plan, pinned, choices, bytes, {{Space::Host, 2}, {Space::File, 0}});
  solver::Problem problem;
  spaces.addTo(problem);
  REQUIRE_FALSE(problem.nodes.empty());
  for (const solver::Node &node : problem.nodes) {
    INFO(node.name);
    REQUIRE(node.choices.size() == 3);
    const size_t usages = node.usages.size();
    const std::vector<int64_t> inDevice(node.choices[0].bytes.begin(), node.choices[0].bytes.end());
    const int64_t held = inDevice[0];
    CHECK(held >= kLeastAwayBytes);
    CHECK(std::accumulate(inDevice.begin(), inDevice.end(), int64_t(0)) == held);
    CHECK(node.usages[usages - 2].space == 1);
    CHECK(node.usages[usages - 1].space == 2);
    for (int choice : {1, 2}) {
      CHECK(node.choices[choice].bytes[0] == 0);
      for (size_t u = 1; u + 2 < usages; ++u)
        CHECK(node.choices[choice].bytes[u] == held);
      CHECK(node.choices[choice].bytes[usages - 2] == (choice == 1 ? held : 0));
      CHECK(node.choices[choice].bytes[usages - 1] == (choice == 2 ? held : 0));
    }
    const double copy = cost::awaySeconds(h100Node(), Space::File, static_cast<double>(held));
    const double copies = node.choices[2].cost / copy;
    CHECK(copies >= static_cast<double>(usages - 3)); // one in per use, and perhaps one out
    CHECK(copies <= static_cast<double>(usages - 2));
    CHECK(node.choices[1].cost > 2 * static_cast<double>(held)); // by its price
    CHECK(node.choices[0].cost == 0);
  }
  const std::vector<int> none(problem.nodes.size(), 0), host(problem.nodes.size(), 1);
  CHECK(spaces.chosen(none).empty());
  CHECK(spaces.chosen(host).size() == problem.nodes.size());
  for (const auto &[argument, space] : spaces.chosen(host)) {
    CHECK(space == Space::Host);
    CHECK(spaces.isOpen(argument));
  }
}
