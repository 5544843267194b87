// Registration of the mesh dialect, and access to the mesh of a module.
#include "dialects/mesh/MeshDialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cleave;
using namespace cleave::mesh;

#include "dialects/mesh/MeshDialect.cpp.inc"
#include "dialects/mesh/MeshEnums.cpp.inc"

void MeshDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialects/mesh/MeshOps.cpp.inc"
      >();
}

MeshAttr cleave::mesh::meshOf(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto attr = op->getAttrOfType<MeshAttr>(kMesh))
      return attr;
  return {};
}
