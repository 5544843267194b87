// Settings: which values of a model say how operators work (a padding value, scales, a condition) rather than what they
// work on, directly or because nothing else is computed from them. They are known while importing and not trained.
#pragma once

#include "compiler/frontend/onnx/file/Model.h"

#include <map>
#include <set>

namespace cleave::onnx {

class Settings {
public:
  // Looks at all nodes once, subgraphs included.
  explicit Settings(const Graph &graph);

  // Whether input `input` of the node (of the graph or a subgraph) is a setting, or the node computes nothing but settings.
  bool isSetting(const Node &node, size_t input) const;

private:
  void addNodes(const Graph &graph);
  void add(const Node &node);
  void reach(const std::string &name);
  void reachOperands(const Node &node);

  std::multimap<std::string, const Node *> nodes_; // by output; branches may share names
  std::set<std::string> read_;
  // Names from which a result of the model follows other than by settings.
  std::set<std::string> reached_;
  std::vector<std::string> open_; // reached names whose nodes are to be looked at
};

} // namespace cleave::onnx
