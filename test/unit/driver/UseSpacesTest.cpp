// Plans that keep values in other spaces, by pins or because they do not fit: what is said of them.
#include "test/unit/driver/Answers.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::driver;
using namespace cleave::test;

TEST_CASE("no plan is faster than its bound, however long its copies take") {
  for (const char *pin : {"offload:states", "offload:parameters", "offload:activations"})
    for (bool isFile : {false, true}) { // copies to a file take longer than computation
      CompileOptions options = gptOptions(1);
      options.pin = pin;
      (isFile ? options.fileMemory : options.hostMemory) = int64_t(1) << 30;
      const Fitting plan(options);
      INFO(pin << (isFile ? " in a file" : " in host memory"));
      CHECK(plan.c.report.boundSeconds > 0);
      CHECK(plan.c.report.boundSeconds <= plan.c.report.seconds);
      CHECK(plan.c.report.gap >= 0);
    }
}

TEST_CASE("with host memory no plan is slower than without, or refused where one was found") {
  const int64_t all = Fitting(gptOptions(1)).c.report.arenaBytes;
  for (int64_t percent : {80, 50, 35}) {
    CompileOptions options = gptOptions(1, all * percent / 100);
    const Planned without(options);
    options.hostMemory = all;
    const Fitting with(options);
    INFO(percent << " % of the memory");
    CHECK(with.c.report.arenaBytes <= all * percent / 100);
    CHECK(with.c.report.hostBytes <= all);
    if (without.status)
      CHECK(with.c.report.seconds <= without.c.report.seconds * (1 + 1e-9));
    CHECK(with.c.report.boundSeconds <= with.c.report.seconds);
  }
}
