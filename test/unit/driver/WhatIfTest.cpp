// Answers to what-if are what a compilation under the options that they name finds.
#include "passes/driver/WhatIf.h"

#include "test/unit/driver/Answers.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <iostream>
#include <set>

using namespace cleave;
using namespace cleave::driver;
using namespace cleave::test;
using Catch::Matchers::Contains;

TEST_CASE("answers to what-if are the plans under these options") {
  CompileOptions options = gptOptions(4);
  AtPrimitive at(options);
  Result<PlannedModule> planned = at.variants.search(options);
  REQUIRE(planned.isOk());
  Result<std::vector<Variant>> answers = whatIf(at.variants, options, planned->plan);
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
      CHECK(other.c.report.seconds == Approx(answer.seconds));
  }
  CHECK(kinds == std::set<std::string>{"--memory", "--ranks", "--micro-batch", "--pin", "--mesh"});
}
