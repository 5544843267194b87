// The collectives: text, result types and checks. The labels C1 … are those of MeshOps.td.
#include "dialects/mesh/Axes.h"
#include "dialects/mesh/MeshDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace cleave;
using namespace cleave::mesh;

#define GET_OP_CLASSES
#include "dialects/mesh/MeshOps.cpp.inc"

// C1. The ranks of a group, or failure with a diagnostic.
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
    if (index < 0)
      return op->emitOpError("names the axis ") << axis << ", which is none of " << attr;
    if (llvm::is_contained(seen, index))
      return op->emitOpError("names the axis ") << axis << " twice";
    seen.push_back(index);
    ranks *= mesh.axes[index].size;
  }
  return ranks;
}

// C3
static LogicalResult verifyDim(Operation *op, StringRef name, int64_t dim, Type operand) {
  int64_t rank = cast<RankedTensorType>(operand).getRank();
  if (dim >= 0 && dim < rank)
    return success();
  return op->emitOpError() << "has " << name << " " << dim << ", but the operand has " << rank
                           << " dims";
}

static int64_t blockSize(int64_t size, int64_t ranks) { return (size + ranks - 1) / ranks; }

// The shape of one rank's block of `shape` when `dim` is split.
static SmallVector<int64_t> blockShape(ArrayRef<int64_t> shape, int64_t dim, int64_t ranks) {
  SmallVector<int64_t> block(shape);
  block[dim] = blockSize(shape[dim], ranks);
  return block;
}

// C4 and C5: `block` is a rank's block of `whole` along `dim`.
static LogicalResult verifyBlock(Operation *op, Type block, Type whole, int64_t dim,
                                 int64_t ranks) {
  auto blockType = cast<RankedTensorType>(block), wholeType = cast<RankedTensorType>(whole);
  if (blockType.getElementType() == wholeType.getElementType() &&
      blockType.getRank() == wholeType.getRank() &&
      blockType.getShape() == ArrayRef(blockShape(wholeType.getShape(), dim, ranks)))
    return success();
  return op->emitOpError() << "has the types " << block << " and " << whole
                           << ", but the first is not a block of the second when dim " << dim
                           << " is split over " << ranks << " ranks";
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
    if (getElementTypeOrSelf(operand) != element)
      return emitOpError("has operands of the element types ")
             << element << " and " << getElementTypeOrSelf(operand) << ", expected one type";
  return success();
}

LogicalResult AllGatherOp::verify() {
  FailureOr<int64_t> ranks = groupSize(*this, getAxes());
  if (failed(ranks) || failed(verifyDim(*this, "dim", getDim(), getOperand().getType())))
    return failure();
  return verifyBlock(*this, getOperand().getType(), getType(), getDim(), *ranks);
}

LogicalResult ReduceScatterOp::verify() {
  FailureOr<int64_t> ranks = groupSize(*this, getAxes());
  if (failed(ranks) || failed(verifyDim(*this, "dim", getDim(), getOperand().getType())))
    return failure();
  return verifyBlock(*this, getType(), getOperand().getType(), getDim(), *ranks);
}

LogicalResult SliceOp::verify() {
  FailureOr<int64_t> ranks = groupSize(*this, getAxes());
  if (failed(ranks) || failed(verifyDim(*this, "dim", getDim(), getOperand().getType())))
    return failure();
  return verifyBlock(*this, getType(), getOperand().getType(), getDim(), *ranks);
}

LogicalResult AllToAllOp::verify() {
  FailureOr<int64_t> ranks = groupSize(*this, getAxes());
  auto operand = getOperand().getType();
  if (failed(ranks) || failed(verifyDim(*this, "from", getFrom(), operand)) ||
      failed(verifyDim(*this, "to", getTo(), operand)))
    return failure();
  if (getFrom() == getTo()) // C6
    return emitOpError("has the same dim ") << getFrom() << " as from and to";
  // The whole of `from` is known from the result only.
  auto result = cast<RankedTensorType>(getType());
  if (result.getRank() != operand.getRank())
    return emitOpError("has an operand and a result of different ranks");
  SmallVector<int64_t> shape(operand.getShape());
  shape[getFrom()] = result.getDimSize(getFrom());
  auto whole = RankedTensorType::get(shape, operand.getElementType());
  if (failed(verifyBlock(*this, operand, whole, getFrom(), *ranks)))
    return failure();
  return verifyBlock(*this, result, whole, getTo(), *ranks);
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
