// Registration of the graph dialect, and the generated definitions of its attributes. The generated
// definitions of ops are in the .cpp files of their families.
#include "dialects/graph/F32Region.h"
#include "dialects/graph/Graph.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cleave::graph;

#include "dialects/graph/GraphDialect.cpp.inc"
#include "dialects/graph/GraphEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/graph/GraphAttrs.cpp.inc"

void GraphDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/graph/GraphAttrs.cpp.inc"
      >();
  addAttentionOps();
  addContractionOps();
  addElementwiseOps();
  addIndexingOps();
  addLossOps();
  addMovementOps();
  addNormalizationOps();
  addReductionOps();
  addSequenceOps();
  addStructureOps();
  addStopGradientOps();
  addTransferOps();
  addOperations<EnterF32Op, LeaveF32Op>();
}

Operation *GraphDialect::materializeConstant(OpBuilder &b, Attribute value, Type type,
                                             Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getShapedType() != type)
    return nullptr;
  return ConstantOp::create(b, loc, elements);
}
