// Numbers that follow from their positions.
#include "dialects/graph/ByPositions.h"

#include "dialects/graph/Graph.h"
#include "test/unit/graph_text/GraphText.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::test;

TEST_CASE("three consecutive integers are counted, two are not") {
  GraphText text("func.func @f(%x: tensor<1xi64>) -> tensor<1xi64> {\n"
                 "  %y = graph.neg %x : tensor<1xi64>\n  return %y : tensor<1xi64>\n}");
  mlir::func::FuncOp function = text.function();
  mlir::OpBuilder b(&function.getBody().front().front());
  auto isCounted = [&](int64_t count) {
    auto type = mlir::RankedTensorType::get({count}, b.getI64Type());
    return bool(graph::buildByPositions(b, function.getLoc(), type,
                                        [](int64_t i) { return static_cast<double>(5 + i); }));
  };
  CHECK_FALSE(isCounted(2));
  CHECK(isCounted(3));
}
