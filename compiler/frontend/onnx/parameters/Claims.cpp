// Which parameter a slot means, by the metadata of PyTorch's current exporter. See Parameters.h; without metadata:
// Names.cpp.
#include "compiler/frontend/onnx/parameters/Metadata.h"
#include "compiler/frontend/onnx/parameters/Parameters.h"

#include <algorithm>
#include <set>

namespace cleave::onnx {
namespace {

using Dims = std::vector<int64_t>;

// The metadata of one file, and the questions asked of it.
class Witness {
public:
  Witness(const Graph &graph, const std::vector<Slot> &slots)
      : graph_(graph), slots_(slots), signature_(signatureOf(graph)), folded_(foldedFrom(graph)) {
    for (const auto &[fxName, entry] : signature_)
      targets_[entry.target] = entry.isParameter;
  }

  bool isEmpty() const { return signature_.empty(); }

  Testimony hear() {
    Testimony out{true, std::vector<std::optional<Claim>>(slots_.size()), {}};
    // Nodes that come from one FX node belong together; their slots are in the order of its arguments.
    std::map<std::string, std::vector<size_t>> groups;
    for (size_t i = 0; i < slots_.size(); ++i)
      if (!slots_[i].isInSubgraph() && mayBeParameter(slots_[i])) // else of another FX graph
        if (std::optional<FxNode> fx = fxNodeOf(*slots_[i].reader))
          groups[fx->name].push_back(i);
    for (const auto &[name, members] : groups)
      hearGroup(members, out);
    for (size_t i = 0; i < slots_.size(); ++i)
      if (!out.claims[i])
        out.claims[i] = claimByFolding(slots_[i]);
    return out;
  }

private:
  using Arguments = std::vector<const SignatureEntry *>;

  const StoredTensor &tensorOf(size_t slot) const {
    return graph_.initializers[slots_[slot].initializer];
  }

  // The parameters from which the exporter computed the initializer.
  std::vector<std::string> sourcesOf(const std::string &name) const {
    std::vector<std::string> out;
    auto found = folded_.find(name);
    if (found != folded_.end())
      for (const std::string &source : found->second)
        if (auto target = targets_.find(source); target != targets_.end() && target->second)
          out.push_back(source);
    return out;
  }

  bool mayBeParameter(const Slot &slot) const {
    const StoredTensor &tensor = graph_.initializers[slot.initializer];
    return targets_.contains(tensor.name) || !sourcesOf(tensor.name).empty() ||
           (!folded_.contains(tensor.name) && tensor.elementCount() > 1);
  }

  Claim claim(size_t slot, const SignatureEntry &entry, const FxNode &fx) const {
    const StoredTensor &tensor = tensorOf(slot);
    Claim out;
    out.kind = entry.isParameter ? Claim::Kind::Parameter : Claim::Kind::Constant;
    out.name = entry.target;
    if (fx.target.starts_with("aten.linear") && isLinearWeight(graph_, slots_[slot])) {
      out.transposed = true;
      out.repair = Remark::Kind::Transposed;
      out.remark = "'" + tensor.name + "' holds its transpose: given back its name and orientation";
    } else if (targets_.contains(tensor.name)) {
      if (tensor.name != entry.target)
        out.remark =
            "had been merged with the equal '" + tensor.name + "': a parameter of its own again";
    } else {
      out.remark = "'" + tensor.name + "' holds it: given back its name";
      out.dims = withoutUnitDims(tensor.dims, 1);
    }
    return out;
  }

  // The parameters among an FX node's arguments, in the order in which exporters write what reads them.
  Arguments argumentsOf(const FxNode &fx) const {
    Arguments out;
    for (const std::string &argument : fx.arguments)
      if (auto found = signature_.find(argument); found != signature_.end())
        out.push_back(&found->second);
    if (fx.target.starts_with("aten.addmm") && out.size() == 2)
      std::swap(out[0], out[1]); // (bias, x, weight)
    return out;
  }

  // Slots of one FX node: by name where that is clear, the others in the order of the arguments.
  void hearGroup(const std::vector<size_t> &members, Testimony &out) const {
    FxNode fx = *fxNodeOf(*slots_[members[0]].reader);
    Arguments arguments = argumentsOf(fx);
    std::map<size_t, size_t> readers; // initializer -> slots of the group
    for (size_t member : members)
      ++readers[slots_[member].initializer];
    std::vector<size_t> open;
    bool complete = members.size() == arguments.size();
    std::set<const SignatureEntry *> taken;
    for (size_t member : members) {
      auto named =
          std::find_if(arguments.begin(), arguments.end(), [&](const SignatureEntry *entry) {
            return entry->target == tensorOf(member).name;
          });
      if (named == arguments.end() || (complete && readers[slots_[member].initializer] > 1)) {
        open.push_back(member);
        continue;
      }
      out.claims[member] = claim(member, **named, fx);
      taken.insert(*named);
    }
    std::erase_if(arguments, [&](const SignatureEntry *entry) { return taken.contains(entry); });
    // The last argument may be a bias that the exporter dropped.
    if (open.size() + 1 == arguments.size() && arguments.back()->isParameter &&
        hearDropped(members, arguments.back()->target, out))
      arguments.pop_back();
    if (open.size() == arguments.size())
      for (size_t i = 0; i < open.size(); ++i)
        out.claims[open[i]] = claim(open[i], *arguments[i], fx);
  }

  // Whether a node of the group could have a bias and has none: then that was the parameter `name`.
  bool hearDropped(const std::vector<size_t> &members, const std::string &name,
                   Testimony &out) const {
    for (size_t member : members) {
      const Slot &slot = slots_[member];
      const Node &node = *slot.reader;
      bool takesBias = node.op == "Gemm" || node.op == "Conv" || node.op == "LayerNormalization";
      if (!takesBias || node.inputs.size() != 2 || slot.input != 1 || tensorOf(member).dims.empty())
        continue;
      const Dims &dims = tensorOf(member).dims;
      bool outLast = node.op == "Gemm" && isLinearWeight(graph_, slot);
      out.dropped.push_back(
          {slot.node, 2, name, outLast ? dims.back() : dims.front(), slot.initializer});
      return true;
    }
    return false;
  }

  // Without an FX node that tells: by the initializer's own name, or by what it was computed from.
  Claim claimByFolding(const Slot &slot) const {
    const StoredTensor &tensor = graph_.initializers[slot.initializer];
    Claim out;
    out.name = tensor.name;
    std::vector<std::string> sources = sourcesOf(tensor.name);
    if (auto target = targets_.find(tensor.name); target != targets_.end()) {
      out.kind = target->second ? Claim::Kind::Parameter : Claim::Kind::Constant;
    } else if (sources.empty()) {
      out.kind = Claim::Kind::Constant;
    } else if (sources.size() == 1 && isLookup(tensor)) {
      out.name = sources[0];
      out.dims = Dims(tensor.dims.end() - 2, tensor.dims.end());
      out.remark = "'" + tensor.name + "' holds the rows that the model reads: given back its name";
    } else if (folded_.at(tensor.name).size() == 1 && isLinearWeight(graph_, slot)) {
      out.name = sources[0];
      out.transposed = true;
      out.repair = Remark::Kind::Transposed;
      out.remark = "'" + tensor.name + "' holds its transpose: given back its name and orientation";
    } else {
      out.repair = Remark::Kind::TrainingWarning;
      out.remark = "the exporter computed it from '" + sources[0] +
                   "': it is trained instead of that; export with optimize=False to avoid this";
    }
    return out;
  }

  // Rows of a table, looked up while exporting; the FX node's name is all that is left of it.
  static bool isLookup(const StoredTensor &tensor) {
    return tensor.name.starts_with("embedding") && tensor.dims.size() >= 2 &&
           std::all_of(tensor.dims.begin(), tensor.dims.end() - 2,
                       [](int64_t dim) { return dim == 1; });
  }

  const Graph &graph_;
  const std::vector<Slot> &slots_;
  std::map<std::string, SignatureEntry> signature_;
  std::map<std::string, std::vector<std::string>> folded_;
  std::map<std::string, bool> targets_; // PyTorch's name -> whether it is a parameter
};

} // namespace

std::optional<Dims> withoutUnitDims(const Dims &dims, size_t atLeast) {
  Dims out = dims;
  for (size_t i = out.size(); i-- > 0 && out.size() > atLeast;)
    if (out[i] == 1)
      out.erase(out.begin() + static_cast<int64_t>(i));
  return out == dims ? std::nullopt : std::optional(out);
}

Testimony hearMetadata(const Graph &graph, const std::vector<Slot> &slots) {
  Witness witness(graph, slots);
  return witness.isEmpty() ? Testimony{} : witness.hear();
}

} // namespace cleave::onnx
