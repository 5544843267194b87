// The fewest ranks on which a step fits.
#include "passes/driver/LeastRanks.h"

#include "test/unit/driver/Answers.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::driver;
using namespace cleave::test;
using Catch::Matchers::Contains;

TEST_CASE(
    "a pin that gives sizes to axes leaves out the numbers of ranks that they do not divide") {
  CompileOptions options = gptOptions(1);
  options.pin = "tp:4";
  AtPrimitive at(options);
  Result<LeastRanks> least = leastRanks(at.variants, options);
  INFO((least ? least->remark : least.status().message()));
  REQUIRE(least.isOk());
  CHECK(least->ranks == 4);
  CHECK_THAT(least->remark, Contains("2: the sizes of --pin do not divide it"));
}

TEST_CASE("the fewest ranks on which a step fits") {
  const int64_t one = Fitting(gptOptions(1)).c.report.arenaBytes;
  for (int64_t percent : {100, 30}) {
    CompileOptions options = gptOptions(1, one * percent / 100);
    AtPrimitive at(options);
    Result<LeastRanks> least = leastRanks(at.variants, options);
    INFO((least ? least->remark : least.status().message()));
    REQUIRE(least.isOk());
    CHECK((least->ranks == 1) == (percent == 100));
    options.ranks = least->ranks;
    CHECK(Fitting(options).c.report.seconds == Approx(least->planned.plan.seconds));
    if (least->ranks > 1) {
      options.ranks = least->ranks / 2;
      CHECK(Planned(options).status.kind() == StatusKind::Infeasible);
    }
  }
}
