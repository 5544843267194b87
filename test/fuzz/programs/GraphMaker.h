// GraphMaker: builds random functions of graph ops. A family of ops (PointwiseOps.cpp, …) is a
// function that adds one op, or a few related ops, on existing values.
//
// The sizes of dims come from a short list per function, so that shapes match often. Every value
// has a bound of its elements' magnitudes; values that grow too large are scaled back, so that few
// elements become infinite or NaN.
#pragma once

#include "dialects/graph/Graph.h"
#include "runtime/base/Role.h"
#include "test/fuzz/programs/Choices.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace cleave::fuzz {

using Sizes = std::vector<int64_t>;

class GraphMaker {
public:
  // The function is @step in a new module. With `hasRoles` its arguments are inputs and parameters
  // (Step.h).
  GraphMaker(Choices &choices, mlir::MLIRContext &context, bool hasRoles);

  Choices &choose() { return choices_; }
  mlir::OpBuilder &builder() { return b_; }
  mlir::Location loc() const { return loc_; }
  mlir::Type floatType() const { return float_; }
  mlir::func::FuncOp function() { return function_; }

  // A size from this function's list, and a shape of at most `most` such sizes with a limited
  // number of elements.
  int64_t size() { return choices_.pick(sizes_); }
  Sizes shape(size_t most);
  bool fits(const Sizes &shape) const;

  // New arguments of the function; integers lie in [low, high).
  mlir::Value argument(const Sizes &shape);
  mlir::Value integers(const Sizes &shape, int64_t low, int64_t high);
  mlir::Value parameter(const Sizes &shape, double low = -1, double high = 1);
  mlir::Value state(const Sizes &shape, double low, double high);
  mlir::Value splat(mlir::Type type, double value);

  // An existing value for which `suits` holds, newer ones with higher probability; null if there is
  // none.
  mlir::Value find(llvm::function_ref<bool(mlir::Value)> suits);
  // An existing float tensor of the function's dtype, or a new argument; with at least `rank` dims.
  mlir::Value anyFloat(int64_t rank = 0);
  mlir::Value anyInteger();
  // Another value of the same type.
  mlir::Value like(mlir::Value value);

  double bound(mlir::Value value) const;
  // Makes a value available to later ops, scaled back if it may be too large. Returns the available
  // value.
  mlir::Value add(mlir::Value value, double bound);
  // The value, limited to magnitudes of at most `most`, and the value with magnitudes of at least
  // 0.5.
  mlir::Value limited(mlir::Value value, double most);
  mlir::Value awayFromZero(mlir::Value value);
  const std::vector<mlir::Value> &values() const { return values_; }

  using Family = void (*)(GraphMaker &);
  // Adds a random number of members of the families, at most `most`.
  void grow(const std::vector<Family> &families, int most);
  // Ends the function with these results and returns the module.
  mlir::OwningOpRef<mlir::ModuleOp> finish(llvm::ArrayRef<mlir::Value> results);

private:
  mlir::Value newArgument(mlir::Type type, Role role, double low, double high);

  Choices &choices_;
  mlir::OpBuilder b_;
  mlir::Location loc_;
  bool hasRoles_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  mlir::func::FuncOp function_;
  mlir::Type float_;
  Sizes sizes_;
  int64_t mostElements_;
  std::vector<mlir::Value> values_;
  llvm::DenseMap<mlir::Value, double> bounds_;
};

// Families of ops for kernels and whole steps.
void addUnary(GraphMaker &m);
void addBinary(GraphMaker &m);
void addInteger(GraphMaker &m);
void addSelect(GraphMaker &m);
void addCast(GraphMaker &m);
void addReduction(GraphMaker &m);
void addBroadcast(GraphMaker &m);
void addUnitDim(GraphMaker &m);
void addCount(GraphMaker &m);
void addNorm(GraphMaker &m); // reads rows again after the computation of their statistics

// Families of ops for whole steps.
void addTranspose(GraphMaker &m);
void addReshape(GraphMaker &m);
void addSlice(GraphMaker &m);
void addPad(GraphMaker &m);
void addConcat(GraphMaker &m);
void addReverse(GraphMaker &m);
void addProduct(GraphMaker &m);
void addLayer(GraphMaker &m); // a product with a parameter, and a bias
void addConvolution(GraphMaker &m);
void addPool(GraphMaker &m);
void addGather(GraphMaker &m);
void addScatter(GraphMaker &m);
void addScan(GraphMaker &m);
void addSort(GraphMaker &m);
void addActivation(GraphMaker &m);
void addNormalisation(GraphMaker &m);
void addBatchNorm(GraphMaker &m);
void addAttention(GraphMaker &m);
void addGroupedProduct(GraphMaker &m);
void addDropout(GraphMaker &m);

} // namespace cleave::fuzz
