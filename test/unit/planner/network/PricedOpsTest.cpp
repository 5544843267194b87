// Priced choices, shared by ops that are alike; what ops need memory for.
#include "compiler/planner/network/PricedOps.h"
#include "compiler/planner/choices/Meshes.h"
#include "test/unit/graph_text/DeepStep.h"
#include "test/unit/planner/Facts.h"
#include "test/unit/planner/TrainingStep.h"

#include <algorithm>

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

// The context of a step whose arguments have nodes of their own.
OpContext contextOf(const StepModel &model) {
  OpContext context;
  context.followers.resize(model.ops.size());
  context.leaves.resize(model.values.size());
  context.storesOfOp.resize(model.ops.size());
  context.storesOfArgument.resize(model.arguments.size());
  for (size_t i = 0; i < model.stores.size(); ++i)
    if (const int value = model.stores[i].value; value >= 0 && model.values[value].producer >= 0)
      context.storesOfOp[model.values[value].producer].push_back(static_cast<int>(i));
  return context;
}

const Listing kEveryChoice{.limits = {.perOp = 10000, .perArgument = 10000}};

} // namespace

TEST_CASE("equal ops of all layers share a kind, and a list that grows replaces it") {
  const StepModel model = modelOf(deepStep(6, 32, 32));
  const Mesh mesh = *Mesh::parse("a=2,b=2");
  Costs costs(model, h100Node(), mesh);
  Pins pins;
  pins.prepare(model);
  const OpContext context = contextOf(model);
  PricedOps kinds(costs, pins, context);
  std::vector<std::shared_ptr<const PricedOp>> products;
  for (int i = 0; i < static_cast<int>(model.ops.size()); ++i)
    if (model.ops[i].work.isProduct && model.ops[i].part == Part::Forward)
      products.push_back(kinds.of(i, kEveryChoice));
  REQUIRE(products.size() == 6);
  CHECK(kinds.count() == 1);
  for (const auto &kind : products)
    CHECK(kind == products[0]);
  CHECK(products[0]->rest.choice < 0);
  Listing few = kEveryChoice;
  few.limits.perOp = 3;
  const std::shared_ptr<const PricedOp> small = kinds.of(0, few);
  CHECK(small->choices.size() == 3);
  CHECK(small->priced.size() == 4);
  CHECK(small->rest.choice == 3);
  CHECK(kinds.count() == 1);
}

TEST_CASE("a choice takes the seconds of its kernels and reductions, and bytes per need") {
  const StepModel model = modelOf(deepStep(2, 32, 32));
  const Mesh mesh = *Mesh::parse("a=4");
  Costs costs(model, h100Node(), mesh);
  Pins pins;
  pins.prepare(model);
  const OpContext context = contextOf(model);
  PricedOps kinds(costs, pins, context);
  int reduced = 0;
  for (int i = 0; i < static_cast<int>(model.ops.size()); ++i) {
    const Op &op = model.ops[i];
    const std::shared_ptr<const PricedOp> kind = kinds.of(i, kEveryChoice);
    const std::vector<Need> needs = needsOf(model, context, i);
    for (size_t c = 0; c < kind->choices.size(); ++c) {
      const OpChoice &choice = kind->choices[c];
      const double resolve = costs.resolve(op, choice);
      CHECK(kind->priced[c].cost ==
            Approx(costs.kernels(op, choice) + static_cast<double>(op.completions()) * resolve));
      reduced += resolve > 0;
      for (size_t n = 0; n < needs.size(); ++n) {
        const Value &value = model.values[op.results[needs[n].index]];
        if (needs[n].kind == Need::Kind::Home)
          CHECK(kind->priced[c].bytes[n] ==
                storedBytes(value, choice.results[needs[n].index], mesh));
        if (needs[n].kind == Need::Kind::Natural)
          CHECK(kind->priced[c].bytes[n] ==
                storedBytes(value, choice.natural[needs[n].index], mesh));
      }
    }
  }
  CHECK(reduced > 0);
}

TEST_CASE(
    "a result that lives on is needed as it is written, while it changes, and as it is kept") {
  const StepModel model = modelOf(deepStep(2, 32, 32));
  const OpContext context = contextOf(model);
  const Op &op = model.ops[0];
  const std::vector<Need> needs = needsOf(model, context, 0);
  REQUIRE(needs.size() == 3);
  CHECK(needs[0].kind == Need::Kind::Natural);
  CHECK(needs[0].span.end == op.runs.end);
  CHECK(needs[1].kind == Need::Kind::Resolve);
  CHECK(needs[1].span == Span{op.runs.end, op.runs.end + 1});
  CHECK(needs[2].kind == Need::Kind::Home);
  CHECK(needs[2].span.begin == op.runs.end);
  CHECK(needs[2].span.end > op.runs.end + 1);
}

TEST_CASE("an argument with one reader lives in the layout that this wants") {
  const StepModel model = trainingModel(64, 32, 128);
  const int state = 3; // the first moment of the first weight
  const std::vector<Use> &uses = model.values[model.arguments[state].value].uses;
  REQUIRE(uses.size() == 1);
  const Op &reader = model.ops[uses[0].op];
  OpContext context = contextOf(model);
  context.followers[uses[0].op].push_back(state);
  const Mesh mesh = *Mesh::parse("a=4");
  Costs costs(model, h100Node(), mesh);
  Pins pins;
  pins.prepare(model);
  PricedOps kinds(costs, pins, context);
  const int output = model.arguments[state].output;
  REQUIRE(output >= 0);
  const int result = model.values[model.outputs[output].value].result;
  int split = 0;
  for (const OpChoice &choice : kinds.of(uses[0].op, kEveryChoice)->choices) {
    const Sharding layout = followedLayout(model, state, choice);
    CHECK(layout == choice.operands[uses[0].operand]);
    CHECK(choice.results[result] == layout); // its new value stays where it is
    split += !layout.isReplicated();
  }
  CHECK(split > 0);
  CHECK(reader.part == Part::Update);
}
