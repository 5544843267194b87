// Step: the conventions of the function that is one training (or inference) step, and typed access
// to them.
//
// The module holds one func.func @step. Its arguments are the tensors that exist before the step,
// each with
//   graph.name = "blocks.0.fc.weight"     the user's name
//   graph.role = "input" | "label" | "parameter" | "state" | "constant" | "hyperparameter"
//                | "received"             a Role of runtime/base/Role.h
//   graph.source = …                      where its value comes from (see TensorOrigin)
//   graph.parameter = "…"                 on optimizer state: whose
//   graph.trainable                       unit: on a parameter that gets a gradient
// The runtime may set a hyperparameter, a scalar such as the learning rate, before each step, in
// place of its graph.source. Results are the tensors that exist after the step, each with
//   graph.name, graph.role = "output" | "loss" | "metric" | "sent" | "parameter" | "state"
//   graph.alias = 3 : i64                 the argument that it replaces (parameter and state)
// The module may have
//   graph.f32_products = "tf32"           the type in which products of f32 tensors multiply
#pragma once

#include "dialects/graph/Graph.h"
#include "runtime/base/Role.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace cleave::graph {

// The name of the function.
inline constexpr llvm::StringLiteral kStepName = "step";

// The step function of the module, or null.
mlir::func::FuncOp stepOf(mlir::ModuleOp module);

// The name of the type in which products of f32 tensors multiply, as cluster files name it: f32, or
// tf32. `op` is the module or an op inside of it.
llvm::StringRef f32Products(mlir::Operation *op);
void setF32Products(mlir::ModuleOp module, llvm::StringRef type);

// The ops of the step in program order, without the terminator.
llvm::SmallVector<mlir::Operation *> opsOf(mlir::func::FuncOp step);

// graph.* attributes of argument i (empty or none where absent). A role that does not exist or that
// arguments cannot have is none; checkRoles() and the phases' verifiers refuse it.
llvm::StringRef argName(mlir::func::FuncOp step, unsigned i);
std::optional<Role> argRole(mlir::func::FuncOp step, unsigned i);
bool isTrainable(mlir::func::FuncOp step, unsigned i);
// The argument with this name.
std::optional<unsigned> argNamed(mlir::func::FuncOp step, llvm::StringRef name);

// graph.* attributes of result i, as of arguments.
llvm::StringRef resultName(mlir::func::FuncOp step, unsigned i);
std::optional<Role> resultRole(mlir::func::FuncOp step, unsigned i);
// The result with this name.
std::optional<unsigned> resultNamed(mlir::func::FuncOp step, llvm::StringRef name);
// The argument that result i replaces.
std::optional<unsigned> aliasOf(mlir::func::FuncOp step, unsigned i);

// An error of the step unless all its arguments and results have roles.
mlir::LogicalResult checkRoles(mlir::func::FuncOp step);
// What is wrong with the role of argument (result) i, `argument 'x' has the graph.role 'y', …`;
// empty if nothing is.
std::string argRoleFault(mlir::func::FuncOp step, unsigned i);
std::string resultRoleFault(mlir::func::FuncOp step, unsigned i);

// Whether argument i differs from micro-batch to micro-batch: an input, a label, or a message
// between stages of a pipeline (Messages.h).
bool isPerMicroBatch(mlir::func::FuncOp step, unsigned i);

// The ops that run once per micro-batch, the others run once a step: accumulate ops and all that
// they depend on; what depends on inputs or labels but on no accumulate op (outputs); and the
// values of states that are replaced after each micro-batch (MicroBatches.h).
llvm::DenseSet<mlir::Operation *> perMicroBatch(mlir::func::FuncOp step);

// Where the first value of a parameter, state or constant comes from. As an attribute it is a
// dictionary: {path, offset, bytes, element, permutation} | {fill} | {data}.
struct TensorOrigin {
  enum class Kind { File, Fill, Inline } kind = Kind::Fill;
  std::string path;    // File: relative to the folder of the model (Provenance.h); empty: itself
  uint64_t offset = 0; // File: of the first byte
  uint64_t bytes = 0;  // File
  ElementType element = ElementType::F32; // File: as stored
  // File: dim i of the tensor is stored dim permutation[i]; empty if not permuted.
  std::vector<int64_t> permutation;
  double fill = 0; // Fill: every element
  Tensor data;     // Inline
};

// The value of graph.role.
mlir::StringAttr toAttribute(Role role, mlir::MLIRContext *context);

// Conversion to and from the dictionary; the origin of argument i, none if it has no graph.source
// of these forms.
mlir::Attribute toAttribute(const TensorOrigin &origin, mlir::MLIRContext *context);
TensorOrigin toOrigin(mlir::Attribute attribute);
std::optional<TensorOrigin> originOf(mlir::func::FuncOp step, unsigned i);

// Adds an argument (result) at the end; attributes as above.
mlir::BlockArgument addArgument(mlir::func::FuncOp step, mlir::Type type, llvm::StringRef name,
                                Role role, const TensorOrigin *origin = nullptr);
void addResult(mlir::func::FuncOp step, mlir::Value value, llvm::StringRef name, Role role,
               std::optional<unsigned> alias = std::nullopt);

} // namespace cleave::graph
