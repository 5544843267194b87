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

TEST_CASE("an unknown phase is refused with the names of all, or with the similar one") {
  CHECK(findPhase("nowhere").status().message() ==
        "unknown phase 'nowhere': expected import, forward, train, primitive, planned, "
        "partitioned, scheduled, program or artifact");
  CHECK(findPhase("plan").status().message() == "unknown phase 'plan'; did you mean planned?");
}
