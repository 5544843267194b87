// Runs the rules in order, and implements the structure rule. See Verify.h.
#include "runtime/artifact/Verify.h"

#include "runtime/artifact/Access.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/artifact/VerifyRules.h"

#include <algorithm>
#include <limits>

namespace cleave::artifact {

std::string ProgramView::buffer(uint32_t index) const {
  return concat("rank ", rank, ", buffer '", program.buffers(index).name(), "'");
}

std::string ProgramView::instruction(int segment, int index) const {
  const plan::Segment &in = program.segments(segment);
  const plan::Instruction &what = in.instructions(index);
  return concat("rank ", rank, ", segment '", in.name(), "', instruction ", index, " (",
                kindName(what), " '", what.name(), "')");
}

static Status verifyMesh(const plan::Plan &plan) {
  constexpr uint64_t most = std::numeric_limits<int>::max();
  uint64_t ranks = 1;
  for (const plan::MeshAxis &axis : plan.mesh()) {
    if (axis.size() == 0)
      return Status::defect("mesh axis '", axis.name(), "' has size 0");
    if ((ranks *= axis.size()) > most) // of a product of 32 bits each
      return Status::defect("the mesh has more than ", most, " ranks");
  }
  if (plan.program_of_rank_size() != int(rankCount(plan)))
    return Status::defect("the plan lists programs for ", plan.program_of_rank_size(),
                          " ranks, its mesh has ", rankCount(plan));
  for (int rank = 0; rank < plan.program_of_rank_size(); ++rank)
    if (plan.program_of_rank(rank) >= uint32_t(plan.programs_size()))
      return Status::defect("rank ", rank, " runs program ", plan.program_of_rank(rank),
                            ", the plan has ", plan.programs_size());
  return Status::ok();
}

static Status verifySharding(const plan::Plan &plan, const plan::Tensor &tensor) {
  if (tensor.sharding_size() != tensor.shape_size())
    return Status::defect("it has ", tensor.shape_size(), " dims and shardings for ",
                          tensor.sharding_size());
  std::vector<bool> used(plan.mesh_size());
  for (const plan::DimSharding &dim : tensor.sharding())
    for (uint32_t axis : dim.axes()) {
      if (axis >= used.size())
        return Status::defect("it is sharded on mesh axis ", axis, ", the mesh has ",
                              plan.mesh_size());
      if (used[axis])
        return Status::defect("it is sharded twice on mesh axis '", plan.mesh(axis).name(), "'");
      used[axis] = true;
    }
  return Status::ok();
}

static Status verifySource(const plan::Tensor &tensor) {
  const plan::TensorSource &source = tensor.source();
  uint64_t elements = uint64_t(elementCount(tensor.shape()));
  if (source.kind_case() == plan::TensorSource::KIND_NOT_SET)
    return Status::defect("it has no source of values");
  if (source.has_file() && source.file().bytes() != elements * byteSize(source.file().dtype()))
    return Status::defect("its file slice has ", source.file().bytes(),
                          " bytes, its shape and stored dtype need ",
                          elements * byteSize(source.file().dtype()));
  if (source.has_random() && !(source.random().scale() >= 0))
    return Status::defect("its random values have the scale ", source.random().scale(),
                          ", expected none below 0");
  if (source.has_inline_data() &&
      source.inline_data().size() != elements * byteSize(tensor.dtype()))
    return Status::defect("its inline data has ", source.inline_data().size(),
                          " bytes, its shape and dtype need ", elements * byteSize(tensor.dtype()));
  std::vector<uint32_t> order(source.permutation().begin(), source.permutation().end());
  std::sort(order.begin(), order.end());
  for (uint32_t i = 0; i < order.size(); ++i)
    if (order[i] != i || order.size() != size_t(tensor.shape_size()))
      return Status::defect("its source's permutation is not a permutation of its dims");
  return Status::ok();
}

static Status verifyTensor(const plan::Plan &plan, const plan::Tensor &tensor) {
  if (byteSize(tensor.dtype()) == 0)
    return Status::defect("it has no dtype");
  for (int64_t size : tensor.shape())
    if (size < 0)
      return Status::defect("it has a dim of size ", size);
  CLEAVE_TRY(verifySharding(plan, tensor));
  switch (tensor.role()) {
  case plan::PARAMETER:
  case plan::STATE:
  case plan::CONSTANT:
    return verifySource(tensor);
  case plan::INPUT:
  case plan::OUTPUT:
    return Status::ok();
  default:
    return Status::defect("its role ", plan::Role_Name(tensor.role()),
                          ", expected a role of inputs, outputs or persistent tensors");
  }
}

Status verifyStructure(const plan::Plan &plan) {
  CLEAVE_TRY(verifyMesh(plan));
  for (const plan::Tensor &tensor : plan.tensors())
    CLEAVE_TRY(verifyTensor(plan, tensor).withContext("tensor '" + tensor.name() + "'"));
  for (const plan::Program &program : plan.programs())
    if (program.kernels_size() && plan.cpu_library().empty())
      return Status::defect("the programs have kernels, but the plan holds no library of them");
  return Status::ok();
}

Status verifyPlan(const plan::Plan &plan) {
  CLEAVE_TRY(verifyStructure(plan).withContext("the plan is inconsistent"));
  std::vector<bool> done(plan.programs_size());
  for (int rank = 0; rank < plan.program_of_rank_size(); ++rank) {
    uint32_t index = plan.program_of_rank(rank);
    if (done[index])
      continue;
    done[index] = true;
    ProgramView view{plan, plan.programs(index), uint32_t(rank)};
    for (auto rule : {verifyPlacement, verifyInstructions, verifyDataflow})
      CLEAVE_TRY(rule(view).withContext("the plan is inconsistent"));
  }
  return verifyCommunication(plan).withContext("the plan is inconsistent");
}

} // namespace cleave::artifact
