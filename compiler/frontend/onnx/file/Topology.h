// Topology: the order in which a graph's nodes can be computed, and the uniqueness of its names.
// Plain data.
#pragma once

#include "compiler/frontend/onnx/file/Model.h"

#include <set>

namespace cleave::onnx {

// Indices of the nodes, each after the nodes that it reads, otherwise in the file's order. `outer`
// are the names that enclosing graphs define. Fails on names that are defined twice or not at all,
// and on cycles.
std::vector<size_t> sortedNodes(const Graph &graph, const std::set<std::string> &outer);

// The names that the graph reads and does not define itself, subgraphs included.
std::set<std::string> freeNames(const Graph &graph);

// The nodes of `order` that depend on the names in `given` and on which `result` depends, in that
// order.
std::vector<size_t> nodesBetween(const Graph &graph, const std::vector<size_t> &order,
                                 std::set<std::string> given, const std::string &result);

} // namespace cleave::onnx
