// What tests of graph programs share: programs as text, random tensors, comparison of tensors.
#pragma once

#include "dialects/interfaces/Tensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <random>
#include <string>
#include <vector>

namespace cleave::test {

// A module with a context of its own in which the graph dialect is loaded. Diagnostics go to
// `diagnostics`.
class GraphText {
public:
  // Parses the text of a module; the test fails where it does not parse or verify.
  explicit GraphText(const std::string &text);

  mlir::ModuleOp module() { return *module_; }
  mlir::MLIRContext *context() { return &context_; }
  // The first function, or the one with this name.
  mlir::func::FuncOp function(const std::string &name = "");
  // The module as text.
  std::string str();
  // Everything that was reported since the module was parsed, one message a line.
  std::string diagnostics;

private:
  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

using Random = std::mt19937;

// Floats between `low` and `high`, integers the whole numbers from `low` on and below `high`, truth
// values both.
Tensor randomTensor(mlir::Type type, Random &random, double low = -1, double high = 1);
std::vector<Tensor> randomArguments(mlir::func::FuncOp function, Random &random, double low = -1,
                                    double high = 1);

// The largest |a - b| / (1 + max(|a|, |b|)) over all elements; infinity where types or shapes
// differ.
double difference(const Tensor &a, const Tensor &b);

} // namespace cleave::test
