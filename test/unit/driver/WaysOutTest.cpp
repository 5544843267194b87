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
  const Fitting least(changed(gptOptions(1), "--pin full-recompute"));
  const CompileOptions options = gptOptions(1, least.c.decided.arenaBytes * 6 / 10);
  Planned refused(options);
  REQUIRE(refused.status.kind() == StatusKind::Infeasible);
  INFO(refused.status.message());
  CHECK_THAT(refused.status.message(), Contains("--ranks ") && Contains("--micro-batch "));
}
