// See Topology.h.
#include "compiler/frontend/onnx/file/Topology.h"

#include "compiler/frontend/onnx/file/Failure.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace cleave::onnx {
namespace {

std::string describe(const Node &node) { return "node '" + node.label() + "' (" + node.op + ")"; }

constexpr const char *kTrainingDomain = "ai.onnx.preview.training";

// The names that the node reads: its inputs and the free names of its subgraphs.
std::set<std::string> readNames(const Node &node) {
  std::set<std::string> names;
  for (const std::string &input : node.inputs)
    if (!input.empty())
      names.insert(input);
  bool isGradient = node.op == "Gradient" && node.domain == kTrainingDomain;
  for (const Attribute &attribute : node.attributes) {
    if (attribute.graph)
      names.merge(freeNames(*attribute.graph));
    if (isGradient && attribute.name == "y") // named by the attribute, not read as an input
      names.insert(attribute.string);
  }
  return names;
}

// The names that the graph defines, with the defining node or kNoNode.
class Definitions {
public:
  explicit Definitions(const Graph &graph) : graph_(graph) {
    for (const ValueInfo &input : graph.inputs)
      define(input.name, kNoNode, "an input");
    for (const StoredTensor &tensor : graph.initializers)
      define(tensor.name, kNoNode, "an initializer");
    for (size_t i = 0; i < graph.nodes.size(); ++i)
      for (const std::string &output : graph.nodes[i].outputs)
        if (!output.empty())
          define(output, i, describe(graph.nodes[i]));
  }

  static constexpr size_t kNoNode = SIZE_MAX;
  // The defining node, kNoNode for inputs and initializers; null for an unknown name.
  const size_t *find(const std::string &name) const {
    auto found = nodes_.find(name);
    return found == nodes_.end() ? nullptr : &found->second;
  }

private:
  void define(const std::string &name, size_t node, const std::string &by) {
    if (name.empty())
      fail("the model has an input or initializer without a name");
    auto [found, isNew] = nodes_.emplace(name, node);
    if (!isNew)
      fail("'", name, "' is defined twice: by ", by, " and by ",
           found->second == kNoNode ? "an input or initializer"
                                    : describe(graph_.nodes[found->second]),
           "; names must be unique");
  }

  const Graph &graph_;
  std::map<std::string, size_t> nodes_;
};

[[noreturn]] void failCycle(const Graph &graph, const std::vector<size_t> &missing) {
  std::string names;
  size_t listed = 0;
  for (size_t i = 0; i < missing.size() && listed < 4; ++i)
    if (missing[i] > 0)
      names += (listed++ ? ", " : "") + describe(graph.nodes[i]);
  fail("the graph has a cycle: each of these nodes waits for another one: ", names);
}

} // namespace

std::vector<size_t> nodesBetween(const Graph &graph, const std::vector<size_t> &order,
                                 std::set<std::string> given, const std::string &result) {
  std::vector<size_t> depending;
  for (size_t i : order) {
    const Node &node = graph.nodes[i];
    std::set<std::string> read = readNames(node);
    bool depends = std::any_of(read.begin(), read.end(),
                               [&](const std::string &name) { return given.contains(name); });
    bool isGiven = std::all_of(node.outputs.begin(), node.outputs.end(), [&](const auto &name) {
      return name.empty() || given.contains(name);
    });
    if (!depends || isGiven)
      continue;
    depending.push_back(i);
    given.insert(node.outputs.begin(), node.outputs.end());
    given.erase("");
  }
  std::set<std::string> needed = {result};
  std::vector<size_t> between;
  for (size_t i : llvm::reverse(depending)) {
    const Node &node = graph.nodes[i];
    if (std::none_of(node.outputs.begin(), node.outputs.end(),
                     [&](const std::string &name) { return needed.contains(name); }))
      continue;
    between.push_back(i);
    needed.merge(readNames(node));
  }
  std::reverse(between.begin(), between.end());
  return between;
}

std::set<std::string> freeNames(const Graph &graph) {
  std::set<std::string> defined, read;
  for (const ValueInfo &input : graph.inputs)
    defined.insert(input.name);
  for (const StoredTensor &tensor : graph.initializers)
    defined.insert(tensor.name);
  for (const Node &node : graph.nodes) {
    defined.insert(node.outputs.begin(), node.outputs.end());
    read.merge(readNames(node));
  }
  for (const ValueInfo &output : graph.outputs)
    read.insert(output.name);
  for (const std::string &name : defined)
    read.erase(name);
  return read;
}

std::vector<size_t> sortedNodes(const Graph &graph, const std::set<std::string> &outer) {
  Definitions definitions(graph);
  std::vector<size_t> missing(graph.nodes.size(), 0); // operands not yet computed
  std::vector<std::vector<size_t>> readers(graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::string &name : readNames(graph.nodes[i])) {
      const size_t *node = definitions.find(name);
      if (!node && !outer.contains(name))
        fail(describe(graph.nodes[i]), " reads '", name, "', which nothing defines");
      if (!node || *node == Definitions::kNoNode)
        continue;
      ++missing[i];
      readers[*node].push_back(i);
    }
  }
  for (const ValueInfo &output : graph.outputs)
    if (!definitions.find(output.name) && !outer.contains(output.name))
      fail("the model's output '", output.name, "' is computed by no node");

  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < missing.size(); ++i)
    if (missing[i] == 0)
      ready.push(i);
  std::vector<size_t> order;
  while (!ready.empty()) {
    size_t node = ready.top();
    ready.pop();
    order.push_back(node);
    for (size_t reader : readers[node])
      if (--missing[reader] == 0)
        ready.push(reader);
  }
  if (order.size() != graph.nodes.size())
    failCycle(graph, missing);
  return order;
}

} // namespace cleave::onnx
