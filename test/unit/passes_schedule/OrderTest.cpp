// The order of a partitioned step: where ops that read arguments alone stand.
#include "passes/schedule/Order.h"
#include "dialects/graph/Graph.h"
#include "dialects/mesh/MeshDialect.h"

#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace cleave;

namespace {

// The names of the ops after orderParts(), without their dialect.
std::string orderOf(const std::string &module) {
  mlir::MLIRContext context;
  context.loadDialect<graph::GraphDialect, mesh::MeshDialect, mlir::func::FuncDialect>();
  auto text = mlir::parseSourceString<mlir::ModuleOp>(module, &context);
  REQUIRE(text);
  auto step = *text->getOps<mlir::func::FuncOp>().begin();
  schedule::orderParts(step);
  std::string names;
  for (mlir::Operation &op : step.getBody().front().without_terminator())
    names += (names.empty() ? "" : " ") + op.getName().stripDialect().str();
  return names;
}

} // namespace

TEST_CASE("a rounded parameter stands directly before its first reader") {
  CHECK(orderOf(R"(
    func.func @step(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xbf16> {
      %low = graph.cast %w : tensor<4xf32> -> tensor<4xbf16>
      %a = graph.exp %x : tensor<4xf32>
      %b = graph.cast %a : tensor<4xf32> -> tensor<4xbf16>
      %c = graph.mul %b, %low : tensor<4xbf16>
      return %c : tensor<4xbf16>
    })") == "exp cast cast mul");
}

TEST_CASE("what is gathered, and rounded then, stands directly before its first reader") {
  CHECK(orderOf(R"(
    module attributes {mesh.mesh = #mesh.mesh<[dp = 4]>} {
    func.func @step(%x: tensor<8xbf16>, %p: tensor<2xf32>) -> tensor<8xbf16> {
      %whole = mesh.all_gather %p dim 0 over {dp} : tensor<2xf32> -> tensor<8xf32>
      %low = graph.cast %whole : tensor<8xf32> -> tensor<8xbf16>
      %a = graph.exp %x : tensor<8xbf16>
      %b = graph.mul %a, %low : tensor<8xbf16>
      return %b : tensor<8xbf16>
    }})") == "exp all_gather cast mul");
}

TEST_CASE("a reader of an argument stays before the op that replaces it") {
  const std::string step = R"(
    func.func @step(%x: tensor<4xf32>, %s: tensor<4xf32> REPLACED) -> (tensor<4xf32>, tensor<4xf32> SECOND) {
      %old = graph.neg %s : tensor<4xf32>
      %new = graph.add %s, %x : tensor<4xf32>
      %e = graph.exp %x : tensor<4xf32>
      %c = graph.mul %e, %old : tensor<4xf32>
      return %c, %new : tensor<4xf32>, tensor<4xf32>
    })";
  auto with = [&](const std::string &replaced, const std::string &second) {
    std::string text = step;
    text.replace(text.find("REPLACED"), 8, replaced);
    text.replace(text.find("SECOND"), 6, second);
    return orderOf(text);
  };
  CHECK(with("", "") == "add exp neg mul");
  CHECK(with("", "{graph.alias = 1 : i64}") == "neg add exp mul");
}
