// The interpreter: order, lifetimes, micro-batches, errors.
#include "compiler/interpret/Interpret.h"
#include "compiler/interpret/LiveValues.h"
#include "test/unit/graph_text/GraphText.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::test;

static Tensor floats(std::vector<int64_t> shape, std::vector<double> values) {
  Tensor tensor(ElementType::F32, std::move(shape));
  tensor.values = std::move(values);
  return tensor;
}

TEST_CASE("a function is run op by op") {
  GraphText text(
      R"(func.func @f(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %a = graph.mul %x, %y : tensor<2xf32>
    %b = graph.add %a, %x : tensor<2xf32>
    return %b, %x : tensor<2xf32>, tensor<2xf32>
  })");
  auto results = interpret::run(text.function(), {floats({2}, {1, 2}), floats({2}, {3, 4})});
  REQUIRE(results.isOk());
  CHECK((*results)[0].values == std::vector<double>{4, 10});
  CHECK((*results)[1].values == std::vector<double>{1, 2});
}

TEST_CASE("results are rounded to their element type") {
  GraphText text(R"(func.func @f(%x: tensor<f32>) -> tensor<f32> {
    %a = graph.exp %x : tensor<f32>
    return %a : tensor<f32>
  })");
  auto results = interpret::run(text.function(), {floats({}, {1})});
  REQUIRE(results.isOk());
  CHECK((*results)[0].values[0] == static_cast<double>(2.7182817f));
}

TEST_CASE("arguments of another type are refused, with both types") {
  GraphText text(R"(func.func @f(%x: tensor<2xf32>) { return })");
  CHECK(interpret::run(text.function(), {floats({3}, {1, 2, 3})}).status().message() ==
        "argument 0 is a tensor of 3xf32, expected 2xf32");
  CHECK(interpret::run(text.function(), {}).status().message() == "found 0 arguments, expected 1");
}

TEST_CASE("a function without a body is refused") {
  GraphText text("func.func private @f(tensor<f32>)");
  CHECK(interpret::run(text.function(), {floats({}, {1})}).status().message() ==
        "only a function of one block can be interpreted");
}

TEST_CASE("symbolic dims are refused") {
  GraphText text(R"(func.func @f(%x: tensor<?xf32, #graph.dims<["batch"]>>) { return })");
  CHECK(interpret::run(text.function(), {floats({2}, {1, 2})}).status().message() ==
        "argument 0 has symbolic dims; bind the symbols before interpreting");
}

TEST_CASE("an op without reference semantics is named") {
  GraphText text(R"(func.func @f(%x: tensor<f32>) {
    %0 = builtin.unrealized_conversion_cast %x : tensor<f32> to tensor<f32>
    return
  })");
  CHECK_THAT(interpret::run(text.function(), {floats({}, {1})}).status().message(),
             Catch::StartsWith("builtin.unrealized_conversion_cast at ") &&
                 Catch::EndsWith("has no reference semantics"));
}

TEST_CASE("values are released after their last use") {
  GraphText text(R"(func.func @f(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
    %a = graph.mul %x, %x : tensor<f32>
    %b = graph.mul %a, %x : tensor<f32>
    return %b : tensor<f32>
  })");
  mlir::func::FuncOp function = text.function();
  mlir::Operation *first = &function.getBody().front().front();
  interpret::LiveValues<int> values;
  values.set(function.getArgument(0), 7);
  values.set(function.getArgument(1), 8);
  CHECK_FALSE(values.isAlive(function.getArgument(1)));
  values.release(first);
  CHECK(values.get(function.getArgument(0)) == 7);
  values.release(first->getNextNode());
  CHECK_FALSE(values.isAlive(function.getArgument(0)));
}

// Doubles x, sums it over the micro-batches, counts steps, and moves a running value by every
// micro-batch's x.
static const char *kAccumulating = R"(func.func @step(
    %count: tensor<f64> {graph.name = "step", graph.role = "state"},
    %x: tensor<f32> {graph.name = "x", graph.role = "input"},
    %running: tensor<f32> {graph.name = "r", graph.role = "state"})
    -> (tensor<f64> {graph.alias = 0 : i64, graph.role = "state"}, tensor<f32> {graph.role = "metric"},
        tensor<f32> {graph.alias = 2 : i64, graph.role = "state"}) {
  %one = graph.constant dense<1.0> : tensor<f64>
  %next = graph.add %count, %one : tensor<f64>
  %double = graph.add %x, %x : tensor<f32>
  %sum = graph.accumulate %double count 3 : tensor<f32>
  %square = graph.mul %sum, %sum : tensor<f32>
  %moved = graph.add %running, %x : tensor<f32>
  return %next, %square, %moved : tensor<f64>, tensor<f32>, tensor<f32>
})";

TEST_CASE("micro-batches are summed; ops after the sums and ops independent of them run once") {
  GraphText text(kAccumulating);
  auto results =
      interpret::runStep(text.function(), {Tensor(ElementType::F64, {}, 4), floats({}, {100})},
                         {{floats({}, {1})}, {floats({}, {2})}, {floats({}, {4})}});
  REQUIRE(results.isOk());
  CHECK((*results)[0].values[0] == 5);
  CHECK((*results)[1].values[0] == 14 * 14);
  CHECK((*results)[2].values[0] == 107);
}

// States that forward writes: one counts micro-batches, one has the other's value before the last.
static const char *kCounting = R"(func.func @step(
    %count: tensor<f32> {graph.name = "count", graph.role = "state", graph.per_micro_batch},
    %before: tensor<f32> {graph.name = "before", graph.role = "state", graph.per_micro_batch},
    %x: tensor<f32> {graph.name = "x", graph.role = "input"})
    -> (tensor<f32> {graph.alias = 0 : i64, graph.role = "state"},
        tensor<f32> {graph.alias = 1 : i64, graph.role = "state"}, tensor<f32> {graph.role = "metric"}) {
  %one = graph.constant dense<1.0> : tensor<f32>
  %next = graph.add %count, %one : tensor<f32>
  %sum = graph.accumulate %x count 3 : tensor<f32>
  return %next, %count, %sum : tensor<f32>, tensor<f32>, tensor<f32>
})";

TEST_CASE("states that forward writes are replaced after each micro-batch, read or not") {
  GraphText text(kCounting);
  Tensor number = floats({}, {1});
  auto results = interpret::runStep(text.function(), {floats({}, {5}), floats({}, {0})},
                                    {{number}, {number}, {number}});
  REQUIRE(results.isOk());
  CHECK((*results)[0].values[0] == 8);
  CHECK((*results)[1].values[0] == 7);
}

TEST_CASE("a step's missing arguments are named") {
  GraphText text(kAccumulating);
  CHECK(interpret::runStep(text.function(), {Tensor(ElementType::F64, {}, 4), floats({}, {100})},
                           {{}})
            .status()
            .message() == "argument 1 (x) is missing");
  Tensor state(ElementType::F64, {}, 4), number = floats({}, {1});
  CHECK(
      interpret::runStep(text.function(), {state, number, number}, {{number}}).status().message() ==
      "found 3 persistent arguments and 1 inputs, expected 2 and 1");
}
