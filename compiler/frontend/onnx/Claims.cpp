// Which parameter a slot means: by the metadata of PyTorch's current exporter, or by names. See
// Parameters.h.
#include "compiler/frontend/onnx/Metadata.h"
#include "compiler/frontend/onnx/Parameters.h"

#include <algorithm>
#include <set>

namespace cleave::onnx {
namespace {

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
    // Nodes that come from one FX node belong together; their slots are in the order of its
    // arguments.
    std::map<std::string, std::vector<size_t>> groups;
    for (size_t i = 0; i < slots_.size(); ++i)
      if (std::optional<FxNode> fx = fxNodeOf(graph_.nodes[slots_[i].node]);
          fx && mayBeParameter(slots_[i]))
        groups[fx->name].push_back(i);
    for (const auto &[name, members] : groups)
      hearGroup(members, out);
    for (size_t i = 0; i < slots_.size(); ++i)
      if (!out.claims[i])
        out.claims[i] = claimByFolding(slots_[i]);
    return out;
  }

private:
  const StoredTensor &tensorOf(const Slot &slot) const {
    return graph_.initializers[slot.initializer];
  }

  // The parameters from which the exporter computed the initializer.
  std::vector<std::string> sourcesOf(const std::string &name) const {
    std::vector<std::string> out;
    auto found = folded_.find(name);
    if (found != folded_.end())
      for (const std::string &source : found->second)
        if (targets_.contains(source))
          out.push_back(source);
    return out;
  }

  bool mayBeParameter(const Slot &slot) const {
    const StoredTensor &tensor = tensorOf(slot);
    return targets_.contains(tensor.name) || !sourcesOf(tensor.name).empty() ||
           (!folded_.contains(tensor.name) && tensor.elementCount() > 1);
  }

  Claim claim(const Slot &slot, const SignatureEntry &entry, const FxNode &fx) const {
    const std::string &own = tensorOf(slot).name;
    Claim out{entry.isParameter ? Claim::Kind::Parameter : Claim::Kind::Constant,
              entry.target,
              false,
              false,
              {}};
    out.transposed = fx.target.starts_with("aten.linear") && isLinearWeight(graph_, slot);
    if (own == entry.target)
      return out;
    if (out.transposed)
      out.remark = "'" + own + "' holds its transpose: given back its name and orientation";
    else
      out.remark = "had been merged with the equal '" + own + "': a parameter of its own again";
    return out;
  }

  using Arguments = std::vector<const SignatureEntry *>;

  // The parameters among an FX node's arguments, in the order in which exporters write what reads
  // them.
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
    FxNode fx = *fxNodeOf(graph_.nodes[slots_[members[0]].node]);
    Arguments arguments = argumentsOf(fx);
    std::map<size_t, size_t> readers; // initializer -> slots of the group
    for (size_t member : members)
      ++readers[slots_[member].initializer];
    std::vector<size_t> open;
    std::set<const SignatureEntry *> taken;
    bool complete = members.size() == arguments.size();
    for (size_t member : members) {
      auto named =
          std::find_if(arguments.begin(), arguments.end(), [&](const SignatureEntry *entry) {
            return entry->target == tensorOf(slots_[member]).name;
          });
      if (named == arguments.end() || (complete && readers[slots_[member].initializer] > 1)) {
        open.push_back(member);
        continue;
      }
      out.claims[member] = claim(slots_[member], **named, fx);
      taken.insert(*named);
    }
    std::erase_if(arguments, [&](const SignatureEntry *entry) { return taken.contains(entry); });
    if (open.size() == arguments.size()) {
      for (size_t i = 0; i < open.size(); ++i)
        out.claims[open[i]] = claim(slots_[open[i]], *arguments[i], fx);
    } else if (open.empty() && arguments.size() == 1 && arguments[0]->isParameter) {
      hearDropped(members, arguments[0]->target, out);
    }
  }

  // A parameter that no slot reads: the bias that the node could have.
  void hearDropped(const std::vector<size_t> &members, const std::string &name,
                   Testimony &out) const {
    for (size_t member : members) {
      const Slot &slot = slots_[member];
      const Node &node = graph_.nodes[slot.node];
      bool takesBias = node.op == "Gemm" || node.op == "Conv" || node.op == "LayerNormalization";
      if (!takesBias || node.inputs.size() != 2 || slot.input != 1)
        continue;
      const std::vector<int64_t> &dims = tensorOf(slot).dims;
      bool outLast = node.op == "Gemm" && isLinearWeight(graph_, slot);
      out.dropped.push_back(
          {slot.node, 2, name, outLast ? dims.back() : dims.front(), slot.initializer});
      return;
    }
  }

  // Rows of a table, looked up while exporting; the FX node's name is all that is left of it.
  bool isLookup(const StoredTensor &tensor) const {
    size_t rank = tensor.dims.size();
    return tensor.name.starts_with("embedding") && rank >= 2 &&
           std::all_of(tensor.dims.begin(), tensor.dims.end() - 2,
                       [](int64_t dim) { return dim == 1; });
  }

  // Without an FX node that tells: by the initializer's own name, or by what it was computed from.
  std::optional<Claim> claimByFolding(const Slot &slot) const {
    const StoredTensor &tensor = tensorOf(slot);
    if (auto target = targets_.find(tensor.name); target != targets_.end())
      return Claim{target->second ? Claim::Kind::Parameter : Claim::Kind::Constant,
                   tensor.name,
                   false,
                   false,
                   {}};
    std::vector<std::string> sources = sourcesOf(tensor.name);
    std::erase_if(sources, [&](const std::string &source) { return !targets_.at(source); });
    if (sources.empty())
      return Claim{Claim::Kind::Constant, tensor.name, false, false, {}};
    bool alone = sources.size() == 1;
    if (alone && isLookup(tensor))
      return Claim{Claim::Kind::Parameter, sources[0], false, tensor.dims.size() > 2,
                   "'" + tensor.name +
                       "' holds the rows that the model reads: given back its name"};
    if (alone && folded_.at(tensor.name).size() == 1 && isLinearWeight(graph_, slot))
      return Claim{Claim::Kind::Parameter, sources[0], true, false,
                   "'" + tensor.name +
                       "' holds its transpose: given back its name and orientation"};
    return Claim{Claim::Kind::Parameter, tensor.name, false, false,
                 "the exporter computed it from '" + sources[0] +
                     "': it is trained instead of that; export with optimize=False to avoid this"};
  }

  const Graph &graph_;
  const std::vector<Slot> &slots_;
  std::map<std::string, SignatureEntry> signature_;
  std::map<std::string, std::vector<std::string>> folded_;
  std::map<std::string, bool> targets_; // PyTorch's name -> whether it is a parameter
};

struct Leaf {
  const char *op;
  size_t input;
  const char *name;
};

// The names that PyTorch's modules give to what an operator reads.
constexpr Leaf kLeaves[] = {
    {"MatMul", 1, "weight"},
    {"Gemm", 1, "weight"},
    {"Gemm", 2, "bias"},
    {"Conv", 1, "weight"},
    {"Conv", 2, "bias"},
    {"ConvTranspose", 1, "weight"},
    {"ConvTranspose", 2, "bias"},
    {"BatchNormalization", 1, "weight"},
    {"BatchNormalization", 2, "bias"},
    {"BatchNormalization", 3, "running_mean"},
    {"BatchNormalization", 4, "running_var"},
    {"LayerNormalization", 1, "weight"},
    {"LayerNormalization", 2, "bias"},
    {"Gather", 0, "weight"},
};

} // namespace

Testimony hearMetadata(const Graph &graph, const std::vector<Slot> &slots) {
  Witness witness(graph, slots);
  return witness.isEmpty() ? Testimony{} : witness.hear();
}

Claim claimByName(const Graph &graph, const Slot &slot) {
  const Node &node = graph.nodes[slot.node];
  const StoredTensor &tensor = graph.initializers[slot.initializer];
  const std::string &name = slot.alias.empty() ? tensor.name : slot.alias;
  if (!isMadeUpName(name)) {
    Claim out{Claim::Kind::Parameter, name, false, false, {}};
    if (!slot.alias.empty())
      out.remark =
          "had been merged with the equal '" + tensor.name + "': a parameter of its own again";
    return out;
  }
  const Leaf *leaf =
      std::find_if(std::begin(kLeaves), std::end(kLeaves), [&](const Leaf &candidate) {
        return node.op == candidate.op && slot.input == candidate.input;
      });
  std::string module = moduleOf(node);
  if (leaf == std::end(kLeaves))
    return {Claim::Kind::Constant, name, false, false, {}};
  if (module.empty())
    return {Claim::Kind::Parameter, name, isLinearWeight(graph, slot), false, {}};
  Claim out{
      Claim::Kind::Parameter, module + "." + leaf->name, isLinearWeight(graph, slot), false, {}};
  out.remark = out.transposed
                   ? "'" + name + "' holds its transpose: given back its name and orientation"
                   : "'" + name + "' had lost its name: named after the node '" + node.name + "'";
  return out;
}

} // namespace cleave::onnx
