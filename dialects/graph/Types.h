// Tensor types of the graph dialect: shapes as polynomials, element types and constants as plain data.
#pragma once

#include "dialects/interfaces/OpInterfaces.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace cleave::graph {

using Shape = std::vector<Polynomial>;

// The dims of a ranked tensor (symbolic ones from its #graph.dims encoding).
Shape shapeOf(mlir::Type type);
inline Shape shapeOf(mlir::Value value) { return shapeOf(value.getType()); }

// The tensor type with these dims; gets an encoding where a dim is symbolic.
mlir::RankedTensorType tensorOf(const Shape &shape, mlir::Type element);

// The dims as numbers; asserts that none is symbolic.
std::vector<int64_t> staticShapeOf(mlir::Type type);
inline std::vector<int64_t> staticShapeOf(mlir::Value value) { return staticShapeOf(value.getType()); }
bool hasStaticShape(mlir::Type type);

mlir::Type elementTypeOf(mlir::Type type);
inline mlir::Type elementTypeOf(mlir::Value value) { return elementTypeOf(value.getType()); }
int64_t rankOf(mlir::Value value);

// The product of the dims.
Polynomial elementCount(mlir::Type type);
// Elements × bytes of one element.
Polynomial byteCount(mlir::Type type);

// MLIR's element types and the plain ones.
ElementType toElementType(mlir::Type type);
mlir::Type fromElementType(ElementType type, mlir::MLIRContext *context);

// Constants and plain tensors.
Tensor toTensor(mlir::ElementsAttr attr);
mlir::DenseElementsAttr toAttribute(const Tensor &tensor, mlir::MLIRContext *context);

// Whether `value` is a constant with all elements equal, and which.
std::optional<double> splatValue(mlir::Value value);

} // namespace cleave::graph
