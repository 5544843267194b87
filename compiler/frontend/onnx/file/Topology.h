// The order in which a graph's nodes can be computed, and the checks that its names make sense.
// Plain data.
#pragma once

#include "compiler/frontend/onnx/file/Model.h"

#include <set>

namespace cleave::onnx {

// Indices of the nodes, every one after those that it reads; the file's order where that is
// possible. `outer` are names that enclosing graphs define. Fails on names that are defined twice
// or never, and on cycles.
std::vector<size_t> sortedNodes(const Graph &graph, const std::set<std::string> &outer);

// The names that the graph reads and does not define itself (subgraphs included).
std::set<std::string> freeNames(const Graph &graph);

// Of the nodes in `order` those on which `result` depends and that depend on the values `given`, in that order.
std::vector<size_t> nodesBetween(const Graph &graph, const std::vector<size_t> &order,
                                 std::set<std::string> given, const std::string &result);

} // namespace cleave::onnx
