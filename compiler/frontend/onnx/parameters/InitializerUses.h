// The places of a model that read its float initializers, from which the parameters are planned
// (Parameters.h).
#pragma once

#include "compiler/frontend/onnx/file/Model.h"

#include <set>

namespace cleave::onnx {

class Settings;

// A place that reads a float initializer of the main graph: an input of a node, or an output of a
// subgraph.
struct InitializerUse {
  // The value of `node` for places in subgraphs.
  static constexpr size_t kInSubgraph = SIZE_MAX;

  size_t node = 0;        // index in the main graph, or kInSubgraph
  size_t input = 0;       // of the reader
  size_t initializer = 0; // index in the main graph
  // Where Identity nodes lie between initializer and reader: the output of the last one; else
  // empty.
  std::string alias;
  const Node *reader = nullptr; // null: an output of a subgraph

  // Whether the place is in a subgraph, where `node` is not set.
  bool isInSubgraph() const { return node == kInSubgraph; }
};
using InitializerUses = std::vector<InitializerUse>;

// All uses: those of the main graph in the order of nodes and inputs, then those in subgraphs.
// `order` holds the indices of the graph's nodes in an order in which they can be computed
// (sortedNodes, file/Topology.h).
InitializerUses findInitializerUses(const Graph &graph, const std::vector<size_t> &order);

// The float initializers of subgraphs that are parameters: those with a name from the user and more
// than one element that some node reads as data, not as a setting.
std::set<const StoredTensor *>
findSubgraphWeights(const Graph &graph, const std::vector<size_t> &order, const Settings &settings);

// Whether the elements are floats that can be trained. Narrow types (file/NarrowTypes.h) are
// quantized and cannot.
bool isFloatTensor(const StoredTensor &tensor);
// Whether the use is the second operand of a matrix product, which holds the transposed weight of a
// linear layer.
bool isLinearWeight(const Graph &graph, const InitializerUse &use);
// Whether the node's result depends on the dims of its operand and not on the elements.
bool readsOnlyDims(const Node &node);
// Whether the node's input is a running statistic of a batch norm.
bool isRunningStatistic(const Node &node, size_t input);

} // namespace cleave::onnx
