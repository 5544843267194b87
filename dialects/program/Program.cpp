// Registration and verifiers of the program dialect.
#include "dialects/program/Program.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "dialects/program/ProgramDialect.cpp.inc"
#include "dialects/program/ProgramEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/program/ProgramTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/program/ProgramAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/program/ProgramOps.cpp.inc"

namespace cleave::program {

void ProgramDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/program/ProgramTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/program/ProgramAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/program/ProgramOps.cpp.inc"
      >();
}

SmallVector<int64_t> denseStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

ViewAttr denseView(MLIRContext *context, int64_t buffer, ArrayRef<int64_t> shape) {
  return ViewAttr::get(context, buffer, 0, denseStrides(shape));
}

static LogicalResult verifyView(KernelOp kernel, Attribute attribute, Type type, StringRef what,
                                unsigned i) {
  auto view = cast<ViewAttr>(attribute);
  if (view.getBuffer() < 0 || view.getBuffer() >= static_cast<int64_t>(kernel.getBuffers()))
    return kernel.emitOpError() << what << " " << i << " lies in buffer " << view.getBuffer()
                                << " of " << kernel.getBuffers();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return kernel.emitOpError() << what << " " << i << " is no tensor of static shape";
  if (tensor.getRank() != static_cast<int64_t>(view.getStrides().size()))
    return kernel.emitOpError() << what << " " << i << " has rank " << tensor.getRank()
                                << " but its view " << view.getStrides().size() << " strides";
  return success();
}

LogicalResult KernelOp::verify() {
  Block &body = getBody().front();
  if (!llvm::hasSingleElement(body))
    return emitOpError("holds not exactly one op");
  Operation &computation = body.front();
  if (getOperands().size() != body.getNumArguments() ||
      getResults().size() != computation.getNumResults())
    return emitOpError("needs one view for every block argument and every result of its op");
  for (unsigned i = 0; i < body.getNumArguments(); ++i)
    if (failed(verifyView(*this, getOperands()[i], body.getArgument(i).getType(), "operand", i)))
      return failure();
  for (unsigned i = 0; i < computation.getNumResults(); ++i)
    if (failed(verifyView(*this, getResults()[i], computation.getResult(i).getType(), "result", i)))
      return failure();
  return success();
}

LogicalResult ProgramOp::verify() {
  int64_t segments = 0;
  for (Operation &op : getBody().front())
    segments += isa<SegmentOp>(op);
  if (getSchedule().size() % 2 != 0)
    return emitOpError("has a schedule that is no list of pairs (segment, slot)");
  for (size_t i = 0; i < getSchedule().size(); i += 2)
    if (getSchedule()[i] < 0 || getSchedule()[i] >= segments)
      return emitOpError() << "schedules segment " << getSchedule()[i] << " of " << segments;
  for (auto buffer : getBody().front().getOps<BufferOp>())
    if (static_cast<int64_t>(buffer.getOffset() + buffer.getBytes()) > getArena().getBytes())
      return buffer.emitOpError() << "ends beyond the arena of " << getArena().getBytes()
                                  << " bytes";
  return success();
}

} // namespace cleave::program
