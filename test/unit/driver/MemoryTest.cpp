// The planner's memory is that of the program: for whole models on several numbers of ranks, the
// planned peak is compared with the arena's.
#include "passes/driver/Compile.h"
#include "test/unit/driver/Models.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <iomanip>
#include <iostream>

using namespace cleave;
using driver::Compilation;

namespace {

// What a cost network without a budget counts, as a share of the program's peak. On several ranks
// it leaves out what two decisions together determine (Fit.h).
constexpr double kLeastModelled = 0.97, kMostModelled = 1.01;

void print(const ModelCase &model, const Split &split, const Compilation &c, double ratio) {
  std::cout << std::left << std::setw(24) << model.name << " " << split.ranks << " ranks "
            << std::setw(10) << c.report.mesh.str() << " accumulate " << split.accumulate
            << ": planned " << c.report.peakBytes << ", arena's peak " << c.peakBytes << ", arena "
            << c.arenaBytes << " ("
            << static_cast<double>(c.arenaBytes) / static_cast<double>(c.peakBytes) << "), network "
            << c.report.modelledBytes << " (" << ratio << ")\n"
            << std::flush;
}

// Compiles once, and again with what the plan needs as the limit.
void checkOwnPeak(const Compilation &first) {
  driver::CompileOptions options = first.options;
  options.memory = first.peakBytes;
  Compilation second(options);
  Status status = driver::compileTo(second, "program");
  INFO("in " << first.peakBytes << " bytes: " << (status ? "" : status.message()));
  REQUIRE(status.isOk());
  CHECK(second.report.ops == first.report.ops);
  CHECK(second.report.arguments == first.report.arguments);
  CHECK(second.arenaBytes == first.arenaBytes);
}

enum class OwnPeak { Skip, Check };

void checkMemory(const std::string &path, const ModelCase &model, const Split &split,
                 OwnPeak ownPeak) {
  Compilation c(optionsOf(path, model, split));
  INFO(model.name << " on " << split.ranks << " ranks, mesh " << split.mesh << ", "
                  << split.accumulate << " micro-batches");
  Status status = driver::compileTo(c, "program");
  INFO((status ? "" : status.message()));
  REQUIRE(status.isOk());
  const double ratio =
      static_cast<double>(c.report.modelledBytes) / static_cast<double>(c.peakBytes);
  if (std::getenv("CLEAVE_SHOW"))
    print(model, split, c, ratio);
  CHECK(static_cast<uint64_t>(c.report.peakBytes) == c.peakBytes);
  CHECK(c.arenaBytes == c.peakBytes); // nothing is lost to placement
  if (split.ranks == 1)
    CHECK(c.report.modelledBytes == c.report.peakBytes);
  CHECK(ratio >= kLeastModelled);
  CHECK(ratio <= kMostModelled);
  if (ownPeak == OwnPeak::Check)
    checkOwnPeak(c);
}

void checkAll(const ModelCase &model, const std::vector<Split> &all,
              OwnPeak ownPeak = OwnPeak::Skip) {
  ModelFile file(model);
  for (const Split &split : all)
    checkMemory(file.path(), model, split, ownPeak);
}

} // namespace

TEST_CASE("on one rank the planned peak is the arena's, to the byte") {
  for (const ModelCase &model : bundledCases())
    checkAll(model, {{1, "", 1}, {1, "", 4}});
}

TEST_CASE("on several ranks the planned peak is the arena's, to the byte") {
  for (const ModelCase &model : {bundledCases()[0], bundledCases()[1], bundledCases()[4]})
    checkAll(model, {{4, "dp=2,tp=2", 1}, {8, "dp=8", 4}});
}

TEST_CASE("a plan's own memory given back as the limit gives the same plan") {
  for (int64_t ranks : {1, 4}) {
    checkAll(bundledCases()[1], {{ranks, "", 1}}, OwnPeak::Check);
    checkAll(bundledCases()[4], {{ranks, "", 4}}, OwnPeak::Check);
    checkAll(zooCases()[1], {{ranks, "", 1}}, OwnPeak::Check);
  }
}

// Takes an hour; run by hand or by the label slow: unit-driver "[sweep]".
TEST_CASE("every model on every mesh", "[.sweep]") {
  for (const ModelCase &model : bundledCases())
    checkAll(model, allSplits(), OwnPeak::Check);
  for (const ModelCase &model : zooCases())
    checkAll(model, allSplits(), OwnPeak::Check);
}
