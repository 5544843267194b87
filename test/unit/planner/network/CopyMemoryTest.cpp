// When copies of values take memory.
#include "compiler/planner/network/CopyMemory.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

constexpr Part kAllParts[] = {Part::Forward, Part::Backward, Part::Update};

StepModel clockedModel() {
  StepModel model = trainingModel(8, 4, 16);
  setPlainStores(model);
  return model;
}

} // namespace

TEST_CASE("a copy is there for all readers of its part of the step") {
  const StepModel model = clockedModel();
  const CopyMemory memory(model, 0);
  int copies = 0, replacing = 0;
  for (int v = 0; v < static_cast<int>(model.values.size()); ++v)
    for (Part part : kAllParts) {
      const std::optional<CopySpan> copy = memory.of(v, part);
      bool isRead = false;
      int64_t first = model.instants; // instant of a reader
      for (const Use &use : model.values[v].uses)
        if (const Op &op = model.ops[use.op]; op.part == part) {
          isRead = true;
          first = std::min(first, op.runs.begin);
          REQUIRE(copy);
          CHECK(copy->span.begin <= op.runs.begin);
          CHECK(copy->span.end >= op.runs.end);
          CHECK(memory.ofUse(model, use).begin == op.runs.begin - 1);
          CHECK(memory.ofUse(model, use).end >= op.runs.end);
        }
      CHECK(copy.has_value() == isRead);
      if (!copy)
        continue;
      ++copies;
      replacing += copy->replacesHome;
      // Beside the value, it is made before its first reader runs.
      CHECK(copy->span.begin == (copy->replacesHome ? first : first - 1));
      // It takes the place of the value from the instant on at which the value's home ends.
      CHECK(copy->replacesHome == (copy->span.begin == memory.homeEnd(v)));
    }
  CHECK(copies > 10);
  CHECK(replacing > 3);
}

TEST_CASE("small values have no copies that count, and arguments keep their homes") {
  const StepModel model = clockedModel();
  const CopyMemory memory(model, 8 * 4 * 4 + 1);
  for (int v = 0; v < static_cast<int>(model.values.size()); ++v) {
    if (model.values[v].bytes() <= 8 * 4 * 4)
      for (Part part : kAllParts)
        CHECK_FALSE(memory.of(v, part));
    if (model.values[v].producer < 0)
      CHECK(memory.homeEnd(v) == model.instants);
  }
}

TEST_CASE("a home that is kept is not replaced") {
  const StepModel model = clockedModel();
  CopyMemory memory(model, 0);
  int kept = 0;
  for (int v = 0; v < static_cast<int>(model.values.size()); ++v)
    for (Part part : kAllParts)
      if (const auto copy = memory.of(v, part); copy && copy->replacesHome) {
        memory.keepHome(v);
        CHECK_FALSE(memory.of(v, part)->replacesHome);
        CHECK(memory.homeEnd(v) == model.instants);
        ++kept;
      }
  CHECK(kept > 3);
}
