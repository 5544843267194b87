// Finding the places that read weights: of the main graph's nodes in order, and in subgraphs, where names stand for what the
// graphs around them define. See Parameters.h.
#include "compiler/frontend/onnx/parameters/Metadata.h"
#include "compiler/frontend/onnx/file/NarrowTypes.h"
#include "compiler/frontend/onnx/parameters/Parameters.h"
#include "compiler/frontend/onnx/parameters/Settings.h"

namespace cleave::onnx {
namespace {

// What a name stands for.
struct Weight {
  const StoredTensor *tensor = nullptr; // null: no weight
  std::optional<size_t> initializer;    // of the main graph; none: a subgraph's own
  std::string alias;                    // as in Slot
};

// Names of one graph, and those of the graphs around it.
struct Names {
  const Names *outer = nullptr;
  std::map<std::string, Weight> own;

  const Weight *find(const std::string &name) const {
    for (const Names *names = this; names; names = names->outer)
      if (auto found = names->own.find(name); found != names->own.end())
        return found->second.tensor ? &found->second : nullptr;
    return nullptr;
  }
};

// A place that reads a subgraph's own weight; without a node: an output.
struct OwnSlot {
  const StoredTensor *tensor;
  const Node *reader;
  size_t input;
};

class SlotFinder {
public:
  explicit SlotFinder(const Graph &graph) {
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

  std::vector<Slot> slots;
  std::vector<OwnSlot> ownSlots;

private:
  void visitNode(const Node &node, size_t index, Names &names) {
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
      ownSlots.push_back({weight.tensor, reader, input});
    else // in subgraphs an initializer is one parameter, whatever it is called on the way
      slots.push_back({node, input, *weight.initializer,
                       node == Slot::kInSubgraph ? std::string() : weight.alias, reader});
  }

  void visitSubgraphs(const Node &node, const Names &names) {
    for (const Attribute &attribute : node.attributes)
      if (attribute.graph)
        visitSubgraph(*attribute.graph, names);
  }

  // Subgraphs are nested 16 deep at most (ModelReader.cpp).
  void visitSubgraph(const Graph &graph, const Names &outer) {
    Names names{&outer, {}};
    for (const ValueInfo &input : graph.inputs)
      names.own[input.name] = {};
    for (const Node &node : graph.nodes)
      for (const std::string &output : node.outputs)
        names.own[output] = {};
    for (const StoredTensor &tensor : graph.initializers)
      if (isFloatTensor(tensor))
        names.own[tensor.name] = {&tensor, std::nullopt, {}};
    for (const Node &node : graph.nodes) {
      visitNode(node, Slot::kInSubgraph, names);
      visitSubgraphs(node, names);
    }
    for (const ValueInfo &output : graph.outputs)
      if (const Weight *found = names.find(output.name))
        add(*found, Slot::kInSubgraph, nullptr, 0);
  }

  Names main_;
};

} // namespace

bool isFloatTensor(const StoredTensor &tensor) {
  std::optional<ElementType> type = elementTypeOf(tensor.dataType);
  return type && isFloat(*type) && !narrowType(tensor.dataType);
}

std::vector<Slot> findSlots(const Graph &graph, const std::vector<size_t> &order) {
  SlotFinder finder(graph);
  finder.run(graph, order);
  return std::move(finder.slots);
}

std::set<const StoredTensor *> findSubgraphWeights(const Graph &graph,
                                                   const std::vector<size_t> &order,
                                                   const Settings &settings) {
  SlotFinder finder(graph);
  finder.run(graph, order);
  std::set<const StoredTensor *> weights;
  for (const OwnSlot &slot : finder.ownSlots) {
    bool isData = !slot.reader || (!settings.isSetting(*slot.reader, slot.input) &&
                                   !isRunningStatistic(*slot.reader, slot.input));
    if (isData && slot.tensor->elementCount() > 1 && !isMadeUpName(slot.tensor->name))
      weights.insert(slot.tensor);
  }
  return weights;
}

} // namespace cleave::onnx
