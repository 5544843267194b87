#include "passes/driver/Diagnostics.h"

#include "dialects/graph/Graph.h"
#include "dialects/mesh/MeshDialect.h"
#include "dialects/program/Program.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace cleave::driver {

// The name of the model's node, or the file and, if it is text, the line; empty if the location is
// unknown.
static std::string place(Location location) {
  if (auto name = dyn_cast<NameLoc>(location))
    return "'" + name.getName().str() + "'";
  if (auto file = dyn_cast<FileLineColLoc>(location))
    return file.getFilename().str() + (file.getLine() ? ":" + std::to_string(file.getLine()) : "");
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (std::string found = place(part); !found.empty())
        return found;
  return "";
}

static void append(std::string &text, Location location, const std::string &message) {
  std::string where = place(location);
  text += (text.empty() ? "" : "\n  ") + where + (where.empty() ? "" : ": ") + message;
}

DiagnosticText::DiagnosticText(MLIRContext &context)
    : handler_(&context, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Warning)
          warnings_.push_back(diagnostic.str());
        if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
          return success();
        append(collected_, diagnostic.getLocation(), diagnostic.str());
        for (Diagnostic &note : diagnostic.getNotes())
          append(collected_, note.getLocation(), note.str());
        return success();
      }) {}

void registerDialects(DialectRegistry &registry) {
  registry.insert<graph::GraphDialect, mesh::MeshDialect, program::ProgramDialect,
                  func::FuncDialect, arith::ArithDialect, math::MathDialect>();
}

} // namespace cleave::driver
