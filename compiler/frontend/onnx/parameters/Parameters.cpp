// See Parameters.h. Here: building the plan from what is claimed about each slot (Slots.cpp finds them).
#include "compiler/frontend/onnx/parameters/Parameters.h"

#include "compiler/frontend/onnx/file/Failure.h"
#include "compiler/frontend/onnx/parameters/Metadata.h"
#include "compiler/frontend/onnx/parameters/Settings.h"

namespace cleave::onnx {
namespace {

using Dims = std::vector<int64_t>;

Claim constantClaim(const std::string &name) {
  Claim out;
  out.kind = Claim::Kind::Constant;
  out.name = name;
  return out;
}

class PlanBuilder {
public:
  PlanBuilder(const Graph &graph, WeightFiles &files, ParameterPlan &plan)
      : graph_(graph), files_(files), plan_(plan) {
    for (size_t i = 0; i < graph.initializers.size(); ++i)
      initializers_[graph.initializers[i].name] = i;
  }

  void add(const Slot &slot, Claim claim) {
    auto known = plan_.byInitializer.find(slot.initializer);
    bool isPlanned = known != plan_.byInitializer.end() && !isConstant(known->second);
    if (slot.isInSubgraph() && isPlanned)
      return;
    Use use{find(slot, claim), claim.transposed, {}};
    if (claim.dims)
      use.dims = dimsOf(slot.initializer);
    if (!slot.isInSubgraph())
      plan_.uses[{slot.node, slot.input}] = use;
    if (known == plan_.byInitializer.end() || !(isPlanned || isConstant(use)))
      plan_.byInitializer[slot.initializer] = use;
  }

  // A parameter that the exporter dropped because it was zero.
  void addDropped(const DroppedBias &bias) {
    if (byName_.contains({false, bias.name}))
      return;
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

  // A float initializer that no slot reads (an output of the model).
  void addUnread(size_t initializer) {
    if (plan_.byInitializer.contains(initializer))
      return;
    Claim claim = constantClaim(graph_.initializers[initializer].name);
    plan_.byInitializer[initializer] = {find({0, 0, initializer, {}, nullptr}, claim), false, {}};
  }

private:
  bool isConstant(const Use &use) const {
    return plan_.parameters[use.parameter].kind == Claim::Kind::Constant;
  }

  const Dims &dimsOf(size_t initializer) const { return graph_.initializers[initializer].dims; }

  Dims claimedDims(const Slot &slot, const Claim &claim) const {
    Dims dims = dimsOf(slot.initializer);
    if (claim.transposed)
      std::swap(dims[0], dims[1]);
    return claim.dims.value_or(dims);
  }

  // A second initializer that turns out to be a parameter that is already there.
  void noteCopy(const Slot &slot, const Claim &claim, size_t parameter) {
    const Parameter &known = plan_.parameters[parameter];
    bool isCopy = slot.initializer != known.initializer && claim.repair == Remark::Kind::Transposed;
    if (isCopy && copies_.insert(slot.initializer).second)
      plan_.remarks.push_back({Remark::Kind::Tied, claim.name,
                               "'" + graph_.initializers[slot.initializer].name +
                                   "' is its transposed copy: tied again"});
  }

  // Names are guessed where the exporter has lost them; the elements tell whether two initializers are one parameter.
  bool holdsValuesOf(const Slot &slot, const Claim &claim, const Parameter &known) const {
    if (slot.initializer == known.initializer || known.zeros)
      return true;
    return files_.areEqual(graph_.initializers[slot.initializer],
                           graph_.initializers[known.initializer],
                           claim.transposed != known.storedTransposed);
  }

  // The claimed parameter, new if need be. A claim that contradicts an earlier one is dropped for
  // the initializer's own name.
  size_t find(const Slot &slot, Claim &claim) {
    const std::string &own = graph_.initializers[slot.initializer].name;
    Dims dims = claimedDims(slot, claim);
    bool isConstant = claim.kind == Claim::Kind::Constant;
    auto known = byName_.find({isConstant, claim.name});
    if (known != byName_.end()) {
      if (shapeOf(graph_, plan_.parameters[known->second]) == dims &&
          holdsValuesOf(slot, claim, plan_.parameters[known->second])) {
        noteCopy(slot, claim, known->second);
        return known->second;
      }
      Claim instead;
      instead.kind = claim.kind;
      bool isOwn =
          claim.name == own || claim.name.starts_with(own + "'"); // each try has another name
      instead.name = isOwn ? claim.name + "'" : own;
      return find(slot, claim = instead);
    }
    Parameter parameter{claim.kind, claim.name, slot.initializer, claim.transposed, claim.dims, {}};
    // Where the file still holds the parameter under its own name, its value is there.
    auto original = initializers_.find(claim.name);
    if (original != initializers_.end() && original->second != slot.initializer &&
        dimsOf(original->second) == dims &&
        files_.areEqual(graph_.initializers[slot.initializer],
                        graph_.initializers[original->second], claim.transposed))
      parameter = {claim.kind, claim.name, original->second, false, {}, {}};
    if (!claim.remark.empty())
      plan_.remarks.push_back({claim.repair, claim.name, claim.remark});
    plan_.parameters.push_back(parameter);
    return byName_[{isConstant, claim.name}] = plan_.parameters.size() - 1;
  }

  const Graph &graph_;
  WeightFiles &files_;
  ParameterPlan &plan_;
  std::map<std::string, size_t> initializers_;
  std::set<size_t> copies_;                               // initializers that were tied again
  std::map<std::pair<bool, std::string>, size_t> byName_; // constants have names of their own
};

// What is said about the slot, whichever witness says it.
Claim claimOf(const Graph &graph, const Slot &slot, Claim claim, const Settings &settings) {
  if (!slot.reader)
    return claim;
  if (isRunningStatistic(*slot.reader, slot.input))
    claim.kind = Claim::Kind::State;
  if (settings.isSetting(*slot.reader, slot.input))
    return constantClaim(graph.initializers[slot.initializer].name);
  return claim;
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

bool isLinearWeight(const Graph &graph, const Slot &slot) {
  if (!slot.reader || slot.input != 1 || graph.initializers[slot.initializer].dims.size() != 2)
    return false;
  const Node &node = *slot.reader;
  if (node.op == "MatMul")
    return true;
  if (node.op != "Gemm")
    return false;
  for (const Attribute &attribute : node.attributes)
    if (attribute.name == "transB" && attribute.integer != 0)
      return false;
  return true;
}

bool isRunningStatistic(const Node &node, size_t input) {
  return node.op == "BatchNormalization" && (input == 3 || input == 4);
}

ParameterPlan planParameters(const Graph &graph, const std::vector<size_t> &order,
                             WeightFiles &files, const TieOptions &options) {
  std::vector<Slot> slots = findSlots(graph, order);
  Testimony told = hearMetadata(graph, slots);
  std::vector<Claim> named = claimByNames(graph, slots);
  Settings settings(graph);
  ParameterPlan plan;
  plan.subgraphWeights = findSubgraphWeights(graph, order, settings);
  PlanBuilder builder(graph, files, plan);
  for (size_t i = 0; i < slots.size(); ++i) {
    const Claim &claim = told.exists && told.claims[i] ? *told.claims[i] : named[i];
    builder.add(slots[i], claimOf(graph, slots[i], claim, settings));
  }
  for (const DroppedBias &bias : told.dropped)
    builder.addDropped(bias);
  for (size_t i = 0; i < graph.initializers.size(); ++i)
    if (isFloatTensor(graph.initializers[i]))
      builder.addUnread(i);
  tieParameters(graph, files, options, slots, plan);
  warnOfFoldedBatchNorms(graph, plan.remarks);
  return plan;
}

} // namespace cleave::onnx
