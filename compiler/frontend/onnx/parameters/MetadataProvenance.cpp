// Provenance by the metadata of PyTorch's current exporter. See Provenance.h.
#include "compiler/frontend/onnx/parameters/Metadata.h"
#include "compiler/frontend/onnx/parameters/Provenance.h"

#include <algorithm>
#include <set>

namespace cleave::onnx {
namespace {

using Dims = std::vector<int64_t>;

// Matches the uses of one file with the entries of its metadata.
class MetadataMatcher {
public:
  MetadataMatcher(const Graph &graph, const InitializerUses &uses)
      : graph_(graph), uses_(uses), signature_(signatureOf(graph)), folded_(foldedFrom(graph)) {
    for (const auto &[fxName, entry] : signature_)
      targets_[entry.target] = entry.isParameter;
    for (const Node &node : graph.nodes) {
      values_.insert(node.outputs.begin(), node.outputs.end());
      if (std::optional<FxNode> fx = fxNodeOf(node))
        values_.insert(fx->name);
    }
    for (const ValueInfo &input : graph.inputs)
      values_.insert(input.name);
    for (const StoredTensor &tensor : graph.initializers)
      values_.insert(tensor.name);
  }

  bool isEmpty() const { return signature_.empty(); }

  MetadataProvenance run() {
    MetadataProvenance out{true, std::vector<std::optional<Provenance>>(uses_.size()), {}};
    // Nodes that come from one FX node form a group; its uses are in the order of the FX node's
    // arguments.
    std::map<std::string, std::vector<size_t>> groups;
    for (size_t i = 0; i < uses_.size(); ++i)
      if (!uses_[i].isInSubgraph() && mayBeParameter(uses_[i])) // others belong to another FX graph
        if (std::optional<FxNode> fx = fxNodeOf(*uses_[i].reader))
          groups[fx->name].push_back(i);
    for (const auto &[name, members] : groups)
      addGroup(members, out);
    for (size_t i = 0; i < uses_.size(); ++i)
      if (!out.byUse[i])
        out.byUse[i] = provenanceByFolding(uses_[i]);
    return out;
  }

private:
  using Arguments = std::vector<const SignatureEntry *>;

  const StoredTensor &tensorOf(size_t use) const {
    return graph_.initializers[uses_[use].initializer];
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

  bool mayBeParameter(const InitializerUse &use) const {
    const StoredTensor &tensor = graph_.initializers[use.initializer];
    return targets_.contains(tensor.name) || !sourcesOf(tensor.name).empty() ||
           (!folded_.contains(tensor.name) && tensor.elementCount() > 1);
  }

  Provenance provenanceOf(size_t use, const SignatureEntry &entry, const FxNode &fx) const {
    const StoredTensor &tensor = tensorOf(use);
    Provenance out;
    out.kind = entry.isParameter ? ParameterKind::Parameter : ParameterKind::Constant;
    out.name = entry.target;
    if (fx.target.starts_with("aten.linear") && isLinearWeight(graph_, uses_[use])) {
      out.transposed = true;
      out.repair = Remark::Kind::Transposed;
      out.remark = "'" + tensor.name + "' holds its transpose: given back its name and orientation";
    } else if (targets_.contains(tensor.name)) {
      if (tensor.name != entry.target) {
        out.remark =
            "had been merged with the equal '" + tensor.name + "': a parameter of its own again";
        if (fx.target.starts_with("aten.prelu")) // it had dims of 1 added before it was merged
          out.dims = withoutUnitDims(tensor.dims, 1);
      }
    } else {
      out.remark = "'" + tensor.name + "' holds it: given back its name";
      out.dims = withoutUnitDims(tensor.dims, 1);
    }
    return out;
  }

  // The parameters among an FX node's arguments, in the order in which exporters write the nodes
  // that read them.
  Arguments argumentsOf(const FxNode &fx) const {
    Arguments out;
    for (const std::string &argument : fx.arguments)
      if (auto found = signature_.find(argument); found != signature_.end())
        out.push_back(&found->second);
    if (fx.target.starts_with("aten.addmm") && out.size() == 2)
      std::swap(out[0], out[1]); // (bias, x, weight)
    return out;
  }

  // Uses of one FX node: by name where that is unambiguous, the others in the order of the
  // arguments.
  void addGroup(const std::vector<size_t> &members, MetadataProvenance &out) const {
    FxNode fx = *fxNodeOf(*uses_[members[0]].reader);
    Arguments arguments = argumentsOf(fx);
    std::map<size_t, size_t> readers; // initializer -> uses of the group
    for (size_t member : members)
      ++readers[uses_[member].initializer];
    std::vector<size_t> open;
    bool complete = members.size() == arguments.size();
    std::set<const SignatureEntry *> taken;
    for (size_t member : members) {
      // An argument that the exporter computed is none of the parameters.
      const std::string &own = tensorOf(member).name;
      if (!targets_.contains(own) && std::ranges::find(fx.arguments, own) != fx.arguments.end())
        continue;
      auto named =
          std::find_if(arguments.begin(), arguments.end(), [&](const SignatureEntry *entry) {
            return entry->target == tensorOf(member).name;
          });
      if (named == arguments.end() || (complete && readers[uses_[member].initializer] > 1)) {
        open.push_back(member);
        continue;
      }
      out.byUse[member] = provenanceOf(member, **named, fx);
      taken.insert(*named);
    }
    std::erase_if(arguments, [&](const SignatureEntry *entry) { return taken.contains(entry); });
    // The last argument may be a bias that the exporter dropped.
    if (open.size() + 1 == arguments.size() && arguments.back()->isParameter &&
        addDroppedBias(members, arguments.back()->target, out))
      arguments.pop_back();
    if (open.size() == arguments.size())
      for (size_t i = 0; i < open.size(); ++i)
        out.byUse[open[i]] = provenanceOf(open[i], *arguments[i], fx);
  }

  // Adds the parameter `name` as the dropped bias of the first node of the group that could have a
  // bias and has none. False if there is no such node.
  bool addDroppedBias(const std::vector<size_t> &members, const std::string &name,
                      MetadataProvenance &out) const {
    for (size_t member : members) {
      const InitializerUse &use = uses_[member];
      const Node &node = *use.reader;
      bool takesBias = node.op == "Gemm" || node.op == "Conv" || node.op == "LayerNormalization";
      if (!takesBias || node.inputs.size() != 2 || use.input != 1 || tensorOf(member).dims.empty())
        continue;
      const Dims &dims = tensorOf(member).dims;
      bool outLast = node.op == "Gemm" && isLinearWeight(graph_, use);
      out.dropped.push_back(
          {use.node, 2, name, outLast ? dims.back() : dims.front(), use.initializer});
      return true;
    }
    return false;
  }

  // Where the FX node does not tell: by the initializer's own name, or by the initializers from
  // which the exporter computed it.
  Provenance provenanceByFolding(const InitializerUse &use) const {
    const StoredTensor &tensor = graph_.initializers[use.initializer];
    Provenance out;
    out.name = tensor.name;
    std::vector<std::string> sources = sourcesOf(tensor.name);
    auto target = targets_.find(tensor.name);
    bool isParameter = target != targets_.end() ? target->second : !sources.empty();
    std::string folded = isParameter ? foldedValueOf(use) : tensor.name;
    if (folded != tensor.name) {
      warnOfComputed(out, folded, "a parameter and merged it with the equal '" + tensor.name + "'");
    } else if (target != targets_.end()) {
      out.kind = target->second ? ParameterKind::Parameter : ParameterKind::Constant;
    } else if (sources.empty()) {
      out.kind = ParameterKind::Constant;
    } else if (sources.size() == 1 && isLookup(tensor)) {
      out.name = sources[0];
      out.dims = Dims(tensor.dims.end() - 2, tensor.dims.end());
      out.remark = "'" + tensor.name + "' holds the rows that the model reads: given back its name";
    } else if (folded_.at(tensor.name).size() == 1 && isLinearWeight(graph_, use)) {
      out.name = sources[0];
      out.transposed = true;
      out.repair = Remark::Kind::Transposed;
      out.remark = "'" + tensor.name + "' holds its transpose: given back its name and orientation";
    } else {
      warnOfComputed(out, tensor.name, "'" + sources[0] + "'");
    }
    return out;
  }

  static void warnOfComputed(Provenance &out, const std::string &name, const std::string &from) {
    out.name = name;
    out.repair = Remark::Kind::TrainingWarning;
    out.remark = "the exporter computed it from " + from +
                 ": it is trained instead of that; export with optimize=False to avoid this";
  }

  // The value that the use reads in PyTorch's program, if the exporter computed it and merged it
  // with the equal initializer: the only argument of an FX node without parameters that nothing in
  // the file computes. Otherwise the initializer's name.
  std::string foldedValueOf(const InitializerUse &use) const {
    const std::string &own = graph_.initializers[use.initializer].name;
    std::optional<FxNode> fx = use.isInSubgraph() ? std::nullopt : fxNodeOf(*use.reader);
    std::set<std::string> folded;
    for (const std::string &argument : fx ? fx->arguments : std::vector<std::string>()) {
      if (signature_.contains(argument))
        return own;
      if (argument == own || !values_.contains(argument))
        folded.insert(argument);
    }
    return folded.size() == 1 ? *folded.begin() : own;
  }

  // Whether the tensor holds rows of a table that the exporter looked up. Only the name, which is
  // the FX node's, tells.
  static bool isLookup(const StoredTensor &tensor) {
    return tensor.name.starts_with("embedding") && tensor.dims.size() >= 2 &&
           std::all_of(tensor.dims.begin(), tensor.dims.end() - 2,
                       [](int64_t dim) { return dim == 1; });
  }

  const Graph &graph_;
  const InitializerUses &uses_;
  std::map<std::string, SignatureEntry> signature_;
  std::map<std::string, std::vector<std::string>> folded_;
  std::set<std::string> values_;        // of inputs, initializers and nodes
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

MetadataProvenance provenanceFromMetadata(const Graph &graph, const InitializerUses &uses) {
  MetadataMatcher matcher(graph, uses);
  return matcher.isEmpty() ? MetadataProvenance{} : matcher.run();
}

} // namespace cleave::onnx
