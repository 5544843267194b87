// The least memory in which a plan is found, and the memory that a refusal names.
#include "passes/driver/Compile.h"
#include "runtime/base/Units.h"
#include "test/unit/driver/Models.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <iostream>

using namespace cleave;
using driver::Compilation;

static void requireOk(const Status &status) {
  INFO((status ? "" : status.message()));
  REQUIRE(status.isOk());
}

// The bytes that the message of a refused budget asks for.
static uint64_t namedBytes(driver::CompileOptions options) {
  options.memory = 1 << 10;
  Compilation c(options);
  Status status = driver::compileTo(c, "planned");
  REQUIRE(status.kind() == StatusKind::Infeasible);
  const std::string key = " (--memory ";
  const size_t at = status.message().find(key);
  REQUIRE(at != std::string::npos);
  const size_t begin = at + key.size(), end = status.message().find(')', begin);
  return *parseBytes(status.message().substr(begin, end - begin));
}

// Compiles with the memory that a refusal names.
static void checkNamed(const ModelCase &model, const Split &split) {
  ModelFile file(model);
  driver::CompileOptions options = optionsOf(file.path(), model, split);
  options.memory = namedBytes(options);
  INFO(model.name << " on " << split.ranks << " ranks in " << options.memory->bytes() << " bytes");
  Compilation c(options);
  requireOk(driver::compileTo(c, "program"));
  CHECK(options.memory->holds(c.arenaBytes));
}

// Compiles with the least memory; one per cent less is refused.
static void checkLeast(const ModelCase &model, const Split &split) {
  ModelFile file(model);
  driver::CompileOptions options = optionsOf(file.path(), model, split);
  options.leastMemory = true;
  Compilation least(options);
  requireOk(driver::compileTo(least, "program"));
  options.leastMemory = false;
  options.memory = least.options.memory;
  INFO(model.name << " on " << split.ranks << " ranks in " << options.memory->bytes() << " bytes");
  if (std::getenv("CLEAVE_SHOW"))
    std::cout << model.name << " on " << split.ranks << " ranks: " << options.memory->bytes()
              << "\n"
              << std::flush;
  CHECK(options.memory->holds(least.arenaBytes));
  Compilation again(options);
  requireOk(driver::compileTo(again, "program"));
  CHECK(again.report.seconds == least.report.seconds);
  options.memory = options.memory->bytes() * 99 / 100;
  Compilation less(options);
  CHECK(driver::compileTo(less, "planned").kind() == StatusKind::Infeasible);
}

TEST_CASE("the memory that a refusal names suffices") {
  checkNamed(bundledCases()[0], {4});
  checkNamed(bundledCases()[1], {1});
}

TEST_CASE("the least memory compiles, and one per cent less is refused") {
  checkLeast(bundledCases()[0], {1});
  checkLeast(bundledCases()[0], {4, "dp=4"});
  checkLeast(bundledCases()[1], {1});
}

// Pins leave fewer plans to search.
TEST_CASE("the same for larger models under pins") {
  for (size_t model : {1, 4})
    checkLeast(bundledCases()[model], {4, "dp=4", 1, "zero3"});
}

// Takes 13 minutes of CPU; run by hand or by the label slow: unit-driver "[sweep]".
TEST_CASE("refused and least memory of several ranks", "[.sweep]") {
  for (size_t model : {1, 3, 4}) {
    checkNamed(bundledCases()[model], {4});
    checkLeast(bundledCases()[model], {4});
  }
}
