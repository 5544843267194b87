// Ties between parameters: those found in the elements and those that the user asks for; and
// warnings where the file does not tell enough. See Parameters.h.
#include "compiler/frontend/onnx/file/Failure.h"
#include "compiler/frontend/onnx/parameters/Metadata.h"
#include "compiler/frontend/onnx/parameters/Parameters.h"
#include "runtime/base/Nearest.h"

#include <algorithm>
#include <set>

namespace cleave::onnx {
namespace {

using Dims = std::vector<int64_t>;

// Changes the ties of a plan.
class Ties {
public:
  Ties(const Graph &graph, WeightFiles &files, const InitializerUses &uses, ParameterPlan &plan)
      : graph_(graph), files_(files), uses_(uses), plan_(plan) {}

  // The index of the parameter `name`, which the user gave with `option`.
  size_t named(const std::string &name, const std::string &option) const {
    for (size_t i = 0; i < plan_.parameters.size(); ++i)
      if (plan_.parameters[i].name == name && plan_.parameters[i].kind == ParameterKind::Parameter)
        return i;
    std::vector<std::string> known;
    for (const auto &parameter : plan_.parameters)
      if (parameter.kind == ParameterKind::Parameter)
        known.push_back(parameter.name);
    fail(option, ": the model has no parameter '", name, "'", suggestionAmongMany(name, known));
  }

  // Makes all uses of the parameter `from` read `to`; `from` is left without uses.
  void redirect(size_t from, size_t to) {
    for (auto &[use, ref] : plan_.uses)
      if (ref.parameter == from)
        ref.parameter = to;
    for (auto &[initializer, ref] : plan_.byInitializer)
      if (ref.parameter == from)
        ref.parameter = to;
  }

  // Per parameter, its uses in the main graph by the module that reads it.
  using Readers = std::map<std::string, InitializerUses>;
  std::vector<Readers> readers() const {
    std::vector<Readers> out(plan_.parameters.size());
    for (const InitializerUse &use : uses_)
      if (!use.isInSubgraph())
        out[parameterOf(use)][moduleOf(*use.reader)].push_back(use);
    return out;
  }

  void tie(const std::string &from, const std::string &to) {
    size_t a = named(from, "--tie"), b = named(to, "--tie");
    if (shapeOf(graph_, plan_.parameters[a]) != shapeOf(graph_, plan_.parameters[b]))
      fail("--tie ", from, "=", to, ": the two have different shapes");
    redirect(a, b);
    plan_.otherNames[from] = to;
    plan_.remarks.push_back({Remark::Kind::Tied, from, "tied to '" + to + "' as asked for"});
  }

  void untie(const std::string &name) {
    size_t parameter = named(name, "--untie");
    bool first = true;
    Readers modules = readers()[parameter];
    for (const auto &[module, uses] : modules) {
      if (std::exchange(first, false))
        continue;
      Parameter copy = plan_.parameters[parameter];
      size_t dot = name.rfind('.');
      copy.name = freshName(module + name.substr(dot == std::string::npos ? 0 : dot), name);
      plan_.parameters.push_back(copy);
      for (const InitializerUse &use : uses)
        plan_.uses[{use.node, use.input}].parameter = plan_.parameters.size() - 1;
      plan_.remarks.push_back(
          {Remark::Kind::Untied, copy.name, "untied from '" + name + "' as asked for"});
    }
  }

  // Ties tables to their transposed copies: constant folding makes such a pair of a tied one.
  void tieTransposedCopies(const std::set<std::string> &untied) {
    for (size_t table : tables()) {
      if (untied.contains(plan_.parameters[table].name))
        continue;
      for (size_t copy = 0; copy < plan_.parameters.size(); ++copy) {
        const Parameter &parameter = plan_.parameters[copy];
        if (!parameter.storedTransposed || untied.contains(parameter.name) ||
            !areTransposed(table, copy))
          continue;
        plan_.remarks.push_back({Remark::Kind::Tied, plan_.parameters[table].name,
                                 "tied with '" + parameter.name +
                                     "', whose elements are the same; --untie " + parameter.name +
                                     " trains them apart"});
        redirect(copy, table);
      }
    }
  }

  // Warns of parameters that are read by operators that usually read no parameters. Without
  // metadata a buffer looks like a parameter.
  void warnOfBuffers() {
    static const std::set<std::string> usual = {"Add",
                                                "BatchNormalization",
                                                "Concat",
                                                "Conv",
                                                "ConvTranspose",
                                                "Div",
                                                "Einsum",
                                                "Expand",
                                                "Gather",
                                                "Gemm",
                                                "GRU",
                                                "GroupNormalization",
                                                "InstanceNormalization",
                                                "LSTM",
                                                "LayerNormalization",
                                                "MatMul",
                                                "Mul",
                                                "PRelu",
                                                "RNN",
                                                "Sub",
                                                "Transpose"};
    std::set<size_t> told;
    for (const InitializerUse &use : uses_) {
      const Parameter &parameter = plan_.parameters[parameterOf(use)];
      if (!use.reader)
        continue;
      const std::string &op = use.reader->op;
      if (parameter.kind != ParameterKind::Parameter || usual.contains(op) ||
          !told.insert(parameterOf(use)).second)
        continue;
      plan_.remarks.push_back(
          {Remark::Kind::TrainingWarning, parameter.name,
           "read by " + op + ", so it may be a buffer, which the file does not tell; --freeze " +
               parameter.name + " does not train it"});
    }
  }

  // A parameter that several modules read has the name `MODULE.weight` in each of them.
  void nameShared() {
    const std::vector<Readers> all = readers();
    for (size_t i = 0; i < plan_.parameters.size(); ++i) {
      const std::string &name = plan_.parameters[i].name;
      const size_t dot = name.rfind('.');
      if (plan_.parameters[i].kind != ParameterKind::Parameter || dot == std::string::npos ||
          all[i].size() < 2)
        continue;
      for (const auto &[module, uses] : all[i])
        if (const std::string other = module + name.substr(dot); !module.empty() && !isTaken(other))
          plan_.otherNames.emplace(other, name);
    }
  }

  // Warns of parameters that more than one module reads.
  void warnOfSharing() {
    std::vector<Readers> all = readers();
    for (size_t i = 0; i < plan_.parameters.size(); ++i) {
      const Parameter &parameter = plan_.parameters[i];
      if (parameter.kind != ParameterKind::Parameter || all[i].size() < 2)
        continue;
      std::string modules;
      for (const auto &[module, uses] : all[i])
        modules += (modules.empty() ? "'" : ", '") + (module.empty() ? "the model" : module) + "'";
      plan_.remarks.push_back({Remark::Kind::TrainingWarning, parameter.name,
                               "read by the modules " + modules +
                                   ": trained as one tied parameter; --untie " + parameter.name +
                                   " gives each its own"});
    }
  }

  // Removes parameters without uses from the plan.
  void dropUnread() {
    std::set<size_t> read;
    for (const auto &[use, ref] : plan_.uses)
      read.insert(ref.parameter);
    for (const auto &[initializer, ref] : plan_.byInitializer)
      read.insert(ref.parameter);
    std::map<size_t, size_t> moved;
    std::vector<Parameter> kept;
    for (size_t parameter : read) {
      moved[parameter] = kept.size();
      kept.push_back(plan_.parameters[parameter]);
    }
    plan_.parameters = std::move(kept);
    for (auto &[use, ref] : plan_.uses)
      ref.parameter = moved.at(ref.parameter);
    for (auto &[initializer, ref] : plan_.byInitializer)
      ref.parameter = moved.at(ref.parameter);
  }

private:
  // `wanted` if it is a usable name that no parameter has; else `base`.2, `base`.3, ….
  std::string freshName(const std::string &wanted, const std::string &base) const {
    if (wanted[0] != '.' && !isTaken(wanted))
      return wanted;
    for (int i = 2;; ++i)
      if (std::string name = concat(base, ".", i); !isTaken(name))
        return name;
  }

  bool isTaken(const std::string &name) const {
    return std::any_of(plan_.parameters.begin(), plan_.parameters.end(),
                       [&](const Parameter &parameter) { return parameter.name == name; });
  }

  size_t parameterOf(const InitializerUse &use) const {
    const ParameterRef &ref = use.isInSubgraph() ? plan_.byInitializer.at(use.initializer)
                                                 : plan_.uses.at({use.node, use.input});
    return ref.parameter;
  }

  // The parameters with 2 dims that a Gather reads: tables whose rows are looked up.
  std::set<size_t> tables() const {
    std::set<size_t> out;
    for (const InitializerUse &use : uses_)
      if (use.input == 0 && use.reader && use.reader->op == "Gather" &&
          shapeOf(graph_, plan_.parameters[parameterOf(use)]).size() == 2)
        out.insert(parameterOf(use));
    return out;
  }

  // Whether `copy` has the transposed elements of `table`, and they are not all equal.
  bool areTransposed(size_t table, size_t copy) const {
    const StoredTensor &a = graph_.initializers[plan_.parameters[table].initializer];
    const StoredTensor &b = graph_.initializers[plan_.parameters[copy].initializer];
    if (a.dims != Dims{b.dims[1], b.dims[0]})
      return false;
    if (!files_.areEqual(a, b, true))
      return false;
    std::string_view bytes = files_.bytesOf(a);
    auto size = static_cast<size_t>(byteSize(a.element()));
    return bytes.size() > size && bytes.substr(size) != bytes.substr(0, bytes.size() - size);
  }

  const Graph &graph_;
  WeightFiles &files_;
  const InitializerUses &uses_;
  ParameterPlan &plan_;
};

} // namespace

void tieParameters(const Graph &graph, WeightFiles &files, const TieOptions &options,
                   const InitializerUses &uses, ParameterPlan &plan) {
  Ties ties(graph, files, uses, plan);
  bool hasMetadata = !signatureOf(graph).empty();
  for (const std::string &name : options.untie)
    ties.untie(name);
  if (!hasMetadata)
    ties.tieTransposedCopies({options.untie.begin(), options.untie.end()});
  for (const auto &[from, to] : options.tie)
    ties.tie(from, to);
  if (!hasMetadata) {
    ties.warnOfSharing();
    ties.warnOfBuffers();
  }
  ties.nameShared();
  ties.dropUnread();
}

void warnOfFoldedBatchNorms(const Graph &graph, std::vector<Remark> &remarks) {
  std::vector<std::string> nodes;
  bool current = false;
  for (const Node &node : graph.nodes) {
    if (node.op != "Conv" || node.inputs.size() < 2)
      continue;
    current |= isInBatchNorm(node);
    if (isInBatchNorm(node) || isMadeUpName(node.inputs[1]))
      nodes.push_back(node.label());
  }
  if (nodes.empty())
    return;
  std::string text =
      concat("the exporter folded batch norms into ", nodes.size(), " convolutions (");
  for (size_t i = 0; i < nodes.size() && i < 3; ++i)
    text += (i ? ", '" : "'") + nodes[i] + "'";
  text += nodes.size() > 3 ? ", ...)" : ")";
  text += ", so the model trains without them; export with ";
  text += current ? "optimize=False" : "training=TrainingMode.TRAINING, do_constant_folding=False";
  remarks.push_back({Remark::Kind::TrainingWarning, graph.name.empty() ? "the model" : graph.name,
                     text + " to keep them"});
}

} // namespace cleave::onnx
