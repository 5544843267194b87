// The values that recipes compute again.
#include "compiler/planner/remat/Fates.h"
#include "test/unit/graph_text/DeepStep.h"
#include "test/unit/planner/Facts.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

constexpr int64_t kLayers = 9, kBatch = 64, kWidth = 16;
constexpr int64_t kValue = 4 * kBatch * kWidth; // bytes of one activation

StepModel deepModel() { return modelOf(deepStep(kLayers, kBatch, kWidth)); }

int64_t keptBytes(const StepModel &model, const Fates &fates) {
  const ForwardReads reads = readsOf(model);
  int64_t bytes = 0;
  for (size_t i = 0; i < model.ops.size(); ++i)
    bytes += fates.again[i] ? 0 : reads.bytes[i];
  return bytes;
}

size_t repetitions(const Fates &fates) {
  return static_cast<size_t>(std::count(fates.again.begin(), fates.again.end(), true));
}

// Whether every op that runs again finds what it reads in the backward part: kept because the
// backward part reads it, or computed again.
bool isClosed(const StepModel &model, const Fates &fates) {
  const ForwardReads reads = readsOf(model);
  for (size_t i = 0; i < model.ops.size(); ++i)
    for (int input : reads.inputs[i])
      if (fates.again[i] && !fates.again[input] && reads.first[input] == ForwardReads::kNever)
        return false;
  return true;
}

} // namespace

TEST_CASE("the backward part reads the exponential and the input of every block") {
  StepModel model = deepModel();
  ForwardReads reads = readsOf(model);
  for (size_t i = 0; i < model.ops.size(); ++i)
    if (model.ops[i].part == Part::Forward && model.ops[i].kind == "graph.exp")
      CHECK(reads.first[i] != ForwardReads::kNever);
    else if (model.ops[i].part == Part::Forward && model.ops[i].kind == "graph.dot_general")
      CHECK(reads.first[i] == ForwardReads::kNever);
}

TEST_CASE("full recomputation keeps a few block boundaries") {
  StepModel model = deepModel();
  Fates fates = fullRecompute(model);
  const int64_t all = keptBytes(model, keepAll(model)), kept = keptBytes(model, fates);
  CHECK(all >= 2 * (kLayers - 1) * kValue);
  CHECK(kept <= all / 2);
  CHECK(repetitions(fates) > 0);
}

TEST_CASE("with more micro-batches in flight full recomputation keeps less, and nothing behind the "
          "last place") {
  StepModel model = deepModel();
  const Fates alone = fullRecompute(model);
  model.inFlight = {8};
  const Fates many = fullRecompute(model);
  CHECK(keptBytes(model, many) < keptBytes(model, alone));
  for (size_t i = 0; i < model.ops.size(); ++i)
    if (model.ops[i].kind == "graph.exp" && isRecomputable(model, static_cast<int>(i)))
      CHECK(many.again[i]);
  CHECK(repetitions(many) > repetitions(alone));
  CHECK(isClosed(model, many));
}

TEST_CASE("segments begin at ops, whatever is in flight") {
  StepModel model = deepModel();
  for (int64_t inFlight : {1, 8}) {
    model.inFlight = {inFlight};
    for (int op : segmentsOf(model, 1))
      CHECK(model.ops.at(static_cast<size_t>(op)).part == Part::Forward);
  }
}

TEST_CASE("selective recomputation repeats no product and keeps no more values") {
  StepModel model = deepModel();
  Fates fates = selectiveRecompute(model);
  for (size_t i = 0; i < model.ops.size(); ++i)
    CHECK_FALSE((fates.again[i] && model.ops[i].work.isProduct));
  CHECK(isClosed(model, fates));
}
