// The list of phases.
#include "passes/driver/Phases.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::driver;

TEST_CASE("a phase is found by its name, and the phases go from the file to the plan") {
  std::vector<std::string> names;
  for (size_t i = 0; i < phases().size(); ++i) {
    names.push_back(phases()[i].name);
    CHECK(*findPhase(names.back()) == i);
    CHECK(phases()[i].run);
    CHECK(phases()[i].verify);
    CHECK(std::string(phases()[i].summary).find('.') == std::string::npos);
  }
  CHECK(names == std::vector<std::string>{"import", "forward", "train", "primitive", "planned",
                                          "partitioned", "scheduled", "program", "artifact"});
}

TEST_CASE("an unknown phase is told the names of all") {
  CHECK(findPhase("plan").status().message() ==
        "found phase 'plan', expected one of import, forward, train, primitive, planned, "
        "partitioned, scheduled, program, artifact");
}
