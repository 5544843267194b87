// The mesh dialect: attributes and collectives, and the way between attributes and the plain
// structs of dialects/interfaces/Sharding.h. What the ops do, for all ranks at once, is in
// Evaluate.h.
#pragma once

#include "dialects/interfaces/FactorRule.h"

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

// Attributes that the dialect puts on others' ops.
inline constexpr llvm::StringLiteral kMesh = "mesh.mesh"; // MeshAttr, on the module
inline constexpr llvm::StringLiteral kStrategy =
    "mesh.strategy"; // StrategyAttr, on an op of the step
inline constexpr llvm::StringLiteral kSharding =
    "mesh.sharding"; // ShardingAttr, on an argument or
                     // result of the step: where it lives
inline constexpr llvm::StringLiteral kCompute =
    "mesh.compute"; // ShardingAttr, on a parameter: the
                    // layout that it is gathered to first
inline constexpr llvm::StringLiteral kGlobal =
    "mesh.global";                                        // TypeAttr, on an argument or result of
                                                          // a partitioned step: the logical tensor
inline constexpr llvm::StringLiteral kPart = "mesh.part"; // StringAttr, on a collective: `forward`,
                                                          // `backward` or `update`

// The decision for one op in plain form; see StrategyAttr.
struct Strategy {
  FactorAxes factors;
  std::vector<int> partial;
  std::vector<Sharding> results;
  bool operator==(const Strategy &) const = default;
};

MeshAttr toAttribute(const Mesh &mesh, mlir::MLIRContext *context);
Mesh toMesh(MeshAttr attr);

ShardingAttr toAttribute(const Sharding &sharding, const Mesh &mesh, mlir::MLIRContext *context);
StrategyAttr toAttribute(const Strategy &strategy, const Mesh &mesh, mlir::MLIRContext *context);
// Lists of axis names, as the ops carry them.
mlir::ArrayAttr toAttribute(const std::vector<int> &axes, const Mesh &mesh,
                            mlir::MLIRContext *context);

// Back. Empty if an axis is not one of the mesh.
std::optional<Sharding> toSharding(ShardingAttr attr, const Mesh &mesh);
std::optional<Strategy> toStrategy(StrategyAttr attr, const Mesh &mesh);
std::optional<std::vector<int>> toAxes(mlir::ArrayAttr axes, const Mesh &mesh);

// The mesh of the module that `op` is in (or is); null if it has none.
MeshAttr meshOf(mlir::Operation *op);

} // namespace cleave::mesh
