// Casts before gathers: where they move, and where they must not.
#include "passes/shard/NarrowGathers.h"

#include "dialects/graph/Graph.h"
#include "dialects/mesh/MeshDialect.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace cleave;

namespace {

// The ops of a step with these ops after narrowGathers(), each with the type of its result.
std::string opsOf(const std::string &ops, const std::string &returned) {
  mlir::MLIRContext context;
  context.loadDialect<graph::GraphDialect, mesh::MeshDialect, mlir::func::FuncDialect>();
  auto text = mlir::parseSourceString<mlir::ModuleOp>(
      "module attributes {mesh.mesh = #mesh.mesh<[dp = 2, tp = 4]>} { func.func @step(%p: "
      "tensor<2x3xf32>) -> (" +
          returned + ") {" + ops + "}}",
      &context);
  REQUIRE(text);
  auto step = *text->getOps<mlir::func::FuncOp>().begin();
  shard::narrowGathers(step);
  REQUIRE(succeeded(mlir::verify(*text)));
  std::string names;
  llvm::raw_string_ostream out(names);
  for (mlir::Operation &op : step.getBody().front().without_terminator())
    out << op.getName().stripDialect() << ' '
        << llvm::cast<mlir::RankedTensorType>(op.getResult(0).getType()) << '\n';
  return names;
}

const std::string kGather =
    "%g = mesh.all_gather %p dim 0 over {tp} : tensor<2x3xf32> -> tensor<7x3xf32>\n";

} // namespace

TEST_CASE("a value that is only cast is cast before it is gathered") {
  CHECK(opsOf(kGather + R"(
      %a = graph.cast %g : tensor<7x3xf32> -> tensor<7x3xbf16>
      %b = graph.fusion (%x = %g : tensor<7x3xf32>) -> (tensor<7x3xbf16>) {
        %c = graph.cast %x : tensor<7x3xf32> -> tensor<7x3xbf16>
        graph.yield %c : tensor<7x3xbf16>
      }
      %s = graph.add %a, %b : tensor<7x3xbf16>
      return %s : tensor<7x3xbf16>)",
              "tensor<7x3xbf16>") ==
        "cast tensor<2x3xbf16>\nall_gather tensor<7x3xbf16>\nadd tensor<7x3xbf16>\n");
}

TEST_CASE("a cast moves before all gathers of a chain") {
  CHECK(opsOf(kGather + R"(
      %h = mesh.all_gather %g dim 1 over {dp} : tensor<7x3xf32> -> tensor<7x6xf32>
      %a = graph.cast %h : tensor<7x6xf32> -> tensor<7x6xbf16>
      return %a : tensor<7x6xbf16>)",
              "tensor<7x6xbf16>") ==
        "cast tensor<2x3xbf16>\nall_gather tensor<7x3xbf16>\nall_gather tensor<7x6xbf16>\n");
}

TEST_CASE("a value that somebody reads as it is, in two types, or in a wider one stays") {
  const std::string given = "all_gather tensor<7x3xf32>\n";
  CHECK(opsOf(kGather + R"(
      %a = graph.cast %g : tensor<7x3xf32> -> tensor<7x3xbf16>
      return %a, %g : tensor<7x3xbf16>, tensor<7x3xf32>)",
              "tensor<7x3xbf16>, tensor<7x3xf32>") == given + "cast tensor<7x3xbf16>\n");
  CHECK(opsOf(kGather + R"(
      %a = graph.cast %g : tensor<7x3xf32> -> tensor<7x3xbf16>
      %b = graph.cast %g : tensor<7x3xf32> -> tensor<7x3xf16>
      return %a, %b : tensor<7x3xbf16>, tensor<7x3xf16>)",
              "tensor<7x3xbf16>, tensor<7x3xf16>") ==
        given + "cast tensor<7x3xbf16>\ncast tensor<7x3xf16>\n");
  CHECK(opsOf(kGather + R"(
      %a = graph.cast %g : tensor<7x3xf32> -> tensor<7x3xf64>
      return %a : tensor<7x3xf64>)",
              "tensor<7x3xf64>") == given + "cast tensor<7x3xf64>\n");
}
