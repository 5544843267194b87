#include "compiler/planner/report/Strategy.h"

#include "runtime/base/Units.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace cleave::planner {

namespace {

enum class AxisKind { Data, Context, Spatial, Tensor, Expert, Mixed };
constexpr const char *kKindNames[] = {"data", "context", "spatial", "tensor", "expert"};

AxisKind kindOf(const AxisUse &use) {
  auto share = [&](DimUse dim) { return use.flops[static_cast<size_t>(dim)]; };
  const double positions = share(DimUse::Sequence) + share(DimUse::Positions);
  const double experts = share(DimUse::Experts);
  if (share(DimUse::Batch) >= kNearlyAll)
    return AxisKind::Data;
  if (share(DimUse::Sequence) >= kNearlyAll)
    return AxisKind::Context;
  if (positions >= kNearlyAll)
    return AxisKind::Spatial;
  if (share(DimUse::Features) + share(DimUse::Vocabulary) >= kNearlyAll)
    return AxisKind::Tensor;
  if (experts > 1 - kNearlyAll && experts + share(DimUse::Batch) + positions >= kNearlyAll)
    return AxisKind::Expert;
  return AxisKind::Mixed;
}

// `tensor`; of a mixed axis `mostly tensor`, by the largest share.
std::string kindText(AxisKind kind, const AxisUse &use) {
  auto share = [&](DimUse dim) { return use.flops[static_cast<size_t>(dim)]; };
  const double shares[] = {share(DimUse::Batch), share(DimUse::Sequence), share(DimUse::Positions),
                           share(DimUse::Features) + share(DimUse::Vocabulary),
                           share(DimUse::Experts)};
  if (kind != AxisKind::Mixed)
    return kKindNames[static_cast<size_t>(kind)];
  return concat(
      "mostly ",
      kKindNames[std::max_element(std::begin(shares), std::end(shares)) - std::begin(shares)]);
}

// How bytes lie along some axes.
struct Storage {
  std::vector<int> sharded, whole; // axes
  double share = 1;                // of the bytes that are sharded, along the axis of the least
  bool isClear = true;             // every axis is one of these
};

Storage storageOf(const std::vector<AxisUse> &uses, const std::vector<int> &axes,
                  double AxisUse::*stored) {
  Storage storage;
  for (int axis : axes)
    if (const double share = uses[axis].*stored; share >= kNearlyAll) {
      storage.sharded.push_back(axis);
      storage.share = std::min(storage.share, share);
    } else if (share <= 1 - kNearlyAll) {
      storage.whole.push_back(axis);
    } else {
      storage.isClear = false;
    }
  return storage;
}

class StrategyReader {
public:
  StrategyReader(const Mesh &mesh, const std::vector<AxisUse> &uses, bool trains)
      : mesh_(mesh), trains_(trains) {
    for (int axis = 0; axis < static_cast<int>(mesh.axes.size()); ++axis)
      if (mesh.axes[axis].size > 1) {
        const AxisKind kind = kindOf(uses[axis]);
        axesOf_[kind].push_back(axis);
        kinds_ += concat(kinds_.empty() ? "" : ",", mesh.axes[axis].name, "=",
                         kindText(kind, uses[axis]));
      }
    std::vector<int> shared; // the axes along which ranks compute with the same parameters
    for (AxisKind kind : {AxisKind::Data, AxisKind::Context, AxisKind::Spatial})
      shared.insert(shared.end(), axesOf_[kind].begin(), axesOf_[kind].end());
    std::sort(shared.begin(), shared.end());
    parameters_ = storageOf(uses, shared, &AxisUse::parameters);
    states_ = storageOf(uses, shared, &AxisUse::states);
    hasStates_ =
        std::any_of(uses.begin(), uses.end(), [](const AxisUse &use) { return use.hasStates; });
  }

  Strategy read() {
    const std::string scheme = this->scheme();
    std::string name;
    auto add = [&](const std::string &piece) { name += (name.empty() ? "" : " x ") + piece; };
    const std::pair<AxisKind, const char *> others[] = {{AxisKind::Tensor, "TP "},
                                                        {AxisKind::Expert, "EP "},
                                                        {AxisKind::Context, "CP "},
                                                        {AxisKind::Spatial, "SP "},
                                                        {AxisKind::Mixed, "mixed "}};
    for (const auto &[kind, label] : others)
      if (!axesOf_[kind].empty())
        add(concat(label, sizeOf(axesOf_[kind])));
    const std::vector<int> &data = axesOf_[AxisKind::Data];
    const bool isAlone = axesOf_[AxisKind::Context].empty() && axesOf_[AxisKind::Spatial].empty();
    if (!data.empty())
      add(isAlone && scheme == "HSDP"
              ? concat("HSDP (", sizeOf(parameters_.whole), " x ", sizeOf(parameters_.sharded), ")")
              : concat(isAlone ? scheme : "DP", " ", sizeOf(data)));
    if (!isAlone && scheme != "DP")
      name += ", " + scheme;
    return {name, text(scheme), kinds_};
  }

private:
  // The name of the data axes, by what ranks store along them.
  std::string scheme() const {
    const bool areShared = !parameters_.sharded.empty() || !parameters_.whole.empty();
    if (!areShared || !parameters_.isClear || !states_.isClear)
      return "DP";
    const std::vector<int> &split = parameters_.sharded;
    if (split.empty())
      return !trains_ ? "DP" : hasStates_ && !states_.sharded.empty() ? "ZeRO-1" : "DDP";
    if (hasStates_ &&
        !std::includes(states_.sharded.begin(), states_.sharded.end(), split.begin(), split.end()))
      return "DP";
    return parameters_.whole.empty() ? "FSDP" : "HSDP";
  }

  std::string text(const std::string &scheme) const {
    if (scheme == "DDP")
      return concat("parameters", hasStates_ ? " and optimizer states" : "", " replicated over ",
                    names(parameters_.whole));
    if (scheme == "ZeRO-1")
      return concat("optimizer states", shareText(states_), " sharded over ",
                    names(states_.sharded), "; parameters replicated");
    if (trains_ && !(parameters_.isClear && states_.isClear))
      return "some parameters or optimizer states sharded, others replicated";
    if (scheme != "FSDP" && scheme != "HSDP")
      return "";
    const bool isSame = hasStates_ && states_.sharded == parameters_.sharded;
    std::string text = concat("parameters", shareText(parameters_),
                              isSame ? " and optimizer states" + shareText(states_) : "",
                              " sharded over ", names(parameters_.sharded));
    if (!parameters_.whole.empty())
      text += ", replicated over " + names(parameters_.whole);
    if (hasStates_ && !isSame)
      text += concat("; optimizer states", shareText(states_), " sharded over ",
                     names(states_.sharded));
    return text;
  }

  // ` (98.1 %)`; empty if it is all.
  static std::string shareText(const Storage &storage) {
    return storage.share >= kAll ? "" : " (" + percentText(storage.share) + ")";
  }

  int64_t sizeOf(const std::vector<int> &axes) const {
    return std::accumulate(axes.begin(), axes.end(), int64_t(1),
                           [&](int64_t size, int axis) { return size * mesh_.axes[axis].size; });
  }

  // `dp1=4 and dp2=64`
  std::string names(const std::vector<int> &axes) const {
    std::string text;
    for (size_t i = 0; i < axes.size(); ++i)
      text += concat(i == 0                 ? ""
                     : i + 1 == axes.size() ? " and "
                                            : ", ",
                     mesh_.axes[axes[i]].name, "=", mesh_.axes[axes[i]].size);
    return text;
  }

  const Mesh &mesh_;
  bool trains_, hasStates_ = false;
  std::map<AxisKind, std::vector<int>> axesOf_;
  std::string kinds_;           // Strategy::axes
  Storage parameters_, states_; // along the axes that share parameters
};

} // namespace

Strategy strategyOf(const Mesh &mesh, const std::vector<AxisUse> &uses, bool trains) {
  return StrategyReader(mesh, uses, trains).read();
}

} // namespace cleave::planner
