// The fates that pins determine.
#include "compiler/planner/remat/FatePins.h"
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

// An op of the forward pass that may run again, and one that may not.
int recomputable(const StepModel &model, bool wanted) {
  for (size_t i = 0; i < model.ops.size(); ++i)
    if (model.ops[i].part == Part::Forward && isRecomputable(model, static_cast<int>(i)) == wanted)
      return static_cast<int>(i);
  return -1;
}

int determined(const ForcedFates &forced) {
  return static_cast<int>(std::count_if(forced.again.begin(), forced.again.end(),
                                        [](const auto &fate) { return fate.has_value(); }));
}

} // namespace

TEST_CASE("without pins nothing is determined, a recipe determines everything") {
  const StepModel model = forwardModel();
  CHECK(determined(*forcedFates(model, Pins())) == 0);
  CHECK_FALSE(isDetermined(*forcedFates(model, Pins())));
  CHECK(determined(*forcedFates(model, *Pins::parse("sharding-first"))) == 0);
  const std::pair<const char *, Fates> recipes[] = {
      {"no-recompute", keepAll(model)},
      {"full-recompute", fullRecompute(model)},
      {"selective-recompute", selectiveRecompute(model)}};
  for (const auto &[recipe, fates] : recipes) {
    const ForcedFates forced = *forcedFates(model, *Pins::parse(recipe));
    INFO(recipe);
    CHECK(isDetermined(forced));
    Fates normal = fates;
    normalise(model, normal);
    CHECK(fatesOf(model, forced).again == normal.again);
  }
}

TEST_CASE("a rule determines the ops whose names match, and the last one wins") {
  const StepModel model = forwardModel();
  const int op = recomputable(model, true);
  REQUIRE(op >= 0);
  const std::string name = model.ops[op].name;
  const std::string again = R"({"op": ")" + name + R"(", "recompute": "again"})";
  const std::string keep = R"({"op": ")" + name + R"(", "recompute": "keep"})";
  ForcedFates forced = *forcedFates(model, rules(again));
  CHECK(forced.again[op] == true);
  CHECK(determined(forced) >= 1);
  for (size_t i = 0; i < model.ops.size(); ++i)
    if (model.ops[i].name != name || model.ops[i].part != Part::Forward)
      CHECK_FALSE(forced.again[i].has_value());
  CHECK(forcedFates(model, rules(again + ", " + keep))->again[op] == false);
  CHECK(forcedFates(model, rules(keep + ", " + again))->again[op] == true);
}

TEST_CASE("a rule that matches nothing, or only what cannot run again, is refused") {
  const StepModel model = forwardModel();
  CHECK_THAT(
      forcedFates(model, rules(R"({"op": "nowhere", "recompute": "again"})")).status().message(),
      Catch::Contains("the pin of the fate of nowhere matches no op of the forward pass"));
  const int op = recomputable(model, false);
  REQUIRE(op >= 0);
  CHECK_THAT(
      forcedFates(model, rules(R"({"op": ")" + model.ops[op].name + R"(", "recompute": "again"})"))
          .status()
          .message(),
      Catch::Contains("matches only views, constants and results"));
}

TEST_CASE("forced fates replace others") {
  const StepModel model = forwardModel();
  const int op = recomputable(model, true);
  REQUIRE(op >= 0);
  ForcedFates forced(model.ops.size());
  forced.again[op] = false;
  Fates fates = fullRecompute(model);
  const Fates kept = withForced(model, fates, forced);
  CHECK_FALSE(kept.again[op]);
  CHECK(withForced(model, fates, ForcedFates(model.ops.size())).again[op] == fates.again[op]);
}

TEST_CASE("pins on fates that mean nothing are refused") {
  const StepModel model = modelOf(deepStep(3, 8, 16));
  auto messageOf = [&](const char *rules) {
    return forcedFates(model, *Pins::fromJson(rules)).status().message();
  };
  CHECK_THAT(messageOf(R"({"pins": [{"op": "nothing", "recompute": "again"}]})"),
             Catch::Contains("matches no op of the forward pass"));
  CHECK_THAT(messageOf(R"({"pins": [{"op": "reduce*", "recompute": "again"}]})"),
             Catch::Contains("cannot be computed again"));
  CHECK_FALSE(Pins::fromJson(R"({"pins": [{"op": "*", "recompute": "maybe"}]})").isOk());
  CHECK_THAT(Pins::parse("full-recompute,no-recompute").status().message(),
             Catch::Contains("at most one"));
  CHECK(Pins::parse("zero3,full-recompute")->recompute() == Recompute::Full);
  CHECK(Pins::parse("zero3,full-recompute")->recipe() == **Recipe::parse("zero3"));
}

TEST_CASE("pins keep states, parameters and values in other spaces, if there are bytes") {
  const StepModel model = forwardModel();
  const OtherSpaces both{.host = 1 << 20, .file = 1 << 20}, file{.file = 1 << 20};
  auto force = [&](const char *pin, const OtherSpaces &spaces) {
    return forcedFates(model, *Pins::parse(pin), spaces);
  };
  CHECK(force("offload:parameters", {}).status().exitCode() == 1);
  CHECK_THAT(force("offload:activations:host", file).status().message(),
             Catch::Matchers::Contains("give --host-memory"));
  const ForcedFates values = *force("offload:activations", both);
  CHECK_FALSE(values.away.empty());
  CHECK(values.arguments.empty());
  for (const auto &[op, space] : values.away) {
    CHECK(space == Space::Host);
    CHECK(model.ops[op].part == Part::Forward);
  }
  for (const auto &[pin, spaces] :
       {std::pair("offload:activations", file), std::pair("offload:activations:file", both)}) {
    const ForcedFates inFile = *force(pin, spaces);
    CHECK(inFile.away.size() == values.away.size());
    for (const auto &[op, space] : inFile.away)
      CHECK(space == Space::File);
  }
  CHECK(Pins::parse("offload:gradients").status().exitCode() == 1);
}

TEST_CASE("rules name what is in which space, and the last one wins") {
  const StepModel model = forwardModel();
  const OtherSpaces both{.host = 1 << 20, .file = 1 << 20};
  const ForcedFates all = *forcedFates(model, *Pins::parse("offload:activations"), both);
  REQUIRE_FALSE(all.away.empty());
  const int op = all.away.begin()->first;
  const std::string rule = R"({"op": ")" + model.ops[op].name + R"(", "space": )";
  CHECK(forcedFates(model, rules(rule + "\"host\"}, " + rule + "\"file\"}"), both)->away.at(op) ==
        Space::File);
  CHECK(
      planner::fatesOf(model, *forcedFates(model, rules(rule + "\"device\"}"), both)).away.empty());
  CHECK_THAT(
      forcedFates(model, rules(R"({"op": "nowhere", "space": "host"})"), both).status().message(),
      Catch::Matchers::Contains("matches no op"));
  CHECK_THAT(Pins::fromJson(R"({"pins": [{"op": "a", "space": "tape"}]})").status().message(),
             Catch::Matchers::Contains("expected") && Catch::Matchers::Contains("tape"));
}

TEST_CASE("a rule may name what is tied by any of its names") {
  StepModel model = trainingModel(64, 512, 1024);
  const OtherSpaces host{.host = 1 << 30};
  const ForcedFates all = *forcedFates(model, *Pins::parse("offload:parameters"), host);
  REQUIRE_FALSE(all.arguments.empty());
  const int parameter = all.arguments.begin()->first;
  model.arguments[parameter].otherNames = {"head.weight"};
  const Pins pins = rules(R"({"name": "head.*", "space": "host"})");
  const Result<ForcedFates> forced = forcedFates(model, pins, host);
  INFO(forced.status().message());
  REQUIRE(forced);
  CHECK(forced->arguments == std::map<int, Space>{{parameter, Space::Host}});
}

TEST_CASE("where parameters are gathered again, what is made of them alone is made again") {
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

  CHECK(determined(*forcedFates(model, *Pins::parse("zero3"))) == 0);
  const ForcedFates forced = *forcedFates(model, *Pins::parse("fsdp"));
  CHECK(determined(forced) == 1);
  CHECK(forced.again[low] == true);
  CHECK(forcedFates(model, *Pins::parse("fsdp,no-recompute"))->again[low] == true);
}
