// Tensor types of the graph dialect: shapes as polynomials, element types and constants as plain
// data.
#pragma once

#include "dialects/interfaces/OpInterfaces.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace cleave::graph {

// The sizes of a tensor's dims.
using Shape = std::vector<Polynomial>;

// The dims of a ranked tensor (symbolic ones from its #graph.dims encoding).
Shape shapeOf(mlir::Type type);
inline Shape shapeOf(mlir::Value value) { return shapeOf(value.getType()); }

// The tensor type with these dims; it has a #graph.dims encoding if a dim is symbolic.
mlir::RankedTensorType tensorOf(const Shape &shape, mlir::Type element);

// The dims as numbers; asserts that none is symbolic.
std::vector<int64_t> staticShapeOf(mlir::Type type);
inline std::vector<int64_t> staticShapeOf(mlir::Value value) {
  return staticShapeOf(value.getType());
}
bool hasStaticShape(mlir::Type type);
// Whether each dim of a ranked tensor is a number or has a polynomial in #graph.dims.
bool hasKnownDims(mlir::Type type);
// Verifies that an operand has known dims, for an op whose parser infers its result type, which
// happens before its operands are verified.
mlir::LogicalResult verifyParsed(std::optional<mlir::Location> location, mlir::Value operand);

// Verifies that all operands and results of `op` have the same dims, symbolic ones included.
mlir::LogicalResult verifySameDims(mlir::Operation *op);
// The trait Graph_SameDims.
template <typename Op> struct SameDims : mlir::OpTrait::TraitBase<Op, SameDims> {
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return verifySameDims(op); }
};

// The element type and the number of dims of a ranked tensor.
mlir::Type elementTypeOf(mlir::Type type);
inline mlir::Type elementTypeOf(mlir::Value value) { return elementTypeOf(value.getType()); }
int64_t rankOf(mlir::Value value);

// Whether sums of products of elements of type `factor` can have the element type `product`
// (ProductType.h).
bool isProductType(mlir::Type product, mlir::Type factor);
// Whether two tensor types have the same dims, and element types of a product and its factors.
bool isProductTensor(mlir::Type product, mlir::Type factor);

// The product of the dims.
Polynomial elementCount(mlir::Type type);
// Elements × bytes of one element.
Polynomial byteCount(mlir::Type type);

// Conversion between MLIR's element types and plain ones.
ElementType toElementType(mlir::Type type);
mlir::Type fromElementType(ElementType type, mlir::MLIRContext *context);

// Conversion between constants and plain tensors.
Tensor toTensor(mlir::ElementsAttr attr);
mlir::DenseElementsAttr toAttribute(const Tensor &tensor, mlir::MLIRContext *context);

// Whether doubles, and so Tensor, represent all elements. Integers of 64 bits beyond 2^53 are exact
// if they are multiples of a large enough power of two, or the largest integer.
bool isExact(mlir::ElementsAttr attr);

// The element of a constant with all elements equal, or of its broadcast; none for other values,
// and for an integer that no double represents.
std::optional<double> splatValue(mlir::Value value);

} // namespace cleave::graph
