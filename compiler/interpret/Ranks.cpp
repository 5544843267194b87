#include "compiler/interpret/Ranks.h"

#include "compiler/interpret/LiveValues.h"
#include "dialects/graph/Step.h"
#include "dialects/mesh/MeshDialect.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace cleave::interpret {

namespace {
using RankValues = LiveValues<std::vector<Tensor>>; // per value one tensor per rank
}

static Status runOnRanks(Operation *op, const Mesh &mesh, RankValues &values) {
  mesh::RankTensors operands(mesh.ranks()), results(mesh.ranks());
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
    for (Value operand : op->getOperands())
      operands[rank].push_back(values.get(operand)[rank]);
  if (mesh::isCollective(op)) {
    results = mesh::evaluateCollective(op, mesh, operands);
  } else if (auto reference = dyn_cast<graph::ReferenceInterface>(op)) {
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
      for (Tensor &tensor : reference.evaluate(operands[rank]))
        results[rank].push_back(std::move(tensor));
  } else {
    return Status::defect(op->getName().getStringRef(), " has no reference semantics");
  }
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    std::vector<Tensor> ofRanks;
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
      CLEAVE_TRY(checkTensor(results[rank][i], result.getType(),
                             concat("the result of ", op->getName().getStringRef())));
      ofRanks.push_back(std::move(results[rank][i]));
    }
    values.set(result, std::move(ofRanks));
  }
  values.release(op);
  return Status::ok();
}

Result<mesh::RankTensors> runRanks(func::FuncOp step, const Mesh &mesh,
                                   const mesh::RankTensors &args) {
  RankValues values;
  for (auto [i, argument] : llvm::enumerate(step.getArguments())) {
    std::vector<Tensor> ofRanks;
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
      CLEAVE_TRY(checkTensor(args[rank][i], argument.getType(), concat("argument ", i)));
      ofRanks.push_back(args[rank][i]);
    }
    values.set(argument, std::move(ofRanks));
  }
  for (Operation &op : step.getBody().front().without_terminator())
    CLEAVE_TRY(runOnRanks(&op, mesh, values));
  mesh::RankTensors results(mesh.ranks());
  for (Value value : step.getBody().front().getTerminator()->getOperands())
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
      results[rank].push_back(values.get(value)[rank]);
  return results;
}

static Result<Sharding> layoutOf(Attribute attr, const Mesh &mesh, const std::string &what) {
  auto sharding = dyn_cast_or_null<mesh::ShardingAttr>(attr);
  std::optional<Sharding> layout = sharding ? mesh::toSharding(sharding, mesh) : std::nullopt;
  if (!layout)
    return Status::userError(what, " has no layout: the step is not partitioned");
  return *layout;
}

Result<std::vector<Tensor>> runPartitioned(func::FuncOp step, ArrayRef<Tensor> args,
                                           double tolerance) {
  mesh::MeshAttr attr = mesh::meshOf(step);
  if (!attr)
    return Status::userError("the module has no mesh: the step is not partitioned");
  Mesh mesh = mesh::toMesh(attr);
  mesh::RankTensors local(mesh.ranks());
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    CLEAVE_TRY_ASSIGN(Sharding layout,
                      layoutOf(step.getArgAttr(i, mesh::kSharding), mesh, concat("argument ", i)));
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
      local[rank].push_back(mesh::splitTensor(args[i], layout, mesh, rank));
  }
  CLEAVE_TRY_ASSIGN(mesh::RankTensors results, runRanks(step, mesh, local));
  std::vector<Tensor> whole;
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    std::string what = concat("result ", i);
    CLEAVE_TRY_ASSIGN(Sharding layout,
                      layoutOf(step.getResultAttr(i, mesh::kSharding), mesh, what));
    auto global = step.getResultAttrOfType<TypeAttr>(i, mesh::kGlobal);
    std::vector<Tensor> blocks;
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
      blocks.push_back(results[rank][i]);
    bool agree = true;
    whole.push_back(mesh::joinTensor(blocks, graph::staticShapeOf(global.getValue()), layout, mesh,
                                     &agree, tolerance));
    if (!agree)
      return Status::defect(what, " differs between ranks that should hold the same");
  }
  return whole;
}

} // namespace cleave::interpret
