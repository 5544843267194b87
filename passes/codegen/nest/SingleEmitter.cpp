// Chooses the emitter by the op.
#include "passes/codegen/nest/SingleEmitter.h"

#include "dialects/mesh/MeshDialect.h"
#include "passes/codegen/nest/ConvolutionEmitter.h"
#include "passes/codegen/nest/IndexingEmitter.h"
#include "passes/codegen/nest/LocalEmitter.h"
#include "passes/codegen/nest/PoolEmitter.h"
#include "passes/codegen/nest/SequenceEmitter.h"

using namespace mlir;

namespace cleave::codegen {

LogicalResult emitSingle(KernelBuilder &k, program::KernelOp kernel) {
  Operation &op = kernel.getComputation();
  if (isa<graph::GatherOp, graph::ScatterOp>(op))
    return emitIndexing(k, kernel), success();
  if (isa<graph::PoolOp, graph::PoolGradOp>(op))
    return emitPool(k, kernel), success();
  if (isa<graph::ConvOp, graph::ConvInputGradOp, graph::ConvWeightGradOp>(op))
    return emitConvolution(k, kernel), success();
  if (isa<graph::ScanOp, graph::SortOp>(op))
    return emitSequence(k, kernel), success();
  if (isa<mesh::SliceOp, mesh::BlockOffsetOp>(op))
    return emitLocal(k, kernel), success();
  auto diag = kernel.emitOpError()
              << "computes " << op.getName() << ", for which there is no kernel";
  diag.attachNote(op.getLoc()) << "the op is here";
  return diag;
}

} // namespace cleave::codegen
