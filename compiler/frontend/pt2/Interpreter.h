// Interpreter: the nodes of a program's graphs, one after the other, by PyTorch's operators
// (compiler/frontend/aten). Graphs that a node calls and that are called for sure are run in
// its place.
#pragma once

#include "compiler/frontend/aten/OpCall.h"
#include "compiler/frontend/pt2/Program.h"

namespace cleave::pt2 {

// What the names of a graph stand for.
using Scope = std::map<std::string, aten::Value>;

struct Wrapper;

class Interpreter {
public:
  explicit Interpreter(aten::Context &context) : context_(context) {}

  // Fails if the graph (or one inside) has targets that nothing here knows; all are listed.
  void checkTargets(const Graph &graph) const;
  // Runs the nodes; their results join the scope.
  void run(const Graph &graph, Scope &scope);
  // The value; fails if there is none, with the reason where it is known.
  const aten::Value &lookUp(const Scope &scope, const std::string &name) const;

  // Every module that reads the value `name` gets a tensor of its own from `make`, which is given its
  // name: the module's and the last part of `parameter`.
  using Make = std::function<aten::TensorRef(const std::string &)>;
  void split(const std::string &name, const std::string &parameter, Make make);

private:
  struct Split {
    std::string parameter;
    Make make;
    std::map<std::string, aten::TensorRef> byModule;
  };

  void runNode(const Graph &graph, const Node &node, Scope &scope);
  aten::ValueList results(const Node &node, const Scope &scope);
  aten::Value valueOf(const Node &node, const Argument &argument, const Scope &scope);
  aten::ValueList callGraph(const Graph &graph, const aten::ValueList &arguments);
  aten::ValueList callWrapped(const Wrapper &wrapper, const aten::ValueList &arguments,
                              const Node &node);
  aten::ValueList callConditional(const aten::ValueList &arguments, const Node &node);
  void bind(const Node &node, const Argument &output, const aten::Value &value, Scope &scope);

  aten::Context &context_;
  std::map<std::string, Split> splits_;            // by value name
  std::map<std::string, std::string> notComputed_; // results that operators leave out -> operator
};

} // namespace cleave::pt2
