// Outputs that are texts: known when the model has been imported, and no part of the step. The module holds them as
// its attribute graph.known_texts = [{name = "y", shape = [2], texts = ["red", "green"]}, …].
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace cleave::graph {

struct KnownTexts {
  std::string name; // of the output
  std::vector<int64_t> shape;
  std::vector<std::string> elements; // row-major
};

// Adds one to the module's.
void addKnownTexts(mlir::ModuleOp module, const KnownTexts &texts);
// All of them, in the order in which they were added.
std::vector<KnownTexts> knownTextsOf(mlir::ModuleOp module);

} // namespace cleave::graph
