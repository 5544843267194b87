// The stores that the planner sees are the buffers of the program.
#include "passes/bufferize/Stores.h"
#include "compiler/planner/model/ReadStep.h"
#include "passes/bufferize/Bufferize.h"
#include "passes/fuse/Fuse.h"
#include "passes/schedule/Order.h"
#include "test/unit/graph_text/GraphText.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

using namespace cleave;
using namespace cleave::test;
using planner::Store;

namespace {

struct Read {
  GraphText text;
  planner::StepModel model;

  explicit Read(const std::string &step) : text(step) {
    fuse::formGroups(text.function());
    schedule::orderForMemory(text.function());
    auto read = planner::readStep(text.function());
    REQUIRE(mlir::succeeded(read));
    model = *read;
    REQUIRE(mlir::succeeded(bufferize::readStores(text.function(), model)));
  }

  // The homes of the results of ops of this kind.
  std::vector<Store> homesOf(const std::string &kind) const {
    std::vector<Store> homes;
    for (const Store &store : model.stores)
      if (store.op < 0 && model.values[store.value].producer >= 0 &&
          model.ops[model.values[store.value].producer].kind == kind)
        homes.push_back(store);
    return homes;
  }

  // Most bytes at one instant.
  int64_t peak() const {
    std::map<int64_t, int64_t> change;
    for (const Store &store : model.stores) {
      change[store.span.begin] += store.bytes;
      change[store.span.end] -= store.bytes;
    }
    int64_t bytes = 0, peak = 0;
    for (auto [time, more] : change)
      peak = std::max(peak, bytes += more);
    return peak;
  }
};

// x (A W), its transpose, and exp of a product that nothing reads later.
const char *const kStep = R"(func.func @step(
    %x: tensor<16x16xf32> {graph.name = "x", graph.role = "input"},
    %w: tensor<16x16xf32> {graph.name = "w", graph.role = "parameter"})
    -> (tensor<16x16xf32> {graph.name = "y", graph.role = "output"}) {
  %a = graph.dot_general %x, %w batch [] x [] contract [1] x [0]
    : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  %e = graph.exp %a : tensor<16x16xf32>
  %t = graph.transpose %e by [1, 0] : tensor<16x16xf32> -> tensor<16x16xf32>
  %y = graph.dot_general %t, %w batch [] x [] contract [1] x [0]
    : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  return %y : tensor<16x16xf32>
})";

} // namespace

TEST_CASE("a view has no store of its own, and keeps the one that it lies in") {
  Read read(kStep);
  CHECK(read.homesOf("graph.transpose").empty());
  std::vector<Store> group = read.homesOf("graph.fusion"),
                     products = read.homesOf("graph.dot_general");
  REQUIRE(group.size() == 1);
  REQUIRE(products.size() >= 2);
  CHECK(group[0].span.end > products[1].span.begin); // the second product reads its transpose
}

TEST_CASE("a result in place of an operand takes its store over") {
  Read read(R"(func.func @step(
      %x: tensor<16x16xf32> {graph.name = "x", graph.role = "input"},
      %w: tensor<16x16xf32> {graph.name = "w", graph.role = "parameter"})
      -> (tensor<16x16xf32> {graph.name = "y", graph.role = "output"}) {
    %a = graph.dot_general %x, %w batch [] x [] contract [1] x [0]
      : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
    %e = graph.exp %a : tensor<16x16xf32>
    %y = graph.dot_general %e, %w batch [] x [] contract [1] x [0]
      : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
    return %y : tensor<16x16xf32>
  })");
  std::vector<Store> group = read.homesOf("graph.fusion"),
                     products = read.homesOf("graph.dot_general");
  REQUIRE(group.size() == 1);
  CHECK(products[0].span.end == group[0].span.begin);
}

TEST_CASE("an input lives until its last reader, a parameter at all times") {
  Read read(kStep);
  const std::vector<Store> &stores = read.model.stores;
  auto storeOf = [&](int argument) {
    return *std::find_if(stores.begin(), stores.end(), [&](const Store &store) {
      return store.value == read.model.arguments[argument].value;
    });
  };
  CHECK(storeOf(0).span.end == read.model.ops[0].runs.end);
  CHECK(storeOf(1).span == planner::Span{0, read.model.instants});
}

TEST_CASE("the stores need what the arena of one rank needs") {
  Read read(kStep);
  int64_t planned = read.peak();
  auto sizes = bufferize::bufferize(read.text.module());
  REQUIRE(mlir::succeeded(sizes));
  CHECK(planned == sizes->peak);
}

TEST_CASE("without a program, values live from their producer to their last reader") {
  Read read(kStep);
  planner::setPlainStores(read.model);
  const planner::StepModel &model = read.model;
  REQUIRE(model.stores.size() == model.values.size());
  for (const Store &store : model.stores)
    if (int producer = model.values[store.value].producer; producer >= 0)
      CHECK(store.span.begin == model.ops[producer].runs.begin);
}
