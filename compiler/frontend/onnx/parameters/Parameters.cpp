// See Parameters.h. Here: the plan, built from the provenance of each use.
#include "compiler/frontend/onnx/parameters/Parameters.h"

#include "compiler/frontend/onnx/parameters/Settings.h"

namespace cleave::onnx {
namespace {

using Dims = std::vector<int64_t>;

Provenance constantProvenance(const std::string &name) {
  Provenance out;
  out.kind = ParameterKind::Constant;
  out.name = name;
  return out;
}

class ParameterPlanner {
public:
  ParameterPlanner(const Graph &graph, WeightFiles &files, ParameterPlan &plan)
      : graph_(graph), files_(files), plan_(plan) {
    for (size_t i = 0; i < graph.initializers.size(); ++i)
      initializers_[graph.initializers[i].name] = i;
  }

  void add(const InitializerUse &use, Provenance from) {
    auto known = plan_.byInitializer.find(use.initializer);
    bool isPlanned = known != plan_.byInitializer.end() && !isConstant(known->second);
    if (use.isInSubgraph() && isPlanned)
      return;
    ParameterRef ref{find(use, from), from.transposed, {}};
    if (from.dims)
      ref.dims = dimsOf(use.initializer);
    if (!use.isInSubgraph())
      plan_.uses[{use.node, use.input}] = ref;
    if (known == plan_.byInitializer.end() || !(isPlanned || isConstant(ref)))
      plan_.byInitializer[use.initializer] = ref;
  }

  // A parameter that the exporter dropped because it was zero.
  void addDropped(const DroppedBias &bias) {
    if (auto known = byName_.find({false, bias.name}); known != byName_.end()) {
      // Another call of the same module.
      plan_.uses[{bias.node, bias.input}] = {known->second, false, {}};
      return;
    }
    Parameter parameter;
    parameter.name = bias.name;
    parameter.initializer = bias.weight;
    parameter.zeros = bias.size;
    plan_.remarks.push_back({Remark::Kind::Restored, bias.name,
                             "had been dropped because it was zero: a parameter again"});
    plan_.uses[{bias.node, bias.input}] = {plan_.parameters.size(), false, {}};
    byName_[{false, bias.name}] = plan_.parameters.size();
    plan_.parameters.push_back(parameter);
  }

  // A float initializer without uses (an output of the model).
  void addUnread(size_t initializer) {
    if (plan_.byInitializer.contains(initializer))
      return;
    Provenance from = constantProvenance(graph_.initializers[initializer].name);
    InitializerUse output{.node = 0, .input = 0, .initializer = initializer};
    plan_.byInitializer[initializer] = {find(output, from), false, {}};
  }

private:
  bool isConstant(const ParameterRef &ref) const {
    return plan_.parameters[ref.parameter].kind == ParameterKind::Constant;
  }

  const Dims &dimsOf(size_t initializer) const { return graph_.initializers[initializer].dims; }

  // The dims of the parameter that the use reads, as its provenance has them.
  Dims parameterDims(const InitializerUse &use, const Provenance &from) const {
    Dims dims = dimsOf(use.initializer);
    if (from.transposed)
      std::swap(dims[0], dims[1]);
    return from.dims.value_or(dims);
  }

  // Adds a remark where a second initializer is a transposed copy of a planned parameter.
  void noteCopy(const InitializerUse &use, const Provenance &from, size_t parameter) {
    const Parameter &known = plan_.parameters[parameter];
    bool isCopy = use.initializer != known.initializer && from.repair == Remark::Kind::Transposed;
    if (isCopy && copies_.insert(use.initializer).second)
      plan_.remarks.push_back({Remark::Kind::Tied, from.name,
                               "'" + graph_.initializers[use.initializer].name +
                                   "' is its transposed copy: tied again"});
  }

  // Whether the initializer has the elements of the planned parameter. Names are guessed where the
  // exporter has lost them; the elements show whether two initializers are one parameter.
  bool holdsValuesOf(const InitializerUse &use, const Provenance &from,
                     const Parameter &known) const {
    if (use.initializer == known.initializer || known.zeros)
      return true;
    return files_.areEqual(graph_.initializers[use.initializer],
                           graph_.initializers[known.initializer],
                           from.transposed != known.storedTransposed);
  }

  // The index of the parameter in the plan, to which it is added if need be. Where the provenance
  // contradicts an earlier one, it is replaced by one with the initializer's own name.
  size_t find(const InitializerUse &use, Provenance &from) {
    const std::string &own = graph_.initializers[use.initializer].name;
    Dims dims = parameterDims(use, from);
    bool isConstant = from.kind == ParameterKind::Constant;
    auto known = byName_.find({isConstant, from.name});
    if (known != byName_.end()) {
      const Parameter &planned = plan_.parameters[known->second];
      if (shapeOf(graph_, planned) == dims && holdsValuesOf(use, from, planned)) {
        noteCopy(use, from, known->second);
        return known->second;
      }
      Provenance instead;
      instead.kind = from.kind;
      bool isOwn = from.name == own || from.name.starts_with(own + "'"); // each try has a new name
      instead.name = isOwn ? from.name + "'" : own;
      return find(use, from = instead);
    }
    Parameter parameter{.kind = from.kind,
                        .name = from.name,
                        .initializer = use.initializer,
                        .storedTransposed = from.transposed,
                        .dims = from.dims};
    // Where the file still holds the parameter under its own name, the first value is there.
    auto original = initializers_.find(from.name);
    if (original != initializers_.end() && original->second != use.initializer &&
        dimsOf(original->second) == dims &&
        files_.areEqual(graph_.initializers[use.initializer], graph_.initializers[original->second],
                        from.transposed))
      parameter = {.kind = from.kind, .name = from.name, .initializer = original->second};
    if (!from.remark.empty())
      plan_.remarks.push_back({from.repair, from.name, from.remark});
    plan_.parameters.push_back(parameter);
    return byName_[{isConstant, from.name}] = plan_.parameters.size() - 1;
  }

  const Graph &graph_;
  WeightFiles &files_;
  ParameterPlan &plan_;
  std::map<std::string, size_t> initializers_;            // by name
  std::set<size_t> copies_;                               // initializers that were tied again
  std::map<std::pair<bool, std::string>, size_t> byName_; // constants have names of their own
};

// The provenance of the use, corrected by how its reader uses the operand. `isKnown`: the exporter
// recorded it.
Provenance corrected(const Graph &graph, const InitializerUse &use, Provenance from, bool isKnown,
                     const Settings &settings) {
  if (!use.reader)
    return from;
  if (isRunningStatistic(*use.reader, use.input))
    from.kind = ParameterKind::State;
  const bool isNumber = !isKnown && graph.initializers[use.initializer].dims.empty();
  if (settings.isSetting(*use.reader, use.input, isNumber))
    return constantProvenance(graph.initializers[use.initializer].name);
  return from;
}

} // namespace

std::vector<int64_t> shapeOf(const Graph &graph, const Parameter &parameter) {
  if (parameter.zeros)
    return {*parameter.zeros};
  Dims dims = graph.initializers[parameter.initializer].dims;
  if (parameter.storedTransposed)
    std::swap(dims[0], dims[1]);
  return parameter.dims.value_or(dims);
}

ParameterPlan planParameters(const Graph &graph, const std::vector<size_t> &order,
                             WeightFiles &files, const TieOptions &options) {
  InitializerUses uses = findInitializerUses(graph, order);
  MetadataProvenance metadata = provenanceFromMetadata(graph, uses);
  std::vector<Provenance> names = provenanceFromNames(graph, uses);
  Settings settings(graph);
  ParameterPlan plan;
  plan.subgraphWeights = findSubgraphWeights(graph, order, settings);
  ParameterPlanner planner(graph, files, plan);
  for (size_t i = 0; i < uses.size(); ++i) {
    bool hasMetadata = metadata.exists && metadata.byUse[i];
    const Provenance &from = hasMetadata ? *metadata.byUse[i] : names[i];
    planner.add(uses[i], corrected(graph, uses[i], from, hasMetadata, settings));
  }
  for (const DroppedBias &bias : metadata.dropped)
    planner.addDropped(bias);
  for (size_t i = 0; i < graph.initializers.size(); ++i)
    if (isFloatTensor(graph.initializers[i]))
      planner.addUnread(i);
  tieParameters(graph, files, options, uses, plan);
  warnOfFoldedBatchNorms(graph, plan.remarks);
  warnOfMergedNodes(graph, plan);
  return plan;
}

} // namespace cleave::onnx
