// Work on every unit of a compilation, and units in text.
#include "passes/driver/Units.h"

#include "passes/driver/IrFile.h"
#include "test/unit/driver/Models.h"

#include <catch2/catch.hpp>

#include <cstdio>
#include <unistd.h>

using namespace cleave;
using namespace cleave::driver;
using Catch::Matchers::Contains;

namespace {

// A training with an evaluation, up to the phase `primitive`.
CompileOptions evaluated(const ModelFile &file) {
  CompileOptions options = optionsOf(file.path(), bundledCases()[0], {1});
  options.evaluate = true;
  return options;
}

std::vector<std::string> namesOf(const Compilation &c) {
  std::vector<std::string> names;
  for (const Unit &unit : c.units)
    names.push_back(unit.name());
  return names;
}

} // namespace

TEST_CASE("the units of a training with --eval are its step and its evaluation") {
  const ModelFile file(bundledCases()[0]);
  Compilation c(evaluated(file));
  REQUIRE(compileTo(c, "import").isOk());
  CHECK(namesOf(c) == std::vector<std::string>{"step"});
  REQUIRE(continueTo(c, "import", "primitive").isOk());
  CHECK(namesOf(c) == std::vector<std::string>{"step", "evaluation"});
  SECTION("work visits them in this order; remarks are those on the step") {
    c.remarks.clear();
    std::vector<std::string> visited;
    REQUIRE(forEachUnit(c, [&](Unit &unit) {
              visited.push_back(unit.name());
              c.remarks.push_back({"kind", unit.name()});
              return Status::ok();
            }).isOk());
    CHECK(visited == std::vector<std::string>{"step", "evaluation"});
    REQUIRE(c.remarks.size() == 1);
    CHECK(c.remarks[0].text == "step");
  }
  SECTION("a failure of the evaluation says so, one of the step ends the work") {
    auto failsAt = [&](const std::string &name) {
      return forEachUnit(c,
                         [&](Unit &unit) {
                           return unit.name() == name ? Status::userError("found 3") : Status::ok();
                         })
          .message();
    };
    CHECK(failsAt("step") == "found 3");
    CHECK_THAT(failsAt("evaluation"), Contains("the evaluation of --eval") && Contains("found 3"));
  }
  SECTION("text has both") {
    const std::string path = concat("units-", ::getpid(), ".mlir");
    REQUIRE(writeIr(c, path).isOk());
    CompileOptions options;
    options.model = path;
    Compilation read(options);
    REQUIRE(readIr(read).isOk());
    std::remove(path.c_str());
    CHECK(namesOf(read) == std::vector<std::string>{"step", "evaluation"});
  }
  SECTION("the program of the evaluation joins that of the step") {
    REQUIRE(continueTo(c, "primitive", "program").isOk());
    CHECK(namesOf(c) == std::vector<std::string>{"step"});
  }
}
