// What follows from decisions: the layout changes that partitioning emits, the buckets, and the
// seconds of a step.
#include "compiler/cluster/Presets.h"
#include "compiler/planner/Buckets.h"
#include "compiler/planner/LayoutChanges.h"
#include "compiler/planner/Planner.h"
#include "compiler/planner/ReadStep.h"
#include "test/unit/graph_text/GraphText.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

static const cluster::Cluster &machine() {
  static const cluster::Cluster all = *cluster::findCluster("h100-node");
  return all;
}

static Plan pinned(const StepModel &model, const std::string &pin, int64_t ranks) {
  PlannerOptions options;
  options.ranks = ranks;
  options.pins = *Pins::parse(pin);
  auto plan = planStep(model, machine(), options);
  REQUIRE(plan.isOk());
  return *plan;
}

// The buckets of the sums of gradients; -1: none.
static std::vector<int> bucketsOfSums(const StepModel &model, const Decisions &plan) {
  std::vector<int> buckets;
  for (size_t i = 0; i < model.ops.size(); ++i)
    if (model.ops[i].isAccumulate)
      buckets.push_back(plan.ops[i].buckets.empty() ? -1 : plan.ops[i].buckets[0]);
  return buckets;
}

TEST_CASE("reductions that only the update reads are one call, up to the size of a bucket") {
  const StepModel small = trainingModel(512, 64, 64);
  CHECK(bucketsOfSums(small, pinned(small, "dp", 4)) == std::vector<int>{0, 0});
  CHECK(bucketsOfSums(small, pinned(small, "dp", 1)) == std::vector<int>{-1, -1});
  const StepModel large = trainingModel(512, 2048, 4096); // 32 MiB each
  CHECK(bucketsOfSums(large, pinned(large, "dp", 4)) == std::vector<int>{-1, -1});
}

TEST_CASE("a bucket saves what its members take one by one but not together") {
  StepModel model = trainingModel(512, 64, 64);
  Plan plan = pinned(model, "dp", 4);
  Costs costs(model, machine(), plan.mesh);
  const double joined = secondsOf(costs, plan);
  CHECK(plan.seconds == Approx(joined));
  CHECK(plan.boundSeconds <= plan.seconds);
  int members = 0;
  double bytes = 0, apart = 0;
  for (size_t i = 0; i < plan.ops.size(); ++i) {
    const OpChoice choice = choiceOf(model.ops[i], plan.ops[i]);
    for (size_t k = 0; k < plan.ops[i].buckets.size(); ++k)
      if (plan.ops[i].buckets[k] == 0) {
        auto step = costs.joinable(model.ops[i].results[k], choice.natural[k], choice.results[k]);
        REQUIRE(step);
        ++members;
        bytes += step->bytes;
        apart += step->seconds;
      }
    plan.ops[i].buckets.clear();
  }
  REQUIRE(members >= 2);
  CHECK(secondsOf(costs, plan) - joined == Approx(apart - costs.allReduce({0}, bytes)));
  CHECK(apart > costs.allReduce({0}, bytes));
}

// exp(x), read by three ops of the forward pass.
static const char *const kReaders = R"(
func.func @step(%x: tensor<64x64xf32> {graph.role = "input", graph.name = "x"}) ->
    (tensor<64x64xf32> {graph.role = "output", graph.name = "a"}, tensor<64x64xf32> {graph.role = "output", graph.name = "b"},
     tensor<64x64xf32> {graph.role = "output", graph.name = "c"}) {
  %h = graph.exp %x : tensor<64x64xf32>
  %a = graph.neg %h : tensor<64x64xf32>
  %b = graph.abs %h : tensor<64x64xf32>
  %c = graph.tanh %h : tensor<64x64xf32>
  return %a, %b, %c : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
})";

TEST_CASE("readers share changes and begin from the copy") {
  GraphText text(kReaders);
  auto model = readStep(text.function());
  REQUIRE(mlir::succeeded(model));
  Decisions plan;
  plan.mesh = Mesh{{{"dp", 2}}};
  const Sharding whole = Sharding::replicated(2), rows{{{0}, {}}, {}, {}},
                 columns{{{}, {0}}, {}, {}};
  plan.arguments = {{rows, rows}};
  plan.ops = {{{{0}, {}}, {}, {rows}},
              {{{}, {}}, {}, {whole}},
              {{{}, {}}, {}, {whole}},
              {{{}, {0}}, {}, {columns}}};
  std::vector<LayoutChange> changes = layoutChanges(*model, plan);
  REQUIRE(changes.size() == 2); // rows to whole once, rows to columns
  CHECK((changes[0].from == rows && changes[0].to == whole && changes[0].user == 1));
  CHECK((changes[1].from == rows && changes[1].to == columns && changes[1].user == 3));
  plan.copies = {{1, Part::Forward, whole}};
  changes = layoutChanges(*model, plan);
  REQUIRE(changes.size() == 2); // the copy serves two readers as it is
  CHECK((changes[0].purpose == ChangePurpose::Copy && changes[0].to == whole));
  CHECK((changes[1].from == whole && changes[1].to == columns));
  plan.copies = {{1, Part::Backward, whole}}; // no reader there
  CHECK(layoutChanges(*model, plan).size() == 2);
  CHECK(layoutChanges(*model, plan)[1].from == rows);
}

TEST_CASE("a plan states the copies that its network chose") {
  StepModel model = trainingModel(512, 1024, 4096);
  Plan plan = pinned(model, "zero3", 4);
  Costs costs(model, machine(), plan.mesh);
  std::set<std::pair<int, Part>> seen;
  for (const CopyDecision &copy : plan.copies)
    CHECK(seen.insert({copy.value, copy.part}).second);
  CHECK(std::is_sorted(plan.copies.begin(), plan.copies.end(),
                       [](const auto &a, const auto &b) { return a.value < b.value; }));
  for (const LayoutChange &change : layoutChanges(model, plan))
    CHECK(costs.reshard(change.value, change.from, change.to) < solver::kForbidden);
}
