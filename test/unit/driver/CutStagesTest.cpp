// Pipelines are cut such that their chunks take equally long, and cut again once a plan shows how
// long they take.
#include "passes/driver/CutStages.h"

#include "passes/driver/Predict.h"
#include "passes/driver/StageSearch.h"
#include "test/unit/driver/Models.h"

#include <catch2/catch.hpp>

#include <numeric>

using namespace cleave;
using namespace cleave::driver;

namespace {

CompileOptions twoStages(const ModelFile &file) {
  CompileOptions options = optionsOf(file.path(), bundledCases()[1], {.ranks = 2});
  options.cluster = "h100-node";
  options.device.clear();
  options.accumulate = 4;
  options.stages = 2;
  return options;
}

// The seconds of the forward and backward part of a micro-batch, by stage.
std::vector<double> busy(Compilation &c) {
  const plan::Plan outline = *predictedOutline(c);
  std::vector<double> seconds;
  for (int stage = 0; stage < 2; ++stage) {
    double &sum = seconds.emplace_back();
    for (const char *name : {"forward", "backward"})
      for (const plan::Segment &segment : outline.programs(stage).segments())
        if (segment.name() == name) {
          for (const plan::Instruction &instruction : segment.instructions())
            sum += instruction.seconds();
          break; // the same parts in other slots follow
        }
  }
  return seconds;
}

std::vector<double> byChunk(const std::vector<double> &opSeconds,
                            const std::vector<int64_t> &chunkOf) {
  std::vector<double> sums(2, 0);
  for (size_t op = 0; op < opSeconds.size(); ++op)
    if (chunkOf[op] >= 0)
      sums[chunkOf[op]] += opSeconds[op];
  return sums;
}

} // namespace

TEST_CASE("a cut by wrong seconds is corrected by what its chunks take") {
  const ModelFile file(bundledCases()[1]);
  Compilation first(twoStages(file));
  check(compileTo(first, "train"));
  const std::vector<double> alone = first.cut.opSeconds;

  // As if the later ops took far longer: the second chunk gets too few of them.
  Compilation wrong(twoStages(file));
  wrong.cut.opSeconds = alone;
  for (size_t op = 0; op < alone.size(); ++op)
    if (first.cut.chunkOf[op] == 1)
      wrong.cut.opSeconds[op] *= 10;
  check(compileTo(wrong, "program"));
  const std::vector<double> planned = busy(wrong);
  REQUIRE(planned[0] > 1.5 * planned[1]);

  const std::optional<std::vector<double>> corrected = *secondsByPlan(wrong);
  REQUIRE(corrected);
  const std::vector<double> sums = byChunk(*corrected, wrong.cut.chunkOf),
                            before = byChunk(wrong.cut.opSeconds, wrong.cut.chunkOf);
  CHECK(sums[0] / sums[1] == Approx(planned[0] / planned[1]).epsilon(1e-9));
  CHECK(sums[0] + sums[1] == Approx(before[0] + before[1]).epsilon(1e-9));

  Compilation again(twoStages(file));
  again.cut.opSeconds = *corrected;
  check(compileTo(again, "program"));
  CHECK(again.cut.chunkOf != wrong.cut.chunkOf);
  CHECK(*makespanOf(again) < *makespanOf(wrong));
}

TEST_CASE("a pipeline whose numbers are given is cut again where that is faster") {
  const ModelFile file(bundledCases()[1]);
  Compilation once(twoStages(file)), chosen(twoStages(file));
  check(compileTo(once, "program"));
  check(chooseStages(chosen));
  CHECK(*makespanOf(chosen) <= *makespanOf(once) * (1 + 1e-12));
}
