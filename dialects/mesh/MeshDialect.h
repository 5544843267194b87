// The mesh dialect: attributes and collectives, and conversion between attributes and the plain
// structs of dialects/interfaces/Sharding.h. Evaluate.h has the reference evaluation of the ops.
#pragma once

#include "dialects/interfaces/FactorRule.h"
#include "dialects/interfaces/OpInterfaces.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/mesh/MeshDialect.h.inc"
#include "dialects/mesh/MeshEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/mesh/MeshAttrs.h.inc"

#define GET_OP_CLASSES
#include "dialects/mesh/MeshOps.h.inc"

namespace cleave::mesh {

// Names of the attributes that the dialect puts on other dialects' ops.

// MeshAttr, on the module.
inline constexpr llvm::StringLiteral kMesh = "mesh.mesh";
// The mesh axis along which ranks run different stages of a pipeline. No tensor is split over it.
inline constexpr llvm::StringLiteral kStages = "stage";
// StrategyAttr, on an op of the step.
inline constexpr llvm::StringLiteral kStrategy = "mesh.strategy";
// ShardingAttr, on an argument or result of the step: its layout in memory.
inline constexpr llvm::StringLiteral kSharding = "mesh.sharding";
// ShardingAttr, on a parameter: the layout that it is gathered to before it is used.
inline constexpr llvm::StringLiteral kCompute = "mesh.compute";
// UnitAttr, on a parameter that is gathered: the gathered copy is kept for the backward pass.
inline constexpr llvm::StringLiteral kStaysGathered = "mesh.stays_gathered";
// DictionaryAttr of ShardingAttr by part of the step (`forward`, …), on an argument of the step; an
// ArrayAttr of them, one per result, on an op: the layout in which the readers in this part find
// the value.
inline constexpr llvm::StringLiteral kCopies = "mesh.copies";
// DenseI64ArrayAttr, on an op of the step: per result the bucket of its reduction, or -1.
inline constexpr llvm::StringLiteral kBuckets = "mesh.buckets";
// UnitAttr, on an op of the step: rows are exchanged with the mirrored rank
// (compiler/planner/choices/Zigzag.h).
inline constexpr llvm::StringLiteral kZigzag = "mesh.zigzag";
// IntegerAttr, on an all_reduce: the bucket that it is a member of.
inline constexpr llvm::StringLiteral kBucket = "mesh.bucket";
// TypeAttr, on an argument or result of a partitioned step: the type of the logical tensor.
inline constexpr llvm::StringLiteral kGlobal = "mesh.global";
// StringAttr, on a collective: `forward`, `backward` or `update`.
inline constexpr llvm::StringLiteral kPart = "mesh.part";

// The plain form of StrategyAttr: how one op is executed.
struct Strategy {
  FactorAxes factors;
  std::vector<int> partial;
  std::vector<Sharding> results;
  bool operator==(const Strategy &) const = default;
};

// Conversion between plain structs and attributes. Attributes name axes, structs have their
// indices.
MeshAttr toAttribute(const Mesh &mesh, mlir::MLIRContext *context);
Mesh toMesh(MeshAttr attr);
ShardingAttr toAttribute(const Sharding &sharding, const Mesh &mesh, mlir::MLIRContext *context);
StrategyAttr toAttribute(const Strategy &strategy, const Mesh &mesh, mlir::MLIRContext *context);
// A list of axis names, the form in which ops have their axes.
mlir::ArrayAttr toAttribute(const std::vector<int> &axes, const Mesh &mesh,
                            mlir::MLIRContext *context);

// The inverse; none if an axis is not one of the mesh.
std::optional<Sharding> toSharding(ShardingAttr attr, const Mesh &mesh);
std::optional<Strategy> toStrategy(StrategyAttr attr, const Mesh &mesh);
std::optional<std::vector<int>> toAxes(mlir::ArrayAttr axes, const Mesh &mesh);

// The mesh of the module that contains `op` (or is `op`); null if it has none.
MeshAttr meshOf(mlir::Operation *op);

} // namespace cleave::mesh
