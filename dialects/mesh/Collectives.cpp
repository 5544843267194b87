// The collectives: printing, result types and verifiers. The labels C1 … are those of MeshOps.td.
#include "dialects/mesh/Axes.h"
#include "dialects/mesh/MeshDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

#include <algorithm>

using namespace mlir;
using namespace cleave;
using namespace cleave::mesh;

#define GET_OP_CLASSES
#include "dialects/mesh/MeshOps.cpp.inc"

// The location of the mesh that `op` refers to, which must exist.
static Location meshLocation(Operation *op) {
  while (!op->hasAttr(kMesh))
    op = op->getParentOp();
  return op->getLoc();
}

// Verifies C1. Returns the number of ranks of a group.
static FailureOr<int64_t> groupSize(Operation *op, ArrayAttr axes) {
  MeshAttr attr = meshOf(op);
  if (!attr)
    return op->emitOpError("needs a mesh: the module has no attribute ") << kMesh;
  if (axes.empty())
    return op->emitOpError("needs at least one mesh axis");
  Mesh mesh = toMesh(attr);
  int64_t ranks = 1;
  SmallVector<int> seen;
  for (Attribute axis : axes) {
    auto name = dyn_cast<StringAttr>(axis);
    int index = name ? mesh.axisIndex(name.str()) : -1;
    if (index < 0) {
      auto diag = op->emitOpError("names the axis ")
                  << axis << ", which is not an axis of " << attr;
      diag.attachNote(meshLocation(op)) << "the mesh is declared here";
      return diag;
    }
    if (llvm::is_contained(seen, index))
      return op->emitOpError("names the axis ") << axis << " twice";
    seen.push_back(index);
    ranks *= mesh.axes[index].size;
  }
  return ranks;
}

// Verifies C3.
static LogicalResult verifyDim(Operation *op, StringRef name, int64_t dim, Value operand) {
  int64_t rank = cast<RankedTensorType>(operand.getType()).getRank();
  if (dim >= 0 && dim < rank)
    return success();
  auto diag = op->emitOpError() << "has " << name << " " << dim << ", but the operand has " << rank
                                << " dims";
  diag.attachNote(operand.getLoc()) << "the operand has type " << operand.getType();
  return diag;
}

// The shape of one rank's block of `shape` when `dim` is split.
static SmallVector<int64_t> blockShape(ArrayRef<int64_t> shape, int64_t dim, int64_t ranks) {
  SmallVector<int64_t> block(shape);
  block[dim] = llvm::divideCeilSigned(shape[dim], ranks);
  return block;
}

// Verifies C4 or C5: `block` is the block of one rank of `whole` along `dim`.
static LogicalResult verifyBlock(Operation *op, Type block, Type whole, int64_t dim,
                                 int64_t ranks) {
  auto blockType = cast<RankedTensorType>(block), wholeType = cast<RankedTensorType>(whole);
  if (blockType.getElementType() == wholeType.getElementType() &&
      blockType.getRank() == wholeType.getRank() &&
      blockType.getShape() == ArrayRef(blockShape(wholeType.getShape(), dim, ranks)))
    return success();
  auto diag = op->emitOpError() << "has the types " << block << " and " << whole
                                << ", but the first is not a block of the second when dim " << dim
                                << " is split over " << ranks << " ranks";
  diag.attachNote(meshLocation(op)) << "the mesh is " << meshOf(op);
  return diag;
}

LogicalResult AllReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getOperands().getTypes());
  return success();
}

LogicalResult AllReduceOp::verify() {
  if (failed(groupSize(*this, getAxes())))
    return failure();
  if (getOperands().empty()) // C2
    return emitOpError("needs at least one operand");
  Type element = getElementTypeOrSelf(getOperands()[0]);
  for (Value operand : getOperands())
    if (getElementTypeOrSelf(operand) != element) {
      auto diag = emitOpError("has operands of the element types ")
                  << element << " and " << getElementTypeOrSelf(operand) << ", expected one type";
      diag.attachNote(operand.getLoc()) << "this operand has type " << operand.getType();
      return diag;
    }
  return success();
}

LogicalResult AllGatherOp::verify() {
  FailureOr<int64_t> ranks = groupSize(*this, getAxes());
  if (failed(ranks) || failed(verifyDim(*this, "dim", getDim(), getOperand())))
    return failure();
  return verifyBlock(*this, getOperand().getType(), getType(), getDim(), *ranks);
}

LogicalResult ReduceScatterOp::verify() {
  FailureOr<int64_t> ranks = groupSize(*this, getAxes());
  if (failed(ranks) || failed(verifyDim(*this, "dim", getDim(), getOperand())))
    return failure();
  return verifyBlock(*this, getType(), getOperand().getType(), getDim(), *ranks);
}

LogicalResult SliceOp::verify() {
  FailureOr<int64_t> ranks = groupSize(*this, getAxes());
  if (failed(ranks) || failed(verifyDim(*this, "dim", getDim(), getOperand())))
    return failure();
  return verifyBlock(*this, getType(), getOperand().getType(), getDim(), *ranks);
}

LogicalResult AllToAllOp::verify() {
  FailureOr<int64_t> ranks = groupSize(*this, getAxes());
  auto operand = getOperand().getType();
  if (failed(ranks) || failed(verifyDim(*this, "from", getFrom(), getOperand())) ||
      failed(verifyDim(*this, "to", getTo(), getOperand())))
    return failure();
  if (getFrom() == getTo()) // C6
    return emitOpError("has the same dim ") << getFrom() << " as from and to";
  // The size of the whole dim `from` is that of the result.
  auto result = cast<RankedTensorType>(getType());
  if (result.getRank() != operand.getRank()) {
    auto diag = emitOpError("has an operand and a result of different ranks");
    diag.attachNote(getOperand().getLoc()) << "the operand has type " << operand;
    return diag;
  }
  SmallVector<int64_t> shape(operand.getShape());
  shape[getFrom()] = result.getDimSize(getFrom());
  auto whole = RankedTensorType::get(shape, operand.getElementType());
  if (failed(verifyBlock(*this, operand, whole, getFrom(), *ranks)))
    return failure();
  return verifyBlock(*this, result, whole, getTo(), *ranks);
}

LogicalResult PermuteOp::verify() {
  if (failed(groupSize(*this, getAxes())))
    return failure();
  ArrayRef<Attribute> axes = getAxes().getValue(), to = getToAxes().getValue();
  if (std::is_permutation(axes.begin(), axes.end(), to.begin(), to.end())) // C11
    return success();
  return emitOpError("moves blocks from positions along ")
         << getAxes() << " to positions along " << getToAxes() << ", expected the same axes";
}

LogicalResult BlockOffsetOp::inferReturnTypes(MLIRContext *context, std::optional<Location>,
                                              Adaptor, SmallVectorImpl<Type> &types) {
  types.push_back(RankedTensorType::get({}, IntegerType::get(context, 64)));
  return success();
}

LogicalResult BlockOffsetOp::verify() {
  if (failed(groupSize(*this, getAxes())))
    return failure();
  if (static_cast<int64_t>(getBlock()) < 1) // C7
    return emitOpError("has a block of ")
           << static_cast<int64_t>(getBlock()) << " elements, expected at least one";
  return success();
}
