#include "tools/cleave-dump/Torchtitan.h"

#include "runtime/base/Concat.h"
#include "runtime/base/Fold.h"
#include "tools/cleave-dump/PlanText.h"

#include <algorithm>
#include <map>
#include <set>

namespace cleave::dump {

namespace {

// In the order of torchtitan's ranks.
enum class Kind { Stage, Replicate, Shard, Expert, Context, Tensor };

struct Axis {
  uint32_t index = 0; // in the mesh
  int64_t size = 1;
  Kind kind = Kind::Replicate;
  std::string text; // `dp=2`
};

// `dp1=2 and dp2=4`
std::string textOf(const std::vector<Axis> &axes) {
  std::string text;
  for (const Axis &axis : axes)
    text += (text.empty() ? "" : " and ") + axis.text;
  return text;
}

// `blocks.{0-3}.ln.weight, head.bias` with the number of names; of many, the first ones.
std::string namesText(const std::vector<std::string> &names) {
  constexpr size_t kShown = 3;
  std::vector<std::string> shapes;
  std::map<std::string, std::vector<std::string>> groups;
  for (const std::string &name : names) {
    std::vector<std::string> &group = groups[nameShape(name)];
    if (group.empty())
      shapes.push_back(nameShape(name));
    group.push_back(name);
  }
  std::string text;
  for (size_t i = 0; i < std::min(shapes.size(), kShown); ++i)
    text += (i ? ", " : "") + foldedName(groups[shapes[i]]);
  return concat(names.size(), " (", text, shapes.size() > kShown ? ", …)" : ")");
}

// The dim that the axis splits; -1 if there is none.
int dimOf(const plan::Tensor &tensor, const Axis &axis) {
  for (int d = 0; d < tensor.sharding_size(); ++d)
    if (std::ranges::find(tensor.sharding(d).axes(), axis.index) != tensor.sharding(d).axes().end())
      return d;
  return -1;
}

class DegreesReader {
public:
  DegreesReader(const plan::Plan &plan, std::vector<std::string> &missing)
      : plan_(plan), missing_(missing) {}

  TorchtitanDegrees read() {
    readAxes();
    checkOrder();
    checkParameters();
    checkStates();
    shardInsteadOfReplicas();
    if (const std::vector<Axis> axes = axesOf({Kind::Tensor}); !axes.empty())
      add("the dims of parameters that " + textOf(axes) +
          " splits, which torchtitan's function for the model decides; --dtensor writes the "
          "plan's");
    return degrees();
  }

private:
  void add(const std::string &sentence) { missing_.push_back(sentence); }

  // `data`, `tensor`, … of every axis, by its name.
  std::map<std::string, std::string> readKinds() {
    std::map<std::string, std::string> kinds;
    std::set<std::string> names;
    for (const plan::Decision &decision : plan_.decisions()) {
      if (decision.kind() != "strategy")
        continue;
      names.insert(decision.name());
      const std::string &text = decision.choice();
      for (size_t begin = 0; begin < text.size() && names.size() == 1;) {
        const size_t end = std::min(text.find(',', begin), text.size());
        const size_t equals = text.rfind('=', end);
        kinds[text.substr(begin, equals - begin)] = text.substr(equals + 1, end - equals - 1);
        begin = end + 1;
      }
    }
    if (names.size() > 1)
      add(concat("stages whose strategies differ; this is that of the first one"));
    return kinds;
  }

  void readAxes() {
    std::map<std::string, std::string> kinds = readKinds();
    for (int i = 0; i < plan_.mesh_size(); ++i) {
      const plan::MeshAxis &axis = plan_.mesh(i);
      if (axis.size() < 2)
        continue;
      Axis read{uint32_t(i), axis.size(), Kind::Replicate, concat(axis.name(), "=", axis.size())};
      const std::string text = axis.name() == kStageAxis ? "stage" : kinds[axis.name()];
      const std::string kind = text.substr(text.find(' ') + 1); // without `mostly`
      read.kind = kind == "stage"             ? Kind::Stage
                  : kind == "context"         ? Kind::Context
                  : kind == "tensor"          ? Kind::Tensor
                  : kind == "expert"          ? Kind::Expert
                  : shareSplitBy(read) >= 0.5 ? Kind::Shard
                                              : Kind::Replicate;
      if (kind != text || kind == "spatial")
        add(concat(read.text, ", which splits ",
                   kind != text ? "dims of several kinds" : "positions in a sample", "; it is ",
                   kind == "spatial" ? "data" : kind, " parallel here"));
      axes_.push_back(read);
    }
  }

  // The share of the bytes of parameters that ranks store in parts along the axis.
  double shareSplitBy(const Axis &axis) const {
    uint64_t all = 0, split = 0;
    for (const plan::Tensor &tensor : plan_.tensors())
      if (tensor.role() == plan::PARAMETER) {
        all += tensorBytes(tensor);
        split += dimOf(tensor, axis) >= 0 ? tensorBytes(tensor) : 0;
      }
    return all ? double(split) / double(all) : 0;
  }

  void checkOrder() {
    if (!std::ranges::is_sorted(axes_, {}, &Axis::kind))
      add(concat("the order of the ranks on the mesh ", meshText(plan_),
                 "; torchtitan's is stages, replicas, shards, experts, context, tensor"));
  }

  // torchtitan has DDP beside no other parallelism.
  void shardInsteadOfReplicas() {
    const std::vector<Axis> replicas = axesOf({Kind::Replicate});
    if (replicas.empty() || replicas.size() == axes_.size() ||
        !axesOf({Kind::Shard, Kind::Expert, Kind::Context}).empty())
      return;
    add("parameters replicated over " + textOf(replicas) +
        " beside other parallelism; they are sharded here (FSDP)");
    for (Axis &axis : axes_)
      if (axis.kind == Kind::Replicate)
        axis.kind = Kind::Shard;
  }

  // torchtitan shards all parameters along their first dim over shards and context.
  void checkParameters() {
    const std::vector<Axis> shards = axesOf({Kind::Shard, Kind::Expert, Kind::Context});
    const std::vector<Axis> replicas = axesOf({Kind::Replicate});
    std::vector<std::string> whole, otherDim, split;
    for (const plan::Tensor &tensor : plan_.tensors()) {
      if (tensor.role() != plan::PARAMETER)
        continue;
      auto isWhole = [&](const Axis &axis) { return dimOf(tensor, axis) < 0; };
      if (std::ranges::any_of(shards, isWhole))
        whole.push_back(tensor.name());
      else if (std::ranges::any_of(shards, [&](const Axis &a) { return dimOf(tensor, a) > 0; }))
        otherDim.push_back(tensor.name());
      if (!std::ranges::all_of(replicas, isWhole))
        split.push_back(tensor.name());
    }
    if (!whole.empty())
      add("parameters that are not sharded over " + textOf(shards) + ": " + namesText(whole));
    if (!otherDim.empty())
      add("parameters that are sharded along another dim than the first: " + namesText(otherDim));
    if (!split.empty())
      add("parameters that are sharded over " + textOf(replicas) + ": " + namesText(split));
  }

  // The states of a parameter have its layout.
  void checkStates() {
    std::map<std::string, std::string> layouts;
    for (const plan::Tensor &tensor : plan_.tensors())
      if (tensor.role() == plan::PARAMETER)
        layouts[tensor.name()] = layoutText(plan_, tensor);
    std::vector<std::string> other;
    for (const plan::Tensor &tensor : plan_.tensors())
      if (const auto found = layouts.find(tensor.parameter());
          tensor.role() == plan::STATE && found != layouts.end() && tensor.shape_size() > 0 &&
          found->second != layoutText(plan_, tensor))
        other.push_back(tensor.name());
    if (!other.empty())
      add("optimizer states with other layouts than their parameters: " + namesText(other));
  }

  std::vector<Axis> axesOf(const std::set<Kind> &kinds) const {
    std::vector<Axis> axes;
    std::ranges::copy_if(axes_, std::back_inserter(axes),
                         [&](const Axis &axis) { return kinds.contains(axis.kind); });
    return axes;
  }

  TorchtitanDegrees degrees() const {
    auto ranksOf = [&](const std::set<Kind> &kinds) {
      int64_t ranks = 1;
      for (const Axis &axis : axesOf(kinds))
        ranks *= axis.size;
      return ranks;
    };
    return {.replicate = ranksOf({Kind::Replicate}),
            .shard = ranksOf({Kind::Shard, Kind::Expert}),
            .context = ranksOf({Kind::Context}),
            .tensor = ranksOf({Kind::Tensor}),
            .stage = ranksOf({Kind::Stage}),
            .expert = ranksOf({Kind::Expert})};
  }

  const plan::Plan &plan_;
  std::vector<std::string> &missing_;
  std::vector<Axis> axes_;
};

} // namespace

TorchtitanDegrees torchtitanDegrees(const plan::Plan &plan, std::vector<std::string> &missing) {
  return DegreesReader(plan, missing).read();
}

} // namespace cleave::dump
