// See InitializerUses.h. Nodes of the main graph are visited in order; in subgraphs, names may
// refer to initializers of the graphs around them.
#include "compiler/frontend/onnx/parameters/InitializerUses.h"

#include "compiler/frontend/onnx/file/NarrowTypes.h"
#include "compiler/frontend/onnx/parameters/Metadata.h"
#include "compiler/frontend/onnx/parameters/Settings.h"

namespace cleave::onnx {
namespace {

// The initializer that a name refers to.
struct Weight {
  const StoredTensor *tensor = nullptr; // null: not a float initializer
  std::optional<size_t> initializer;    // index in the main graph; none: a subgraph's own
  std::string alias;                    // as in InitializerUse
};

// The names of one graph; lookups continue in the graphs around it.
struct WeightNames {
  const WeightNames *outer = nullptr;
  std::map<std::string, Weight> own;

  const Weight *find(const std::string &name) const {
    for (const WeightNames *names = this; names; names = names->outer)
      if (auto found = names->own.find(name); found != names->own.end())
        return found->second.tensor ? &found->second : nullptr;
    return nullptr;
  }
};

// A place that reads a subgraph's own weight.
struct SubgraphUse {
  const StoredTensor *tensor;
  const Node *reader; // null: an output of the subgraph
  size_t input;
};

class InitializerUseFinder {
public:
  explicit InitializerUseFinder(const Graph &graph) {
    for (size_t i = 0; i < graph.initializers.size(); ++i)
      if (isFloatTensor(graph.initializers[i]))
        main_.own[graph.initializers[i].name] = {&graph.initializers[i], i, {}};
  }

  void run(const Graph &graph, const std::vector<size_t> &order) {
    for (size_t i : order)
      visitNode(graph.nodes[i], i, main_);
    for (size_t i : order)
      visitSubgraphs(graph.nodes[i], main_);
  }

  InitializerUses uses;
  std::vector<SubgraphUse> subgraphUses;

private:
  void visitNode(const Node &node, size_t index, WeightNames &names) {
    bool passesOn = node.op == "Identity" && node.inputs.size() == 1 && node.outputs.size() == 1;
    for (size_t input = 0; input < node.inputs.size(); ++input) {
      const Weight *found = names.find(node.inputs[input]);
      if (!found)
        continue;
      Weight weight = *found;
      if (!passesOn) {
        add(weight, index, &node, input);
        continue;
      }
      weight.alias = node.outputs[0];
      names.own[node.outputs[0]] = weight;
    }
  }

  void add(const Weight &weight, size_t node, const Node *reader, size_t input) {
    if (!weight.initializer)
      subgraphUses.push_back({weight.tensor, reader, input});
    else // in subgraphs an initializer is one parameter under all its aliases
      uses.push_back({node, input, *weight.initializer,
                      node == InitializerUse::kInSubgraph ? std::string() : weight.alias, reader});
  }

  void visitSubgraphs(const Node &node, const WeightNames &names) {
    for (const Attribute &attribute : node.attributes)
      if (attribute.graph)
        visitSubgraph(*attribute.graph, names);
  }

  // Recursive: ModelReader.cpp accepts subgraphs that are nested at most 16 deep.
  void visitSubgraph(const Graph &graph, const WeightNames &outer) {
    WeightNames names{&outer, {}};
    for (const ValueInfo &input : graph.inputs)
      names.own[input.name] = {};
    for (const Node &node : graph.nodes)
      for (const std::string &output : node.outputs)
        names.own[output] = {};
    for (const StoredTensor &tensor : graph.initializers)
      if (isFloatTensor(tensor))
        names.own[tensor.name] = {&tensor, std::nullopt, {}};
    for (const Node &node : graph.nodes) {
      visitNode(node, InitializerUse::kInSubgraph, names);
      visitSubgraphs(node, names);
    }
    for (const ValueInfo &output : graph.outputs)
      if (const Weight *found = names.find(output.name))
        add(*found, InitializerUse::kInSubgraph, nullptr, 0);
  }

  WeightNames main_;
};

} // namespace

bool isFloatTensor(const StoredTensor &tensor) {
  std::optional<ElementType> type = elementTypeOf(tensor.dataType);
  return type && isFloat(*type) && !narrowType(tensor.dataType);
}

bool isLinearWeight(const Graph &graph, const InitializerUse &use) {
  if (!use.reader || use.input != 1 || graph.initializers[use.initializer].dims.size() != 2)
    return false;
  const Node &node = *use.reader;
  if (node.op == "MatMul")
    return true;
  if (node.op != "Gemm")
    return false;
  for (const Attribute &attribute : node.attributes)
    if (attribute.name == "transB" && attribute.integer != 0)
      return false;
  return true;
}

bool readsOnlyDims(const Node &node) { return node.op == "Shape" || node.op == "Size"; }

bool isRunningStatistic(const Node &node, size_t input) {
  return node.op == "BatchNormalization" && (input == 3 || input == 4);
}

InitializerUses findInitializerUses(const Graph &graph, const std::vector<size_t> &order) {
  InitializerUseFinder finder(graph);
  finder.run(graph, order);
  return std::move(finder.uses);
}

std::set<const StoredTensor *> findSubgraphWeights(const Graph &graph,
                                                   const std::vector<size_t> &order,
                                                   const Settings &settings) {
  InitializerUseFinder finder(graph);
  finder.run(graph, order);
  std::set<const StoredTensor *> weights;
  for (const SubgraphUse &use : finder.subgraphUses) {
    bool isData =
        !use.reader || (!settings.isSetting(*use.reader, use.input, use.tensor->dims.empty()) &&
                        !isRunningStatistic(*use.reader, use.input));
    if (isData && use.tensor->elementCount() > 1 && !isMadeUpName(use.tensor->name))
      weights.insert(use.tensor);
  }
  return weights;
}

} // namespace cleave::onnx
