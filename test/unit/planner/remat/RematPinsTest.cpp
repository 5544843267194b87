// The recompute decisions that pins determine.
#include "compiler/planner/remat/RematPins.h"
#include "compiler/planner/model/ReadStep.h"
#include "dialects/graph/Step.h"
#include "test/unit/graph_text/DeepStep.h"
#include "test/unit/graph_text/GraphText.h"
#include "test/unit/planner/Facts.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

StepModel forwardModel() { return trainingModel(8, 4, 16); }

Pins rules(const std::string &list) { return *Pins::fromJson(R"({"pins": [)" + list + "]}"); }

// An op of the forward pass that may be recomputed, or one that may not.
int recomputable(const StepModel &model, bool wanted) {
  for (size_t i = 0; i < model.ops.size(); ++i)
    if (model.ops[i].part == Part::Forward && isRecomputable(model, static_cast<int>(i)) == wanted)
      return static_cast<int>(i);
  return -1;
}

int determined(const PinnedRemat &pinned) {
  return static_cast<int>(std::count_if(pinned.recomputed.begin(), pinned.recomputed.end(),
                                        [](const auto &decision) { return decision.has_value(); }));
}

} // namespace

TEST_CASE("without pins nothing is determined, a recipe determines everything") {
  const StepModel model = forwardModel();
  CHECK(determined(*pinnedRemat(model, Pins())) == 0);
  CHECK_FALSE(isDetermined(*pinnedRemat(model, Pins())));
  CHECK(determined(*pinnedRemat(model, *Pins::parse("sharding-first"))) == 0);
  const std::pair<const char *, RematPolicy> recipes[] = {
      {"no-recompute", keepAll(model)},
      {"full-recompute", fullRecompute(model)},
      {"selective-recompute", selectiveRecompute(model)}};
  for (const auto &[recipe, policy] : recipes) {
    const PinnedRemat pinned = *pinnedRemat(model, *Pins::parse(recipe));
    INFO(recipe);
    CHECK(isDetermined(pinned));
    RematPolicy normal = policy;
    normalise(model, normal);
    CHECK(policyOf(model, pinned).recomputed == normal.recomputed);
  }
}

TEST_CASE("a rule determines the ops whose names match, and the last one wins") {
  const StepModel model = forwardModel();
  const int op = recomputable(model, true);
  REQUIRE(op >= 0);
  const std::string name = model.ops[op].name;
  const std::string recompute = R"({"op": ")" + name + R"(", "recompute": true})";
  const std::string keep = R"({"op": ")" + name + R"(", "recompute": false})";
  PinnedRemat pinned = *pinnedRemat(model, rules(recompute));
  CHECK(pinned.recomputed[op] == true);
  CHECK(determined(pinned) >= 1);
  for (size_t i = 0; i < model.ops.size(); ++i)
    if (model.ops[i].name != name || model.ops[i].part != Part::Forward)
      CHECK_FALSE(pinned.recomputed[i].has_value());
  CHECK(pinnedRemat(model, rules(recompute + ", " + keep))->recomputed[op] == false);
  CHECK(pinnedRemat(model, rules(keep + ", " + recompute))->recomputed[op] == true);
}

TEST_CASE("a rule that matches nothing, or only what cannot be recomputed, is refused") {
  const StepModel model = forwardModel();
  CHECK_THAT(
      pinnedRemat(model, rules(R"({"op": "nowhere", "recompute": true})")).status().message(),
      Catch::Contains("the pin on the recomputation of nowhere matches no op of the forward pass"));
  const int op = recomputable(model, false);
  REQUIRE(op >= 0);
  CHECK_THAT(
      pinnedRemat(model, rules(R"({"op": ")" + model.ops[op].name + R"(", "recompute": true})"))
          .status()
          .message(),
      Catch::Contains("matches only views, constants and results"));
}

TEST_CASE("pinned decisions replace others") {
  const StepModel model = forwardModel();
  const int op = recomputable(model, true);
  REQUIRE(op >= 0);
  PinnedRemat pinned(model.ops.size());
  pinned.recomputed[op] = false;
  RematPolicy policy = fullRecompute(model);
  const RematPolicy kept = withPinned(model, policy, pinned);
  CHECK_FALSE(kept.recomputed[op]);
  CHECK(withPinned(model, policy, PinnedRemat(model.ops.size())).recomputed[op] ==
        policy.recomputed[op]);
}

TEST_CASE("pins on recomputation that mean nothing are refused") {
  const StepModel model = modelOf(deepStep(3, 8, 16));
  auto messageOf = [&](const char *rules) {
    return pinnedRemat(model, *Pins::fromJson(rules)).status().message();
  };
  CHECK_THAT(messageOf(R"({"pins": [{"op": "nothing", "recompute": true}]})"),
             Catch::Contains("matches no op of the forward pass"));
  CHECK_THAT(messageOf(R"({"pins": [{"op": "reduce*", "recompute": true}]})"),
             Catch::Contains("cannot be recomputed"));
  for (const char *value : {R"("again")", R"("keep")", "1", "null"})
    CHECK_THAT(Pins::fromJson(R"({"pins": [{"op": "*", "recompute": )" + std::string(value) + "}]}")
                   .status()
                   .message(),
               Catch::Contains("expected") && Catch::Contains("true or false") &&
                   Catch::Contains(std::string("\"recompute\":") + value));
  CHECK_THAT(Pins::parse("full-recompute,no-recompute").status().message(),
             Catch::Contains("at most one"));
  CHECK(Pins::parse("zero3,full-recompute")->recompute() == Recompute::Full);
  CHECK(Pins::parse("zero3,full-recompute")->recipe() == **Recipe::parse("zero3"));
}

TEST_CASE("pins keep states, parameters and values in other spaces, if there are bytes") {
  const StepModel model = forwardModel();
  const OtherSpaces both{.host = 1 << 20, .file = 1 << 20}, file{.file = 1 << 20};
  auto pinnedBy = [&](const char *pin, const OtherSpaces &spaces) {
    return pinnedRemat(model, *Pins::parse(pin), spaces);
  };
  CHECK(pinnedBy("offload:parameters", {}).status().exitCode() == 1);
  CHECK_THAT(pinnedBy("offload:activations:host", file).status().message(),
             Catch::Matchers::Contains("give --host-memory"));
  const PinnedRemat values = *pinnedBy("offload:activations", both);
  CHECK_FALSE(values.away.empty());
  CHECK(values.arguments.empty());
  for (const auto &[op, space] : values.away) {
    CHECK(space == Space::Host);
    CHECK(model.ops[op].part == Part::Forward);
  }
  for (const auto &[pin, spaces] :
       {std::pair("offload:activations", file), std::pair("offload:activations:file", both)}) {
    const PinnedRemat inFile = *pinnedBy(pin, spaces);
    CHECK(inFile.away.size() == values.away.size());
    for (const auto &[op, space] : inFile.away)
      CHECK(space == Space::File);
  }
  CHECK(Pins::parse("offload:gradients").status().exitCode() == 1);
}

TEST_CASE("rules name what is in which space, and the last one wins") {
  const StepModel model = forwardModel();
  const OtherSpaces both{.host = 1 << 20, .file = 1 << 20};
  const PinnedRemat all = *pinnedRemat(model, *Pins::parse("offload:activations"), both);
  REQUIRE_FALSE(all.away.empty());
  const int op = all.away.begin()->first;
  const std::string rule = R"({"op": ")" + model.ops[op].name + R"(", "space": )";
  CHECK(pinnedRemat(model, rules(rule + "\"host\"}, " + rule + "\"file\"}"), both)->away.at(op) ==
        Space::File);
  CHECK(planner::policyOf(model, *pinnedRemat(model, rules(rule + "\"device\"}"), both))
            .away.empty());
  CHECK_THAT(
      pinnedRemat(model, rules(R"({"op": "nowhere", "space": "host"})"), both).status().message(),
      Catch::Matchers::Contains("matches no op"));
  CHECK_THAT(Pins::fromJson(R"({"pins": [{"op": "a", "space": "tape"}]})").status().message(),
             Catch::Matchers::Contains("expected") && Catch::Matchers::Contains("tape"));
}

TEST_CASE("a rule may name what is tied by any of its names") {
  StepModel model = trainingModel(64, 512, 1024);
  const OtherSpaces host{.host = 1 << 30};
  const PinnedRemat all = *pinnedRemat(model, *Pins::parse("offload:parameters"), host);
  REQUIRE_FALSE(all.arguments.empty());
  const int parameter = all.arguments.begin()->first;
  model.arguments[parameter].otherNames = {"head.weight"};
  const Pins pins = rules(R"({"name": "head.*", "space": "host"})");
  const Result<PinnedRemat> pinned = pinnedRemat(model, pins, host);
  INFO(pinned.status().message());
  REQUIRE(pinned);
  CHECK(pinned->arguments == std::map<int, Space>{{parameter, Space::Host}});
}

TEST_CASE("where parameters are gathered again, what is made of them alone is recomputed") {
  std::string text = trainingStep(8, 4, 16);
  auto replace = [&](const std::string &from, const std::string &to) {
    REQUIRE(text.find(from) != std::string::npos);
    text.replace(text.find(from), from.size(), to);
  };
  replace("%y = graph.dot_general %a, %v", "%low = graph.relu %v : tensor<16x4xf32>\n"
                                           "  %y = graph.dot_general %a, %low");
  replace("graph.dot_general %dy, %v", "graph.dot_general %dy, %low");
  GraphText graph(text);
  const StepModel model = *readStep(graph::stepOf(graph.module()));
  size_t low = 0;
  while (model.ops[low].kind != "graph.relu" ||
         model.values[model.ops[low].operands[0]].argument < 0)
    ++low;

  CHECK(determined(*pinnedRemat(model, *Pins::parse("zero3"))) == 0);
  const PinnedRemat pinned = *pinnedRemat(model, *Pins::parse("fsdp"));
  CHECK(determined(pinned) == 1);
  CHECK(pinned.recomputed[low] == true);
  CHECK(pinnedRemat(model, *Pins::parse("fsdp,no-recompute"))->recomputed[low] == true);
}
