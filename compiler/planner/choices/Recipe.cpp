// Parts of recipes: names, axes and sizes.
#include "compiler/planner/choices/Recipe.h"

#include <algorithm>
#include <charconv>
#include <numeric>

namespace cleave::planner {

bool splitsParameters(ParameterStorage storage) {
  return storage == ParameterStorage::Zero3 || storage == ParameterStorage::Fsdp;
}

bool splitsUpdate(ParameterStorage storage) { return storage != ParameterStorage::Dp; }

// The parts for axes that split samples; hsdp is fsdp along one of them.
static const std::pair<const char *, ParameterStorage> kStorages[] = {
    {"dp", ParameterStorage::Dp},       {"zero1", ParameterStorage::Zero1},
    {"zero2", ParameterStorage::Zero2}, {"zero3", ParameterStorage::Zero3},
    {"fsdp", ParameterStorage::Fsdp},   {"hsdp", ParameterStorage::Fsdp}};

// A part `NAME` or `NAME:SIZE`; a size that is not given is 0, one that is malformed -1.
static std::pair<std::string, int64_t> readPart(const std::string &text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos)
    return {text, 0};
  int64_t size = 0;
  const char *end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data() + colon + 1, end, size);
  return {text.substr(0, colon), error == std::errc() && at == end && size > 0 ? size : -1};
}

Result<std::optional<Recipe>> Recipe::parse(const std::string &text) {
  Recipe recipe;
  recipe.name_ = text;
  auto twice = [&](const char *what) {
    return Status::userError("the pins ", text, " contradict each other: expected at most one ",
                             "part for ", what);
  };
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('+', at), text.size());
    const auto [name, size] = readPart(text.substr(at, end - at));
    const auto *storage =
        std::find_if(std::begin(kStorages), std::end(kStorages),
                     [&name = name](const auto &entry) { return name == entry.first; });
    const bool isWeights = name == "megatron" || name == "tp" || name == "sp";
    if (storage != std::end(kStorages)) {
      if (recipe.hasStorage_)
        return twice("samples");
      recipe.hasStorage_ = true;
      recipe.isHybrid_ = name == "hsdp";
      recipe.storage_ = storage->second;
      recipe.samplesSize_ = size;
    } else if (isWeights) {
      // `megatron+sp` is `sp`.
      if (recipe.splitsWeights_ && (name == "sp") == recipe.sharesSequences_)
        return twice("weights");
      recipe.splitsWeights_ = true;
      recipe.sharesSequences_ |= name == "sp";
      recipe.weightsSize_ = size ? size : recipe.weightsSize_;
    } else if (name == "cp") {
      if (recipe.splitsSequences_)
        return twice("sequences");
      recipe.splitsSequences_ = true;
      recipe.sequencesSize_ = size;
    } else {
      return std::optional<Recipe>();
    }
    if (size < 0)
      return Status::userError("the size of a part of the pin ", text,
                               " is malformed: expected a positive number, such as tp:8, found ",
                               text.substr(at, end - at));
    at = end + 1;
  }
  return std::optional<Recipe>(recipe);
}

std::optional<Mesh> Recipe::defaultMesh(int64_t ranks, int64_t nodeRanks) const {
  if (isNone())
    return std::nullopt;
  int64_t inside = std::gcd(ranks, nodeRanks); // ranks of a node that are left
  int64_t rest = ranks;
  std::vector<MeshAxis> axes; // from the innermost outwards
  // Adds an axis: of the given size, with all that is left, or with what is left inside of a node.
  auto add = [&](const char *name, int64_t given, bool takesRest) {
    const int64_t size = given ? given : takesRest ? rest : inside;
    rest = std::max<int64_t>(1, rest / size);
    inside = std::max<int64_t>(1, std::gcd(inside / size, rest));
    axes.push_back({name, size});
  };
  if (splitsWeights_)
    add("tp", weightsSize_, !hasStorage_ && !splitsSequences_);
  if (splitsSequences_)
    add("cp", sequencesSize_, !hasStorage_);
  if (isHybrid_)
    add("shard", samplesSize_, false);
  if (isHybrid_)
    add("replicate", 0, true);
  else if (hasStorage_ || rest > 1)
    add("dp", samplesSize_, true);
  std::reverse(axes.begin(), axes.end());
  return Mesh{std::move(axes)};
}

// The axis of a name, else the last one that is not `taken`, else -1.
static int axisOf(const Mesh &mesh, const char *name, std::initializer_list<int> taken) {
  if (const int axis = mesh.axisIndex(name); axis >= 0)
    return axis;
  int axis = static_cast<int>(mesh.axes.size()) - 1;
  while (std::find(taken.begin(), taken.end(), axis) != taken.end())
    --axis;
  return axis;
}

int Recipe::weightsAxis(const Mesh &mesh) const {
  return splitsWeights_ ? axisOf(mesh, "tp", {}) : -1;
}

int Recipe::sequencesAxis(const Mesh &mesh) const {
  return splitsSequences_ ? axisOf(mesh, "cp", {weightsAxis(mesh)}) : -1;
}

int Recipe::shardAxis(const Mesh &mesh) const {
  return isHybrid_ ? axisOf(mesh, "shard", {weightsAxis(mesh), sequencesAxis(mesh)}) : -1;
}

Status Recipe::check(const Mesh &mesh) const {
  struct Part {
    const char *name;
    bool exists;
    int axis;
    int64_t size;
  };
  for (const Part &part : {Part{"tp", splitsWeights_, weightsAxis(mesh), weightsSize_},
                           Part{"cp", splitsSequences_, sequencesAxis(mesh), sequencesSize_},
                           Part{"shard", isHybrid_, shardAxis(mesh), samplesSize_}}) {
    if (part.exists && part.axis < 0)
      return Status::userError("the pin ", name_, " needs an axis ", part.name, ", but the mesh ",
                               mesh.str(), " has none left: give another --mesh");
    if (part.exists && part.size && mesh.axes[part.axis].size != part.size)
      return Status::userError("the pin ", name_, " gives the axis ", mesh.axes[part.axis].name,
                               " ", part.size, " ranks, but the mesh ", mesh.str(), " ",
                               mesh.axes[part.axis].size, ": make --pin and --mesh agree");
  }
  int64_t samples = 1;
  for (int axis = 0; axis < static_cast<int>(mesh.axes.size()); ++axis)
    if (roleOf(mesh, axis).splits == AxisRole::Splits::Samples)
      samples *= mesh.axes[axis].size;
  if (samplesSize_ && !isHybrid_ && samples != samplesSize_)
    return Status::userError("the pin ", name_, " splits samples over ", samplesSize_,
                             " ranks, but the mesh ", mesh.str(), " over ", samples,
                             ": make --pin and --mesh agree");
  return Status::ok();
}

AxisRole Recipe::roleOf(const Mesh &mesh, int axis) const {
  if (axis == weightsAxis(mesh))
    return {AxisRole::Splits::Weights, ParameterStorage::Dp};
  if (axis == sequencesAxis(mesh))
    return {AxisRole::Splits::Sequences, storage_};
  return {AxisRole::Splits::Samples,
          !isHybrid_ || axis == shardAxis(mesh) ? storage_ : ParameterStorage::Dp};
}

} // namespace cleave::planner
