// --dtensor: the layouts as placements of PyTorch's DTensors.
//
// DTensor splits a dim by the axes of the mesh from left to right: `Shard(0), Shard(0)` is the
// layout [dp+tp] on the mesh dp, tp. In the layout [tp+dp], dp splits each of the blocks of tp,
// which is `_StridedShard(0, split_factor=2), Shard(0)`.
#include "runtime/artifact/Mesh.h"
#include "runtime/base/DType.h"
#include "tools/cleave-dump/PlanJson.h"
#include "tools/cleave-dump/PlanText.h"
#include "tools/cleave-dump/Views.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace cleave::dump {

namespace {

// An axis of more than one rank that splits a dim.
struct Split {
  uint32_t axis = 0; // of the mesh
  int64_t size = 1;
  int64_t factor = 1; // the ranks of the axes before it in the layout, and after it in the mesh
};

} // namespace

static std::vector<Split> splitsOf(const plan::Plan &plan, const plan::DimSharding &dim) {
  std::vector<Split> splits;
  for (uint32_t axis : dim.axes()) {
    if (axis >= uint32_t(plan.mesh_size()) || plan.mesh(int(axis)).size() < 2)
      continue;
    Split split{axis, plan.mesh(int(axis)).size(), 1};
    for (const Split &before : splits)
      if (before.axis > axis)
        split.factor *= before.size;
    splits.push_back(split);
  }
  return splits;
}

// Whether DTensor and the plan divide the dim into equal blocks. DTensor cuts a block into pieces
// of ceil(size / ranks) for the next axis; the plan has blocks of ceil(size / parts).
static bool hasBlocksOfPlan(int64_t size, const std::vector<Split> &splits) {
  const int64_t parts = std::accumulate(splits.begin(), splits.end(), int64_t(1),
                                        [](int64_t n, const Split &s) { return n * s.size; });
  if (size % parts == 0 || splits.size() < 2)
    return true;
  if (std::ranges::any_of(splits, [](const Split &split) { return split.factor > 1; }))
    return false;
  for (int64_t index = 0; index < parts; ++index) {
    int64_t begin = 0, length = size, rest = index, ranks = parts;
    for (const Split &split : splits) {
      ranks /= split.size;
      const int64_t block = (length + split.size - 1) / split.size, at = rest / ranks * block;
      rest %= ranks;
      begin += std::min(at, length);
      length = std::clamp<int64_t>(length - at, 0, block);
    }
    const int64_t block = (size + parts - 1) / parts;
    const int64_t wanted = std::clamp<int64_t>(size - index * block, 0, block);
    if (length != wanted || (length > 0 && begin != index * block))
      return false;
  }
  return true;
}

// Why DTensor has no such blocks; empty if it has.
static std::string objectionTo(const plan::Plan &plan, const plan::Tensor &tensor) {
  for (int d = 0; d < std::min(tensor.shape_size(), tensor.sharding_size()); ++d)
    if (!hasBlocksOfPlan(tensor.shape(d), splitsOf(plan, tensor.sharding(d))))
      return concat("dim ", d, " has ", tensor.shape(d), " elements, which ",
                    axesText(plan, tensor.sharding(d).axes()), " divides into other blocks of ",
                    "ranks than DTensor would");
  return "";
}

// One placement per axis of the mesh but that of the stages.
static Json placementsJson(const plan::Plan &plan, const plan::Tensor &tensor) {
  std::vector<std::string> placements(plan.mesh_size(), "Replicate()");
  for (int d = 0; d < tensor.sharding_size(); ++d)
    for (const Split &split : splitsOf(plan, tensor.sharding(d)))
      placements[split.axis] =
          split.factor > 1 ? concat("_StridedShard(", d, ", split_factor=", split.factor, ")")
                           : concat("Shard(", d, ")");
  Json json = Json::array();
  for (int axis = 0; axis < plan.mesh_size(); ++axis)
    if (plan.mesh(axis).name() != kStageAxis)
      json.push_back(placements[axis]);
  return json;
}

// The stages of a pipeline whose ranks hold the tensor.
static std::set<uint32_t> stagesOf(const plan::Plan &plan, int tensor) {
  std::set<uint32_t> stages;
  const uint32_t ranks = artifact::rankCount(plan) / uint32_t(stageCount(plan));
  for (const plan::Program &program : plan.programs())
    for (const plan::Buffer &buffer : program.buffers())
      if (buffer.tensor() == tensor && !isEvaluation(program))
        for (uint32_t rank : program.ranks())
          stages.insert(rank / ranks);
  return stages;
}

static Json meshJson(const plan::Plan &plan) {
  Json names = Json::array(), sizes = Json::array();
  for (const plan::MeshAxis &axis : plan.mesh()) {
    names.push_back(axis.name());
    sizes.push_back(axis.size());
  }
  return {{"dim_names", names}, {"shape", sizes}};
}

static Json tensorJson(const plan::Plan &plan, int index) {
  const plan::Tensor &tensor = plan.tensors(index);
  const std::optional<DType> dtype = dtypeFromNumber(tensor.dtype());
  Json json = {{"placements", placementsJson(plan, tensor)},
               {"shape", tensor.shape()},
               {"dtype", dtype ? longName(*dtype) : "?"}};
  if (tensor.other_names_size())
    json["other_names"] = tensor.other_names();
  if (stageCount(plan) > 1)
    json["stages"] = stagesOf(plan, index);
  return json;
}

Exported dtensorView(const plan::Plan &plan) {
  const std::pair<plan::Role, const char *> roles[] = {{plan::PARAMETER, "parameters"},
                                                       {plan::CONSTANT, "constants"},
                                                       {plan::STATE, "states"},
                                                       {plan::INPUT, "inputs"},
                                                       {plan::OUTPUT, "outputs"}};
  Exported result;
  Json json = {{"mesh", meshJson(plan)}}, missing = Json::array();
  for (auto [role, name] : roles) {
    json[name] = Json::object();
    for (int t = 0; t < plan.tensors_size(); ++t) {
      const plan::Tensor &tensor = plan.tensors(t);
      if (tensor.role() != role)
        continue;
      const std::string objection = objectionTo(plan, tensor);
      if (objection.empty()) {
        json[name][tensor.name()] = tensorJson(plan, t);
        continue;
      }
      missing.push_back(
          {{"name", tensor.name()}, {"layout", layoutText(plan, tensor)}, {"reason", objection}});
      result.missing.push_back(
          concat(tensor.name(), ": ", layoutText(plan, tensor), ": ", objection));
    }
  }
  json["not_expressible"] = missing;
  result.text = json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  return result;
}

} // namespace cleave::dump
