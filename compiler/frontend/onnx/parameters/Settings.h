// Settings: the operands that say how an operator works (a padding value, scales, a condition)
// rather than what it works on. They are known while importing and not trained.
#pragma once

#include "compiler/frontend/onnx/file/Model.h"

#include <map>
#include <set>

namespace cleave::onnx {

// Finds settings: operands that operators use as such, and everything from which only settings are
// computed.
class Settings {
public:
  // Visits all nodes of the graph once, those of subgraphs included.
  explicit Settings(const Graph &graph);

  // Whether input `input` of the node (in the graph or a subgraph), an initializer, is a setting,
  // or the node computes only settings. `isNumber`: the initializer has no dims.
  bool isSetting(const Node &node, size_t input, bool isNumber) const;

private:
  void addNodes(const Graph &graph);
  void add(const Node &node);
  void reach(const std::string &name);
  void reachOperands(const Node &node);

  std::multimap<std::string, const Node *> nodes_; // by output; branches may share names
  std::set<std::string> read_;
  // Names on which a result of the model depends other than through settings.
  std::set<std::string> reached_;
  std::vector<std::string> open_; // reached names whose nodes have not been visited
};

} // namespace cleave::onnx
