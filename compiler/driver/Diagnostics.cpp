#include "compiler/driver/Diagnostics.h"

#include "dialects/graph/Graph.h"
#include "dialects/mesh/MeshDialect.h"
#include "dialects/program/Program.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace cleave::driver {

static void append(std::string &text, Location location, const std::string &message) {
  if (!text.empty())
    text += "\n  ";
  llvm::raw_string_ostream out(text);
  if (!isa<UnknownLoc>(location))
    out << location << ": ";
  out << message;
}

DiagnosticText::DiagnosticText(MLIRContext &context)
    : handler(&context, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
          return success();
        append(collected, diagnostic.getLocation(), diagnostic.str());
        for (Diagnostic &note : diagnostic.getNotes())
          append(collected, note.getLocation(), note.str());
        return success();
      }) {}

void registerDialects(DialectRegistry &registry) {
  registry.insert<graph::GraphDialect, mesh::MeshDialect, program::ProgramDialect, func::FuncDialect, arith::ArithDialect,
                  math::MathDialect>();
}

} // namespace cleave::driver
