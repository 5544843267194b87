// Ties between parameters: found in the bytes, asked for by the user; and warnings about what
// cannot be known. See Parameters.h.
#include "compiler/frontend/onnx/file/Failure.h"
#include "compiler/frontend/onnx/file/Initialisation.h"
#include "compiler/frontend/onnx/parameters/Metadata.h"
#include "compiler/frontend/onnx/parameters/Parameters.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace cleave::onnx {
namespace {

using Dims = std::vector<int64_t>;

class Ties {
public:
  Ties(const Graph &graph, WeightFiles &files, const std::vector<Slot> &slots, ParameterPlan &plan)
      : graph_(graph), files_(files), slots_(slots), plan_(plan) {}

  size_t named(const std::string &name, const std::string &option) const {
    for (size_t i = 0; i < plan_.parameters.size(); ++i)
      if (plan_.parameters[i].name == name && plan_.parameters[i].kind == Claim::Kind::Parameter)
        return i;
    fail(option + ": the model has no parameter '" + name + "'");
  }

  // Lets whoever reads `from` read `to`; `from` is no parameter any more.
  void redirect(size_t from, size_t to) {
    for (auto &[slot, use] : plan_.uses)
      if (use.parameter == from)
        use.parameter = to;
    for (auto &[initializer, use] : plan_.byInitializer)
      if (use.parameter == from)
        use.parameter = to;
  }

  // The main graph's slots of every parameter by the module that reads it.
  using Readers = std::map<std::string, std::vector<Slot>>;
  std::vector<Readers> readers() const {
    std::vector<Readers> out(plan_.parameters.size());
    for (const Slot &slot : slots_)
      if (!slot.isInSubgraph())
        out[parameterOf(slot)][moduleOf(*slot.reader)].push_back(slot);
    return out;
  }

  void tie(const std::string &from, const std::string &to) {
    size_t a = named(from, "--tie"), b = named(to, "--tie");
    if (shapeOf(graph_, plan_.parameters[a]) != shapeOf(graph_, plan_.parameters[b]))
      fail("--tie: '" + from + "' and '" + to + "' have different shapes");
    redirect(a, b);
    plan_.remarks.push_back({Remark::Kind::Tied, from, "tied to '" + to + "' as asked for"});
  }

  void untie(const std::string &name) {
    size_t parameter = named(name, "--untie");
    bool first = true;
    Readers modules = readers()[parameter];
    for (const auto &[module, slots] : modules) {
      if (std::exchange(first, false))
        continue;
      Parameter copy = plan_.parameters[parameter];
      size_t dot = name.rfind('.');
      copy.name = freshName(module + name.substr(dot == std::string::npos ? 0 : dot), name);
      plan_.parameters.push_back(copy);
      for (const Slot &slot : slots)
        plan_.uses[{slot.node, slot.input}].parameter = plan_.parameters.size() - 1;
      plan_.remarks.push_back(
          {Remark::Kind::Untied, copy.name, "untied from '" + name + "' as asked for"});
    }
  }

  // A table of rows and the transposed copy of the same elements are what constant folding leaves
  // of a tied pair.
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

  // Without metadata a buffer looks like a parameter, but is read in other ways.
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
    for (const Slot &slot : slots_) {
      const Parameter &parameter = plan_.parameters[parameterOf(slot)];
      if (!slot.reader)
        continue;
      const std::string &op = slot.reader->op;
      if (parameter.kind != Claim::Kind::Parameter || usual.contains(op) ||
          !told.insert(parameterOf(slot)).second)
        continue;
      plan_.remarks.push_back(
          {Remark::Kind::TrainingWarning, parameter.name,
           "read by " + op + ", so it may be a buffer, which the file does not tell; --freeze " +
               parameter.name + " does not train it"});
    }
  }

  void warnOfSharing() {
    std::vector<Readers> all = readers();
    for (size_t i = 0; i < plan_.parameters.size(); ++i) {
      const Parameter &parameter = plan_.parameters[i];
      if (parameter.kind != Claim::Kind::Parameter || all[i].size() < 2)
        continue;
      std::string modules;
      for (const auto &[module, slots] : all[i])
        modules += (modules.empty() ? "'" : ", '") + (module.empty() ? "the model" : module) + "'";
      plan_.remarks.push_back({Remark::Kind::TrainingWarning, parameter.name,
                               "read by the modules " + modules +
                                   ": trained as one tied parameter; --untie " + parameter.name +
                                   " gives each its own"});
    }
  }

  // Parameters that nobody reads any more leave the plan.
  void dropUnread() {
    std::set<size_t> read;
    for (const auto &[slot, use] : plan_.uses)
      read.insert(use.parameter);
    for (const auto &[initializer, use] : plan_.byInitializer)
      read.insert(use.parameter);
    std::map<size_t, size_t> moved;
    std::vector<Parameter> kept;
    for (size_t parameter : read) {
      moved[parameter] = kept.size();
      kept.push_back(plan_.parameters[parameter]);
    }
    plan_.parameters = std::move(kept);
    for (auto &[slot, use] : plan_.uses)
      use.parameter = moved.at(use.parameter);
    for (auto &[initializer, use] : plan_.byInitializer)
      use.parameter = moved.at(use.parameter);
  }

private:
  std::string freshName(const std::string &wanted, const std::string &base) const {
    auto taken = [&](const std::string &name) {
      return std::any_of(plan_.parameters.begin(), plan_.parameters.end(),
                         [&](const Parameter &parameter) { return parameter.name == name; });
    };
    if (wanted[0] != '.' && !taken(wanted))
      return wanted;
    for (int i = 2;; ++i)
      if (std::string name = base + "." + std::to_string(i); !taken(name))
        return name;
  }

  size_t parameterOf(const Slot &slot) const {
    const Use &use = slot.isInSubgraph() ? plan_.byInitializer.at(slot.initializer)
                                         : plan_.uses.at({slot.node, slot.input});
    return use.parameter;
  }

  // The parameters whose rows are looked up.
  std::set<size_t> tables() const {
    std::set<size_t> out;
    for (const Slot &slot : slots_)
      if (slot.input == 0 && slot.reader && slot.reader->op == "Gather" &&
          shapeOf(graph_, plan_.parameters[parameterOf(slot)]).size() == 2)
        out.insert(parameterOf(slot));
    return out;
  }

  // Whether the copy's elements are the transposed ones of the table, and not all equal.
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
  const std::vector<Slot> &slots_;
  ParameterPlan &plan_;
};

} // namespace

void tieParameters(const Graph &graph, WeightFiles &files, const TieOptions &options,
                   const std::vector<Slot> &slots, ParameterPlan &plan) {
  Ties ties(graph, files, slots, plan);
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
      "the exporter folded batch norms into " + std::to_string(nodes.size()) + " convolutions (";
  for (size_t i = 0; i < nodes.size() && i < 3; ++i)
    text += (i ? ", '" : "'") + nodes[i] + "'";
  text += nodes.size() > 3 ? ", ...)" : ")";
  text += ", so the model trains without them; export with ";
  text += current ? "optimize=False" : "training=TrainingMode.TRAINING, do_constant_folding=False";
  remarks.push_back({Remark::Kind::TrainingWarning, graph.name.empty() ? "the model" : graph.name,
                     text + " to keep them"});
}

} // namespace cleave::onnx
