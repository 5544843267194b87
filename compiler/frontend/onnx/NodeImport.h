// NodeImport: one node while it is imported; what the operators' handlers ask about it and how they
// build. A handler is a function from its node to the values of its outputs; a Failure in it is
// reported with the node's name.
#pragma once

#include "compiler/frontend/onnx/Evaluate.h"
#include "compiler/frontend/onnx/Failure.h"
#include "compiler/frontend/onnx/Import.h"
#include "compiler/frontend/onnx/Model.h"
#include "dialects/graph/Build.h"

#include <functional>
#include <set>

namespace cleave::onnx {

using mlir::Value;
using Values = llvm::SmallVector<Value>;
using Dims = std::vector<int64_t>;

// What a name of the model stands for: one tensor, or a sequence of tensors.
struct Binding {
  Values values;
  bool isSequence = false;
};

// What the import as a whole does for handlers.
struct ImportServices {
  Evaluator &evaluator;
  const ImportOptions &options;
  int64_t opset;
  // Imports a subgraph at the builder's place; returns its outputs.
  std::function<std::vector<Binding>(mlir::OpBuilder &, const Graph &)> importGraph;
  // The tensor as a value: a small one as a constant, a large one as an argument of the step.
  std::function<Value(mlir::OpBuilder &, mlir::Location, const StoredTensor &)> tensorValue;
  // The state that a value of the step stands for gets a new value at the end of it.
  std::function<void(Value state, Value next)> replaceState;
  // Whether the value is a running statistic that may be replaced.
  std::function<bool(Value)> isState;
};

class NodeImport {
public:
  NodeImport(const Node &node, std::vector<Binding> inputs, mlir::OpBuilder &b, mlir::Location loc,
             const ImportServices &services)
      : node(node), b(b), loc(loc), services(services), inputs_(std::move(inputs)) {}

  const Node &node;
  mlir::OpBuilder &b;
  mlir::Location loc;
  const ImportServices &services;

  // -- operands: input(i) fails where it is missing, or not a tensor
  size_t inputCount() const { return inputs_.size(); }
  bool hasInput(size_t i) const { return i < inputs_.size() && !inputs_[i].values.empty(); }
  Value input(size_t i) const;
  const Values &sequence(size_t i) const;
  // All inputs, at least one.
  Values allInputs() const;
  // Whether the model reads output i.
  bool hasOutput(size_t i) const { return i < node.outputs.size() && !node.outputs[i].empty(); }

  // -- attributes: a wrong type fails; reading one marks it as known
  bool hasAttribute(const std::string &name);
  int64_t integer(const std::string &name, int64_t absent);
  int64_t requiredInteger(const std::string &name);
  double number(const std::string &name, double absent);
  std::string text(const std::string &name, const std::string &absent);
  std::optional<Dims> integers(const std::string &name);
  std::optional<std::vector<double>> numbers(const std::string &name);
  const StoredTensor *tensor(const std::string &name);
  const Graph &graph(const std::string &name);
  void ignore(std::initializer_list<const char *> names);
  // Fails on attributes that no handler has read.
  void checkAttributes() const;

  // -- known values: fail where the operand depends on data
  Tensor constantTensor(size_t i, const std::string &what) const;
  Dims constantIntegers(size_t i, const std::string &what) const;
  int64_t constantInteger(size_t i, const std::string &what) const;
  double constantNumber(size_t i, const std::string &what) const;

  // -- checks: fail with what was found and expected
  // `axis` counted from 0, from one in [-rank, rank).
  int64_t axis(int64_t axis, int64_t rank, const std::string &what = "axis") const;
  Dims axes(const Dims &axes, int64_t rank) const;
  void checkInputs(size_t atLeast, size_t atMost) const;
  void checkFloat(Value value) const;
  void checkSameType(Value a, Value b) const;
  // The type with these dims; fails where they are negative or too many elements.
  mlir::RankedTensorType type(const Dims &dims, mlir::Type element) const;

  // -- building
  Value constant(const Dims &dims, ElementType element, std::vector<double> values) const;
  Value constantIntegers(const Dims &values) const;
  Value splat(Value like, double value) const {
    return graph::buildSplat(b, loc, like.getType(), value);
  }
  Value reshape(Value value, const Dims &dims) const;
  Value broadcast(Value value, const Dims &dims) const;
  Value transpose(Value value, llvm::ArrayRef<int64_t> permutation) const;
  Value cast(Value value, mlir::Type element) const { return graph::buildCast(b, value, element); }
  // Both to their common numpy shape.
  void broadcastTogether(Value &x, Value &y) const;
  // Size `size` of dim `dim` from `start` on, every `stride`-th (>= 1).
  Value slice(Value value, int64_t dim, int64_t start, int64_t size, int64_t stride = 1) const;

private:
  const Attribute *find(const std::string &name, AttributeType type, const char *expected);

  std::vector<Binding> inputs_;
  std::set<std::string> read_;
};

inline Dims dimsOf(Value value) { return graph::staticShapeOf(value); }
inline int64_t rankOf(Value value) { return graph::rankOf(value); }
inline mlir::Type elementOf(Value value) { return graph::elementTypeOf(value); }
// `float32`, … of a tensor.
std::string typeNameOf(Value value);
// `[2, 3]`.
std::string showDims(const Dims &dims);
int64_t product(llvm::ArrayRef<int64_t> dims);
// The common numpy shape; fails if there is none.
Dims broadcastDims(const Dims &a, const Dims &b);

// The values of the outputs; a null one is not computed, which only matters where the model reads it.
using Handler = Values (*)(NodeImport &);

// One operator from one opset version on.
struct OpEntry {
  const char *name; // of another domain than the standard one: `DOMAIN:NAME`, from version 1 on
  int64_t since;
  Handler handler;
  bool givesSequence = false;
};

// The families' tables.
llvm::ArrayRef<OpEntry> elementwiseOps();
llvm::ArrayRef<OpEntry> activationOps();
llvm::ArrayRef<OpEntry> contractionOps();
llvm::ArrayRef<OpEntry> einsumOps();
llvm::ArrayRef<OpEntry> poolingOps();
llvm::ArrayRef<OpEntry> normalizationOps();
llvm::ArrayRef<OpEntry> movementOps();
llvm::ArrayRef<OpEntry> slicingOps();
llvm::ArrayRef<OpEntry> reductionOps();
llvm::ArrayRef<OpEntry> indexingOps();
llvm::ArrayRef<OpEntry> structureOps();

// The oldest and newest opset whose meaning the tables know.
inline constexpr int64_t kOldestOpset = 11;
inline constexpr int64_t kNewestOpset = 23;
// The handler of an operator at an opset; null if there is none.
const OpEntry *findOp(const std::string &domain, const std::string &op, int64_t opset);

} // namespace cleave::onnx
