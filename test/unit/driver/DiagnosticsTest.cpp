// The text of collected diagnostics.
#include "passes/driver/Diagnostics.h"

#include "mlir/IR/Builders.h"

#include <catch2/catch.hpp>

using namespace cleave::driver;

namespace {

struct Collected {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  DiagnosticText diagnostics{context};

  mlir::Location named(const char *name) {
    return mlir::NameLoc::get(mlir::StringAttr::get(&context, name));
  }
  mlir::Location line(const char *file, unsigned number) {
    return mlir::FileLineColLoc::get(&context, file, number, 1);
  }
  mlir::Location unknown() { return mlir::UnknownLoc::get(&context); }
};

} // namespace

TEST_CASE("an error and its notes are lines that begin with the node or the place in a file") {
  Collected c;
  {
    mlir::InFlightDiagnostic error = mlir::emitError(c.named("blocks.0.fc"), "has 3 dims");
    error.attachNote(c.line("gpt.mlir", 12)) << "it is made here";
  }
  mlir::emitError(c.unknown(), "no step");
  CHECK(c.diagnostics.text() == "'blocks.0.fc': has 3 dims\n  gpt.mlir:12: it is made here\n"
                                "  no step");
}

TEST_CASE(
    "a file that is no text has no line, and a fused location the first place that is known") {
  Collected c;
  mlir::emitError(c.line("gpt.onnx", 0), "cannot be read");
  mlir::emitError(mlir::FusedLoc::get(&c.context, {c.unknown(), c.named("add")}), "is unknown");
  CHECK(c.diagnostics.text() == "gpt.onnx: cannot be read\n  'add': is unknown");
}

TEST_CASE("warnings are kept apart, and remarks are dropped") {
  Collected c;
  mlir::emitWarning(c.named("fc"), "is slow");
  mlir::emitRemark(c.named("fc"), "is fused");
  CHECK(c.diagnostics.text().empty());
  CHECK(c.diagnostics.warnings() == std::vector<std::string>{"is slow"});
}
