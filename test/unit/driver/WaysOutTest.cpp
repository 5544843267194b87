// Every way out is an option under which there is a plan.
#include "passes/driver/WaysOut.h"

#include "test/unit/driver/Answers.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>

using namespace cleave;
using namespace cleave::driver;
using namespace cleave::test;
using Catch::Matchers::Contains;

// The seconds that a text such as `12.3 ms per step` begins with.
static double secondsIn(const std::string &text) {
  const std::map<std::string, double> units = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
  std::istringstream words(text);
  double number = 0;
  std::string unit;
  words >> number >> unit;
  return number * units.at(unit);
}

TEST_CASE(
    "every way out that a refusal names leads to a plan, which takes no longer than it says") {
  const CompileOptions options = gptOptions(1, 1 << 20);
  Planned refused(options);
  REQUIRE(refused.status.kind() == StatusKind::Infeasible);
  const std::string &message = refused.status.message();
  if (std::getenv("CLEAVE_SHOW"))
    std::cout << message << "\n";
  std::istringstream lines(message);
  std::string line;
  std::getline(lines, line); // the refusal
  std::getline(lines, line);
  REQUIRE_THAT(line, Contains("suggestion") && Contains("step at most") && Contains("memory"));
  int count = 0;
  while (std::getline(lines, line) && line.find("  --") == 0 &&
         line.find("least looks") > line.size()) {
    const size_t end = line.find("  ", 2); // columns are two blanks apart
    INFO(line);
    REQUIRE(end != std::string::npos);
    Fitting out(changed(options, line.substr(2, end - 2)));
    CHECK(out.c.report.seconds <= secondsIn(line.substr(end)) * 1.005); // three digits
    CHECK(out.c.report.budget.holds(out.c.report.arenaBytes));
    ++count;
  }
  CHECK(count >= 2);
}

TEST_CASE("up to three doublings of ranks and three larger numbers of micro-batches are tried") {
  Planned refused(gptOptions(1, 1000)); // bytes, fewer than any change leads to
  REQUIRE(refused.status.kind() == StatusKind::Infeasible);
  CHECK_THAT(refused.status.message(), Contains(", --ranks 8, --micro-batch 8\n"));
}

TEST_CASE("a refusal names more micro-batches, more memory and more ranks, in this order") {
  // Half of what one rank needs if it recomputes everything, and so enough for several.
  const Fitting least(changed(gptOptions(1), "--pin full-recompute"));
  const CompileOptions options = gptOptions(1, least.c.report.arenaBytes * 6 / 10);
  Planned refused(options);
  REQUIRE(refused.status.kind() == StatusKind::Infeasible);
  const std::string &message = refused.status.message();
  INFO(message);
  const size_t batches = message.find("\n  --micro-batch "), memory = message.find("\n  --memory "),
               ranks = message.find("\n  --ranks ");
  CHECK(batches < memory);
  CHECK(memory < ranks);
  CHECK(ranks != std::string::npos);
}
