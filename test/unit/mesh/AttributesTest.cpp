// Attributes of the mesh dialect: printing and parsing, plain form, verification.
#include "dialects/mesh/MeshDialect.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::mesh;

namespace {

struct Context {
  mlir::MLIRContext context;
  Context() { context.loadDialect<MeshDialect>(); }
  mlir::Attribute parse(const std::string &text) { return mlir::parseAttribute(text, &context); }
  // The first diagnostic of parsing.
  std::string messageOf(const std::string &text) {
    std::string message;
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
      if (message.empty())
        message = diagnostic.str();
    });
    CHECK(!parse(text));
    return message;
  }
};

std::string str(mlir::Attribute attr) {
  std::string text;
  llvm::raw_string_ostream(text) << attr;
  return text;
}

const Mesh mesh2x4 = {{{"dp", 2}, {"tp", 4}}};

} // namespace

TEST_CASE("attributes are printed as they are parsed") {
  Context c;
  for (const char *text :
       {"#mesh.mesh<[dp = 2, tp = 4]>", "#mesh.mesh<[]>", "#mesh.sharding<[]>",
        "#mesh.sharding<[{dp}, {}]>", "#mesh.sharding<[{dp, tp}, {}]>",
        "#mesh.sharding<[{}], partial = max {dp, tp}>",
        "#mesh.strategy<[{dp}, {}, {tp}], results = [#mesh.sharding<[{dp}, {}]>]>",
        "#mesh.strategy<[{}], partial = {tp}, results = []>"})
    CHECK(str(c.parse(text)) == text);
}

TEST_CASE("attributes convert to plain structs and back") {
  Context c;
  CHECK(toMesh(toAttribute(mesh2x4, &c.context)) == mesh2x4);
  Sharding sharding{{{0}, {}}, {1}, ReduceKind::Max};
  CHECK(toSharding(toAttribute(sharding, mesh2x4, &c.context), mesh2x4) == sharding);
  Strategy strategy{{{1}, {}}, {0}, {sharding, Sharding::replicated(0)}};
  CHECK(toStrategy(toAttribute(strategy, mesh2x4, &c.context), mesh2x4) == strategy);
}

TEST_CASE("an axis of another mesh is not a layout of this one") {
  Context c;
  auto attr = llvm::cast<ShardingAttr>(c.parse("#mesh.sharding<[{pp}]>"));
  CHECK(!toSharding(attr, mesh2x4));
}

TEST_CASE("malformed attributes are an error that names the reason") {
  Context c;
  CHECK(c.messageOf("#mesh.mesh<[dp = 0]>") ==
        "mesh axis \"dp\" has 0 ranks, expected at least one");                          // M1
  CHECK(c.messageOf("#mesh.mesh<[dp = 2, dp = 2]>") == "mesh axis \"dp\" occurs twice"); // M2
  CHECK(c.messageOf("#mesh.sharding<[{dp}, {dp}]>") == "mesh axis \"dp\" occurs twice"); // S1
  CHECK(c.messageOf("#mesh.sharding<[{dp}], partial = sum {dp}>") ==
        "mesh axis \"dp\" occurs twice"); // S1
  CHECK(c.messageOf("#mesh.strategy<[{dp}, {}], partial = {dp}, results = []>") ==
        "mesh axis \"dp\" occurs twice"); // T1
  CHECK(c.messageOf("#mesh.sharding<[{}], partial = mean {dp}>") ==
        "expected sum, max or min, found mean");
}

TEST_CASE("lists of axes hold names, however they are built") {
  Context c;
  mlir::Builder b(&c.context);
  auto messageOf = [&](mlir::Attribute list) {
    std::string message;
    mlir::ScopedDiagnosticHandler handler(
        &c.context, [&](mlir::Diagnostic &diagnostic) { message = diagnostic.str(); });
    CHECK(!ShardingAttr::getChecked([&] { return mlir::emitError(b.getUnknownLoc()); }, &c.context,
                                    b.getArrayAttr({list}), b.getArrayAttr({}), ReduceKind::Sum));
    return message;
  };
  CHECK(messageOf(b.getStringAttr("dp")) == "expected a list of axes, found \"dp\"");
  CHECK(messageOf(b.getArrayAttr({b.getI64IntegerAttr(1)})) ==
        "expected the name of a mesh axis, found 1 : i64");
}
