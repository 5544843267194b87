// Answers beside a plan: each is what a compilation under the options that it names finds.
#include "passes/driver/Compile.h"
#include "passes/driver/LeastRanks.h"
#include "passes/driver/MicroBatches.h"
#include "passes/driver/Pareto.h"
#include "passes/driver/WaysOut.h"
#include "passes/driver/WhatIf.h"
#include "runtime/base/Units.h"
#include "test/unit/driver/Models.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

using namespace cleave;
using namespace cleave::driver;
using Catch::Matchers::Contains;

namespace {

// A GPT with a larger batch, so that activations take most of the memory.
ModelCase gpt() {
  ModelCase model = bundledCases()[1];
  model.symbols["batch"] = 64;
  return model;
}

CompileOptions optionsFor(int64_t ranks, std::optional<planner::Budget> memory = {}) {
  static const ModelFile file(gpt());
  CompileOptions options = optionsOf(file.path(), gpt(), {ranks});
  options.memory = memory;
  return options;
}

// Compiles up to the phase `planned` with the options of all others.
struct Planned {
  Compilation c;
  Status status;
  explicit Planned(const CompileOptions &options) : c(options), status(plan(c)) {}

  static Status plan(Compilation &c) {
    c.options.output = "-";
    if (!c.options.microBatch.empty())
      CLEAVE_TRY(cutBatch(c));
    return c.module() ? Status::ok() : compileTo(c, "planned");
  }
};

// The same, which must succeed.
struct Fitting : Planned {
  explicit Fitting(const CompileOptions &options) : Planned(options) {
    INFO((status ? "" : status.message()));
    REQUIRE(status.isOk());
  }
};

// Options with a change as users type it, such as `--ranks 4` or `--memory 3KiB --pin zero3`.
CompileOptions changed(CompileOptions options, const std::string &change) {
  std::istringstream words(change);
  for (std::string option, value; words >> option >> value;) {
    if (option == "--memory")
      options.memory = *parseBytes(value);
    else if (option == "--ranks")
      options.ranks = std::stoll(value);
    else if (option == "--micro-batch")
      options.microBatch = value;
    else if (option == "--mesh")
      options.mesh = *Mesh::parse(value);
    else if (option == "--pin")
      options.pin = value;
    else
      FAIL("unknown option " << option);
  }
  return options;
}

// The seconds that a text such as `12.3 ms per step` begins with.
double secondsIn(const std::string &text) {
  const std::map<std::string, double> units = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
  std::istringstream words(text);
  double number = 0;
  std::string unit;
  words >> number >> unit;
  return number * units.at(unit);
}

struct AtPrimitive {
  Compilation c;
  Variants variants;
  explicit AtPrimitive(const CompileOptions &options) : c(options), variants(c) {
    REQUIRE(compileTo(c, "primitive").isOk());
  }
};

} // namespace

TEST_CASE(
    "every way out that a refusal names leads to a plan, which takes no longer than it says") {
  const CompileOptions options = optionsFor(1, 1 << 20);
  Planned refused(options);
  REQUIRE(refused.status.kind() == StatusKind::Infeasible);
  const std::string &message = refused.status.message();
  if (std::getenv("CLEAVE_SHOW"))
    std::cout << message << "\n";
  size_t at = message.find("; ways out: ");
  REQUIRE(at != std::string::npos);
  std::istringstream ways(message.substr(at + 12, message.find("; tried") - at - 12));
  int count = 0;
  for (std::string way; std::getline(ways, way, ';'); ++count) {
    const size_t begin = way.find_first_not_of(' '), end = way.find(": at most ");
    INFO(way);
    REQUIRE(end != std::string::npos);
    Fitting out(changed(options, way.substr(begin, end - begin)));
    CHECK(out.c.decided.seconds <= secondsIn(way.substr(end + 10)) * 1.005); // three digits
    CHECK(out.c.decided.budget.holds(out.c.decided.arenaBytes));
  }
  CHECK(count >= 2);
}

TEST_CASE("a refusal names more ranks and more micro-batches where these suffice") {
  // Half of what one rank needs if it computes all again, and so enough for several.
  const Fitting least(changed(optionsFor(1), "--pin full-recompute"));
  const CompileOptions options = optionsFor(1, least.c.decided.arenaBytes * 6 / 10);
  Planned refused(options);
  REQUIRE(refused.status.kind() == StatusKind::Infeasible);
  INFO(refused.status.message());
  CHECK_THAT(refused.status.message(), Contains("--ranks ") && Contains("--micro-batch "));
}

TEST_CASE("answers to what-if are the plans under these options") {
  CompileOptions options = optionsFor(4);
  AtPrimitive at(options);
  Result<Decided> decided = at.variants.decide(options);
  REQUIRE(decided.isOk());
  Result<std::vector<Variant>> answers = whatIf(at.variants, options, decided->plan);
  REQUIRE(answers.isOk());
  std::set<std::string> kinds;
  for (const Variant &answer : *answers) {
    INFO(answer.change << ": " << answer.outcome << ", " << answer.detail);
    if (std::getenv("CLEAVE_SHOW"))
      std::cout << answer.change << ": " << answer.outcome << ", " << answer.detail << "\n";
    kinds.insert(answer.change.substr(0, answer.change.find(' ')));
    Planned other(changed(options, answer.change));
    CHECK(other.status.isOk() == (answer.seconds > 0));
    if (other.status)
      CHECK(other.c.decided.seconds == Approx(answer.seconds));
  }
  CHECK(kinds == std::set<std::string>{"--memory", "--ranks", "--micro-batch", "--pin", "--mesh"});
}

TEST_CASE("less time is said as a share of the time") {
  CHECK(comparedTo(0.9, 1) == "10.0 % less time");
  CHECK(comparedTo(1.5, 1) == "50.0 % more time");
  CHECK(comparedTo(1, 1) == "the same time");
  CHECK(memoryText(1) == "1KiB");
  CHECK(memoryText((int64_t(1) << 30) + 1) == "1025MiB");
}

TEST_CASE("points that others beat in memory and time are left out") {
  const std::vector<ParetoPoint> kept =
      notDominated({{0, 30, 1.0}, {0, 10, 3.0}, {0, 20, 3.5}, {0, 20, 2.0}, {0, 40, 1.0}});
  REQUIRE(kept.size() == 3);
  for (size_t i = 0; i < 3; ++i)
    CHECK(kept[i].bytes == static_cast<int64_t>(10 * (i + 1)));
}

TEST_CASE("less memory takes more time, from everything kept to the smallest plan") {
  CompileOptions options = optionsFor(1);
  AtPrimitive at(options);
  Result<std::vector<ParetoPoint>> points = paretoPoints(at.variants, options);
  REQUIRE(points.isOk());
  if (std::getenv("CLEAVE_SHOW"))
    std::cout << paretoCsv(*points);
  REQUIRE(points->size() >= 4);
  const Fitting whole(options);
  CHECK(points->back().seconds == Approx(whole.c.decided.seconds));
  CHECK(points->back().repetitions == 0);
  const Fitting least(changed(options, "--pin full-recompute"));
  CHECK(points->front().bytes <= least.c.decided.arenaBytes);
  for (size_t i = 0; i + 1 < points->size(); ++i) {
    CHECK((*points)[i].bytes < (*points)[i + 1].bytes);
    CHECK((*points)[i].seconds > (*points)[i + 1].seconds);
  }
  // A point is what its budget gives.
  options.memory = (*points)[1].budget;
  CHECK(Fitting(options).c.decided.seconds == Approx((*points)[1].seconds));
}

TEST_CASE("a frontier is written as lines and as a picture with a circle per point") {
  const std::vector<ParetoPoint> points = {{1 << 30, 1 << 30, 2e-3, 1e-3, "dp=2,tp=2", 7},
                                           {3 << 29, 3 << 29, 1e-3, 1e-3, "dp=4", 0}};
  CHECK(paretoCsv(points) == "budget_bytes,bytes,planned_seconds,bound_seconds,mesh,repetitions\n"
                             "1073741824,1073741824,0.002,0.001,\"dp=2,tp=2\",7\n"
                             "1610612736,1610612736,0.001,0.001,\"dp=4\",0\n");
  const std::string svg = paretoSvg(points, int64_t(2) << 30, "a < b");
  size_t circles = 0;
  for (size_t at = svg.find("<circle"); at != std::string::npos; at = svg.find("<circle", at + 1))
    ++circles;
  CHECK(circles == 2);
  CHECK_THAT(svg, Contains("a &lt; b") && Contains(">budget<") && Contains("1.00 GiB") &&
                      Contains("2.00 ms") && !Contains("nan") && !Contains("inf"));
  CHECK_THAT(paretoSvg({points[0]}, planner::Budget::unlimited(), ""),
             !Contains("nan") && !Contains("inf"));
}

TEST_CASE("a number of micro-batches cuts the batch") {
  CompileOptions options = optionsFor(2);
  options.microBatch = "4";
  const Fitting cut(options);
  CHECK(cut.c.options.symbols.at("batch") == 16);
  CHECK(cut.c.options.accumulate == 4);
  options.microBatch.clear();
  options.symbols["batch"] = 16;
  options.accumulate = 4;
  const Fitting typed(options);
  CHECK(cut.c.decided.seconds == typed.c.decided.seconds);
  CHECK(cut.c.decided.ops == typed.c.decided.ops);
}

TEST_CASE(
    "a number of micro-batches that does not divide the batch is refused with those that do") {
  CompileOptions options = optionsFor(1);
  options.microBatch = "5";
  CHECK(Planned(options).status.message() ==
        "--micro-batch 5: found batch=64, expected a batch that this number divides: one of 1, 2, "
        "4, 8, 16, 32, 64");
}

TEST_CASE("the chosen number of micro-batches is the fastest that fits") {
  const int64_t all = Fitting(optionsFor(1)).c.decided.arenaBytes;
  for (int64_t percent : {60, 25}) { // repetitions suffice for the first one
    CompileOptions options = optionsFor(1, all * percent / 100);
    options.microBatch = "auto";
    const Fitting chosen(options);
    INFO(percent << " %: " << chosen.c.remarks.back().text);
    if (std::getenv("CLEAVE_SHOW"))
      std::cout << percent << " %: " << chosen.c.remarks.back().text << "\n";
    CHECK((chosen.c.options.accumulate == 1) == (percent == 60));
    for (const char *count : {"1", "4"}) {
      options.microBatch = count;
      if (Planned other(options); other.status)
        CHECK(chosen.c.decided.seconds <= other.c.decided.seconds * (1 + 1e-9));
    }
  }
}

TEST_CASE("the fewest ranks on which a step fits") {
  const int64_t one = Fitting(optionsFor(1)).c.decided.arenaBytes;
  for (int64_t percent : {100, 30}) {
    CompileOptions options = optionsFor(1, one * percent / 100);
    AtPrimitive at(options);
    Result<LeastRanks> least = leastRanks(at.variants, options);
    INFO((least ? least->remark : least.status().message()));
    REQUIRE(least.isOk());
    CHECK((least->ranks == 1) == (percent == 100));
    options.ranks = least->ranks;
    CHECK(Fitting(options).c.decided.seconds == Approx(least->decided.plan.seconds));
    if (least->ranks > 1) {
      options.ranks = least->ranks / 2;
      CHECK(Planned(options).status.kind() == StatusKind::Infeasible);
    }
  }
}
