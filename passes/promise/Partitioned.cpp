// The phase `partitioned`.
//
//  S1–S7  The signature is complete (Signature.cpp).
//  P1     All shapes are static, in kernel groups too.
//  P2     Every argument and result has a mesh.global and a mesh.sharding on the module's mesh that
//         is not partial: no partial sum leaves the step.
//  P3     Its type is one block of that global tensor.
//  P4     A result that replaces an argument has the layout of that argument.
//  P5     No op has a mesh.strategy any more.
//  P6     Every pointwise op, reduction, broadcast and iota is in a kernel group, except constants
//         with all elements equal.
//  P7     Every kernel group obeys the rules of passes/fuse/Groups.h.
//
// That collectives name axes of the mesh, and that their types are blocks of each other, is checked
// by the verifiers of their ops (rules C1 to C7 in dialects/mesh/MeshOps.td).
#include "passes/promise/Promise.h"

#include "dialects/mesh/MeshDialect.h"
#include "passes/promise/Rules.h"

using namespace mlir;

namespace cleave::promise {

static constexpr StringLiteral kPartitionedPhase = "partitioned";

// P2, P3. An argument or result, `what`, of this local type and with these attributes.
static LogicalResult checkBlock(func::FuncOp step, const Twine &what, Type local,
                                DictionaryAttr attrs, const Mesh &mesh) {
  auto global = attrs ? attrs.getAs<TypeAttr>(mesh::kGlobal) : TypeAttr();
  auto sharding = attrs ? attrs.getAs<mesh::ShardingAttr>(mesh::kSharding) : mesh::ShardingAttr();
  auto whole = global ? dyn_cast<RankedTensorType>(global.getValue()) : RankedTensorType();
  std::optional<Sharding> layout = sharding ? mesh::toSharding(sharding, mesh) : std::nullopt;
  if (!whole || !graph::hasStaticShape(whole) || !layout)
    return broken(step.getLoc(), kPartitionedPhase, "P2")
           << what << " has no mesh.global and mesh.sharding on the mesh";
  if (!layout->partial.empty() || layout->dims.size() != static_cast<size_t>(whole.getRank()))
    return broken(step.getLoc(), kPartitionedPhase, "P2")
           << what << " has the layout " << layout->str(mesh)
           << ", which is partial or not of the rank of " << whole;
  auto block = RankedTensorType::get(localShape(graph::staticShapeOf(whole), *layout, mesh),
                                     whole.getElementType());
  if (block != local)
    return broken(step.getLoc(), kPartitionedPhase, "P3")
           << what << " has the type " << local << ", but a block of " << whole << " in the layout "
           << layout->str(mesh) << " is " << block;
  return success();
}

// P4
static LogicalResult checkReplacements(func::FuncOp step) {
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    if (std::optional<unsigned> alias = graph::aliasOf(step, i);
        alias && step.getResultAttr(i, mesh::kSharding) != step.getArgAttr(*alias, mesh::kSharding))
      return broken(step.getLoc(), kPartitionedPhase, "P4")
             << "result '" << graph::resultName(step, i)
             << "' has another mesh.sharding than the argument that it replaces";
  return success();
}

// P1, P5
static LogicalResult checkOps(func::FuncOp step) {
  WalkResult result = step.getBody().walk([&](Operation *op) {
    for (Value value : op->getResults())
      if (!graph::hasStaticShape(value.getType())) {
        broken(op, kPartitionedPhase, "P1")
            << "has a result of type " << value.getType() << ", expected a static shape";
        return WalkResult::interrupt();
      }
    if (op->hasAttr(mesh::kStrategy)) {
      broken(op, kPartitionedPhase, "P5") << "still has a mesh.strategy";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult checkPartitioned(ModuleOp module) {
  if (failed(checkSignature(module, kPartitionedPhase, Tensors::Sharded)))
    return failure();
  func::FuncOp step = graph::stepOf(module);
  auto attr = module->getAttrOfType<mesh::MeshAttr>(mesh::kMesh);
  if (!attr)
    return broken(module.getLoc(), kPartitionedPhase, "P2") << "the module has no mesh.mesh";
  if (failed(checkOps(step)))
    return failure();
  Mesh mesh = mesh::toMesh(attr);
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (failed(checkBlock(step, "argument '" + graph::argName(step, i) + "'",
                          step.getArgumentTypes()[i], step.getArgAttrDict(i), mesh)))
      return failure();
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    if (failed(checkBlock(step, "result '" + graph::resultName(step, i) + "'",
                          step.getResultTypes()[i], step.getResultAttrDict(i), mesh)))
      return failure();
  if (failed(checkReplacements(step)) || failed(checkNothingLoose(step, kPartitionedPhase, "P6")))
    return failure();
  return checkGroups(step, kPartitionedPhase, "P7");
}

} // namespace cleave::promise
