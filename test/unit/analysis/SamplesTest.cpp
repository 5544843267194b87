// Which values depend on several samples.
#include "compiler/analysis/Samples.h"

#include "test/unit/graph_text/GraphText.h"

#include <catch2/catch.hpp>

using namespace cleave;

namespace {

// The op at which samples of %x (6 samples of 4 by 8 numbers) meet in %y, which the body computes
// with %i (4 integers per sample) and the parameters %w and %table; empty if they do not.
std::string meeting(const std::string &body, const std::string &type) {
  test::GraphText text(
      R"(func.func @step(%x: tensor<6x4x8xf32> {graph.name = "x", graph.role = "input"},
                         %i: tensor<6x4xi64> {graph.name = "i", graph.role = "input"},
                         %w: tensor<8x8xf32> {graph.name = "w", graph.role = "parameter"},
                         %table: tensor<9x8xf32> {graph.name = "t", graph.role = "parameter"})
                         -> )" +
      type + " {\n" + body + "\nreturn %y : " + type + "\n}");
  const analysis::Samples samples(text.function());
  mlir::Value y = text.function().getBody().front().getTerminator()->getOperand(0);
  mlir::Operation *found = samples.meetingOf(y);
  return found ? found->getName().stripDialect().str() : "";
}

const std::string kWhole = "tensor<6x4x8xf32>";

} // namespace

TEST_CASE("samples stay apart in what each sample computes for itself") {
  CHECK(meeting("%y = graph.exp %x : " + kWhole, kWhole) == "");
  CHECK(meeting("%y = graph.softmax %x dim 1 : " + kWhole, kWhole) == "");
  CHECK(meeting("%y = graph.reduce sum %x over [1] : " + kWhole + " -> tensor<6x8xf32>",
                "tensor<6x8xf32>") == "");
  CHECK(meeting("%y = graph.dot_general %x, %w batch [] x [] contract [2] x [0] : " + kWhole +
                    ", tensor<8x8xf32> -> " + kWhole,
                kWhole) == "");
  CHECK(meeting("%y = graph.dot_general %x, %x batch [0] x [0] contract [2] x [2] : " + kWhole +
                    ", " + kWhole + " -> tensor<6x4x4xf32>",
                "tensor<6x4x4xf32>") == "");
  CHECK(meeting("%y = graph.gather %table at %i dim 0 : tensor<9x8xf32>, tensor<6x4xi64> -> " +
                    kWhole,
                kWhole) == "");
}

TEST_CASE("samples are found in joined and exchanged dims") {
  CHECK(meeting(R"(
    %0 = graph.reshape %x : tensor<6x4x8xf32> -> tensor<24x8xf32>
    %1 = graph.exp %0 : tensor<24x8xf32>
    %2 = graph.reshape %1 : tensor<24x8xf32> -> tensor<6x4x8xf32>
    %y = graph.reduce sum %2 over [1] : tensor<6x4x8xf32> -> tensor<6x8xf32>)",
                "tensor<6x8xf32>") == "");
  CHECK(meeting(R"(
    %0 = graph.transpose %x by [1, 0, 2] : tensor<6x4x8xf32> -> tensor<4x6x8xf32>
    %1 = graph.reshape %0 : tensor<4x6x8xf32> -> tensor<24x8xf32>
    %2 = graph.exp %1 : tensor<24x8xf32>
    %3 = graph.reshape %2 : tensor<24x8xf32> -> tensor<4x6x8xf32>
    %y = graph.reduce sum %3 over [0] : tensor<4x6x8xf32> -> tensor<6x8xf32>)",
                "tensor<6x8xf32>") == "");
  CHECK(meeting(R"(
    %0 = graph.transpose %x by [1, 0, 2] : tensor<6x4x8xf32> -> tensor<4x6x8xf32>
    %y = graph.reduce sum %0 over [1] : tensor<4x6x8xf32> -> tensor<4x8xf32>)",
                "tensor<4x8xf32>") == "reduce");
  CHECK(meeting("%y = graph.reshape %x : tensor<6x4x8xf32> -> tensor<16x12xf32>",
                "tensor<16x12xf32>") == "reshape"); // rows of 12 numbers are of two samples
}

TEST_CASE("samples meet where a value depends on several of them, and from there on") {
  CHECK(meeting(R"(
    %0 = graph.reduce sum %x over [0, 1, 2] : tensor<6x4x8xf32> -> tensor<f32>
    %1 = graph.broadcast %0 to [] : tensor<f32> -> tensor<6x4x8xf32>
    %y = graph.add %x, %1 : tensor<6x4x8xf32>)",
                kWhole) == "reduce");
  CHECK(meeting("%y = graph.softmax %x dim 0 : " + kWhole, kWhole) == "softmax");
  CHECK(meeting("%y = graph.reverse %x dim 0 : " + kWhole, kWhole) == "reverse");
  CHECK(meeting("%y = graph.dot_general %x, %x batch [1] x [1] contract [2] x [2] : " + kWhole +
                    ", " + kWhole + " -> tensor<4x6x6xf32>",
                "tensor<4x6x6xf32>") == "dot_general"); // every sample with every other
  CHECK(meeting("%y = graph.slice %x dim 0 from 1 step 1 : " + kWhole + " -> tensor<3x4x8xf32>",
                "tensor<3x4x8xf32>") == "slice");
}

TEST_CASE("what follows from parameters alone belongs to no sample") {
  CHECK(meeting(R"(
    %0 = graph.reduce sum %w over [0] : tensor<8x8xf32> -> tensor<8xf32>
    %1 = graph.broadcast %0 to [2] : tensor<8xf32> -> tensor<6x4x8xf32>
    %y = graph.add %x, %1 : tensor<6x4x8xf32>)",
                kWhole) == "");
}
