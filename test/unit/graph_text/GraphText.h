// Utilities for tests of graph programs: programs as text, random tensors, comparison of tensors.
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

// A module with its own context, in which the graph dialect is loaded. Diagnostics are collected in
// `diagnostics`.
class GraphText {
public:
  // Parses the text of a module; the test fails if it does not parse or verify.
  explicit GraphText(const std::string &text);

  mlir::ModuleOp module() { return *module_; }
  mlir::MLIRContext *context() { return &context_; }
  // The first function, or the one with this name.
  mlir::func::FuncOp function(const std::string &name = "");
  // The module as text.
  std::string str();
  // All diagnostics and their notes so far, one message per line.
  std::string diagnostics;

private:
  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

// The random number generator of tests: seeded, so that tests are deterministic.
using Random = std::mt19937;

// Uniform random elements: floats and integers in [low, high), truth values with equal probability.
Tensor randomTensor(mlir::Type type, Random &random, double low = -1, double high = 1);
std::vector<Tensor> randomArguments(mlir::func::FuncOp function, Random &random, double low = -1,
                                    double high = 1);

// The largest |a - b| / (1 + max(|a|, |b|)) over all elements; infinity if types or shapes differ.
double difference(const Tensor &a, const Tensor &b);

} // namespace cleave::test
