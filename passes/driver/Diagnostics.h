// MLIR's diagnostics as the text of a Status, and the dialects that a compilation uses.
#pragma once

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectRegistry.h"

#include <string>

namespace cleave::driver {

// Collects what is reported while it lives: errors with their notes in text(), remarks and warnings dropped unless
// they belong to an error.
class DiagnosticText {
public:
  explicit DiagnosticText(mlir::MLIRContext &context);
  // All errors, a line each, behind the name of the model's node or file where it is known.
  const std::string &text() const { return collected; }

private:
  std::string collected;
  mlir::ScopedDiagnosticHandler handler;
};

void registerDialects(mlir::DialectRegistry &registry);

} // namespace cleave::driver
