// A batch cut into a number of micro-batches, given or chosen.
#include "passes/driver/MicroBatches.h"

#include "test/unit/driver/Answers.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <iostream>

using namespace cleave;
using namespace cleave::driver;
using namespace cleave::test;
using Catch::Matchers::Contains;

TEST_CASE("a number of micro-batches cuts the batch") {
  CompileOptions options = gptOptions(2);
  options.microBatch = "4";
  const Fitting cut(options);
  CHECK(cut.c.options.symbols.at("batch") == 16);
  CHECK(cut.c.options.accumulate == 4);
  options.microBatch.clear();
  options.symbols["batch"] = 16;
  options.accumulate = 4;
  const Fitting typed(options);
  CHECK(cut.c.report.seconds == typed.c.report.seconds);
  CHECK(cut.c.report.ops == typed.c.report.ops);
}

TEST_CASE(
    "a number of micro-batches that does not divide the batch is refused with those that do") {
  CompileOptions options = gptOptions(1);
  options.microBatch = "5";
  CHECK(Planned(options).status.message() ==
        "--micro-batch 5: found batch=64, expected a batch that this number divides: one of 1, 2, "
        "4, 8, 16, 32, 64");
}

TEST_CASE("the chosen number of micro-batches is the fastest that fits") {
  const int64_t all = Fitting(gptOptions(1)).c.report.arenaBytes;
  for (int64_t percent : {60, 25}) { // recomputation suffices for the first one
    CompileOptions options = gptOptions(1, all * percent / 100);
    options.microBatch = "auto";
    const Fitting chosen(options);
    INFO(percent << " %: " << chosen.c.remarks.back().text);
    if (std::getenv("CLEAVE_SHOW"))
      std::cout << percent << " %: " << chosen.c.remarks.back().text << "\n";
    CHECK((chosen.c.options.accumulate == 1) == (percent == 60));
    for (const char *count : {"1", "4"}) {
      options.microBatch = count;
      if (Planned other(options); other.status)
        CHECK(chosen.c.report.seconds <= other.c.report.seconds * (1 + 1e-9));
    }
  }
}
