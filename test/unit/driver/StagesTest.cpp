// --stages: the options that it excludes, and the units and programs of the stages.
#include "passes/driver/Stages.h"

#include "dialects/program/Program.h"
#include "test/unit/driver/Models.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::driver;
using Catch::Matchers::Contains;

namespace {

CompileOptions inStages(const ModelFile &file, int64_t stages) {
  CompileOptions options = optionsOf(file.path(), bundledCases()[1], {.ranks = stages});
  options.stages = stages;
  options.accumulate = 3;
  return options;
}

} // namespace

TEST_CASE("--stages excludes options that know one step only, by their names") {
  CompileOptions options;
  options.train = true;
  options.ranks = options.stages = 2;
  CHECK(checkStages(options).isOk());
  SECTION("no training") {
    options.train = false;
    CHECK_THAT(checkStages(options).message(), Contains("--train"));
  }
  SECTION("an evaluation") {
    options.evaluate = true;
    CHECK_THAT(checkStages(options).message(), Contains("--eval"));
  }
  SECTION("a search for memory") {
    options.leastMemory = true;
    CHECK_THAT(checkStages(options).message(), Contains("--memory least"));
  }
  SECTION("other ranks than stages") {
    options.ranks = 4;
    CHECK_THAT(checkStages(options).message(), Contains("--ranks 4"));
  }
  SECTION("no stage") {
    options.stages = 0;
    CHECK_THAT(checkStages(options).message(), Contains("found 0"));
  }
}

TEST_CASE("each stage is a unit, then a program of its rank that takes the planned bytes") {
  const ModelFile file(bundledCases()[1]);
  Compilation c(inStages(file, 3));
  Status status = compileTo(c, "primitive");
  INFO((status ? "" : status.message()));
  REQUIRE(status.isOk());
  REQUIRE(c.units.size() == 3);
  for (size_t i = 0; i < 3; ++i)
    CHECK(c.units[i].name() == "stage " + std::to_string(i));
  status = continueTo(c, "primitive", "program");
  INFO((status ? "" : status.message()));
  REQUIRE(status.isOk());
  REQUIRE(c.stagePeaks.size() == 3);
  int64_t rank = 0;
  for (auto program : c.module().getOps<program::ProgramOp>()) {
    CHECK(std::vector<int64_t>(*program.getRanks()) == std::vector<int64_t>{rank});
    CHECK(program.getArena()->getPeak() == c.stagePeaks[rank]);
    ++rank;
  }
  CHECK(rank == 3);
}
