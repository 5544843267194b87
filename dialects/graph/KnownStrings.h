// String outputs: known when the model has been imported, and no part of the step. The module holds
// them as its attribute
//   graph.known_strings = [{name = "y", shape = [2], elements = ["red", "green"]}, …].
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace cleave::graph {

// The elements of one string output.
struct KnownStrings {
  std::string name; // of the output
  std::vector<int64_t> shape;
  std::vector<std::string> elements; // row-major
};

// Appends one output to the module's attribute.
void addKnownStrings(mlir::ModuleOp module, const KnownStrings &strings);
// All outputs in the module's attribute, in the order in which they were added.
std::vector<KnownStrings> knownStringsOf(mlir::ModuleOp module);

} // namespace cleave::graph
