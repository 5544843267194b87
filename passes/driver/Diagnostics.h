// Diagnostics: MLIR's diagnostics as the text of a Status, and the dialects of a compilation.
#pragma once

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectRegistry.h"

#include <string>
#include <vector>

namespace cleave::driver {

// Collects the errors reported during its lifetime, with their notes, and the warnings. Drops other
// diagnostics.
class DiagnosticText {
public:
  explicit DiagnosticText(mlir::MLIRContext &context);
  // The errors and notes, a line each: the name of the model's node or the file, if known, and the
  // message.
  const std::string &text() const { return collected_; }
  const std::vector<std::string> &warnings() const { return warnings_; }

private:
  std::string collected_;
  std::vector<std::string> warnings_;
  mlir::ScopedDiagnosticHandler handler_;
};

// Adds the dialects that a compilation uses.
void registerDialects(mlir::DialectRegistry &registry);

} // namespace cleave::driver
