// The phase `import`.
//
//  S1–S10 The signature is complete (Signature.cpp).
//  P1     Every op of the step is an op of the graph dialect.
//  P2     There are no kernel groups yet, and no op has a mesh.strategy.
#include "passes/promise/Promise.h"

#include "dialects/mesh/MeshDialect.h"
#include "passes/promise/Rules.h"

using namespace mlir;

namespace cleave::promise {

static constexpr StringLiteral kImportPhase = "import";

LogicalResult checkImport(ModuleOp module) {
  if (failed(checkSignature(module, kImportPhase)))
    return failure();
  func::FuncOp step = graph::stepOf(module);
  for (Operation &op : step.getBody().front().without_terminator()) {
    if (!isa_and_nonnull<graph::GraphDialect>(op.getDialect()))
      return broken(&op, kImportPhase, "P1") << "is not an op of the graph dialect";
    if (isa<graph::FusionOp>(op) || op.hasAttr(mesh::kStrategy))
      return broken(&op, kImportPhase, "P2") << "belongs to a later phase";
  }
  return success();
}

} // namespace cleave::promise
