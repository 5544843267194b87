// The values that recipes recompute.
#include "compiler/planner/remat/RematPolicy.h"
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

int64_t keptBytes(const StepModel &model, const RematPolicy &policy) {
  const ForwardReads reads = readsOf(model);
  int64_t bytes = 0;
  for (size_t i = 0; i < model.ops.size(); ++i)
    bytes += policy.recomputed[i] ? 0 : reads.bytes[i];
  return bytes;
}

size_t recomputedIn(const RematPolicy &policy) {
  return static_cast<size_t>(std::count(policy.recomputed.begin(), policy.recomputed.end(), true));
}

// Whether every recomputed op finds what it reads in the backward part: kept because the backward
// part reads it, or recomputed.
bool isClosed(const StepModel &model, const RematPolicy &policy) {
  const ForwardReads reads = readsOf(model);
  for (size_t i = 0; i < model.ops.size(); ++i)
    for (int input : reads.inputs[i])
      if (policy.recomputed[i] && !policy.recomputed[input] &&
          reads.first[input] == ForwardReads::kNever)
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
  RematPolicy policy = fullRecompute(model);
  const int64_t all = keptBytes(model, keepAll(model)), kept = keptBytes(model, policy);
  CHECK(all >= 2 * (kLayers - 1) * kValue);
  CHECK(kept <= all / 2);
  CHECK(recomputedIn(policy) > 0);
}

TEST_CASE("with more micro-batches in flight full recomputation keeps less, and nothing after the "
          "last place") {
  StepModel model = deepModel();
  const RematPolicy alone = fullRecompute(model);
  model.inFlight = {8};
  const RematPolicy many = fullRecompute(model);
  CHECK(keptBytes(model, many) < keptBytes(model, alone));
  for (size_t i = 0; i < model.ops.size(); ++i)
    if (model.ops[i].kind == "graph.exp" && isRecomputable(model, static_cast<int>(i)))
      CHECK(many.recomputed[i]);
  CHECK(recomputedIn(many) > recomputedIn(alone));
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

TEST_CASE("selective recomputation recomputes ops of up to 32 FLOPs per byte") {
  const StepModel model = deepModel();
  const RematPolicy policy = selectiveRecompute(model);
  REQUIRE(recomputedIn(policy) > 0);
  const auto op =
      static_cast<size_t>(std::ranges::find(policy.recomputed, true) - policy.recomputed.begin());
  const double bytes = static_cast<double>(model.values[model.ops[op].results[0]].bytes());
  for (double flopsPerByte : {31.0, 33.0}) {
    StepModel other = model;
    other.ops[op].work.flops = flopsPerByte * bytes;
    CHECK(selectiveRecompute(other).recomputed[op] == (flopsPerByte < 32));
  }
}

TEST_CASE("selective recomputation recomputes no product and keeps no more values") {
  StepModel model = deepModel();
  RematPolicy policy = selectiveRecompute(model);
  for (size_t i = 0; i < model.ops.size(); ++i)
    CHECK_FALSE((policy.recomputed[i] && model.ops[i].work.isProduct));
  CHECK(isClosed(model, policy));
}

// A kernel group of an exponential of `columns` columns, its sums over rows, and functions of it.
static StepModel groupOf(int64_t columns, int functions) {
  const std::string wide = concat("tensor<64x", columns, "xf32>"), narrow = "tensor<64xf32>";
  std::string types = wide + ", " + narrow, results = "%e, %m", body, outputs,
              values = "%0#0, %0#1";
  outputs = wide + " {graph.role = \"output\", graph.name = \"e\"}, " + narrow +
            " {graph.role = \"output\", graph.name = \"m\"}";
  for (int i = 0; i < functions; ++i) {
    types += ", " + wide;
    results += concat(", %f", i);
    body += concat("    %f", i, " = graph.sqrt %e : ", wide, "\n");
    outputs += concat(", ", wide, " {graph.role = \"output\", graph.name = \"f", i, "\"}");
    values += concat(", %0#", 2 + i);
  }
  return modelOf(concat(
      "func.func @step(%x: ", wide, " {graph.role = \"input\", graph.name = \"x\"}, %z: ", wide,
      " {graph.role = \"input\", graph.name = \"z\"}) -> (", outputs,
      ") {\n  %y = graph.add %x, %z : ", wide, "\n  %0:", 2 + functions,
      " = graph.fusion (%a = %y : ", wide, ") -> (", types, ") {\n    %e = graph.exp %a : ", wide,
      "\n    %m = graph.reduce sum %e over [1] : ", wide, " -> ", narrow, "\n", body,
      "    graph.yield ", results, " : ", types, "\n  }\n  return ", values, " : ", types, "\n}"));
}

TEST_CASE("results that are 16 times smaller than another one are kept as well") {
  CHECK(sufficientResults(groupOf(15, 1), 1) == std::vector<int>{0});
  CHECK(sufficientResults(groupOf(16, 1), 1) == std::vector<int>{0, 1});
}

TEST_CASE("of a group of more than six results, none are chosen") {
  CHECK(sufficientResults(groupOf(64, 4), 1));
  CHECK_FALSE(sufficientResults(groupOf(64, 5), 1));
}
