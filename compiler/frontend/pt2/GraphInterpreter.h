// GraphInterpreter: runs the nodes of a program's graphs in order, with PyTorch's operators
// (compiler/frontend/aten). Graphs that a node calls unconditionally run in its place.
#pragma once

#include "compiler/frontend/aten/OpCall.h"
#include "compiler/frontend/pt2/Autocast.h"
#include "compiler/frontend/pt2/Program.h"

#include <set>

namespace cleave::pt2 {

// The values of a graph by name.
using Scope = std::map<std::string, aten::IValue>;

struct Wrapper;

class GraphInterpreter {
public:
  explicit GraphInterpreter(aten::Context &context) : context_(context) {}

  // Fails if the graph, or one inside, has unsupported targets; lists all of them.
  void checkTargets(const Graph &graph) const;
  // Runs the nodes, without those that only check values, and adds their results to the scope.
  void run(const Graph &graph, Scope &scope);
  // The value of a name; fails if there is none.
  const aten::IValue &lookUp(const Scope &scope, const std::string &name) const;

  // Gives each module that reads the value `name` a tensor of its own. `make` creates it under a
  // name: the module's and the last part of `parameter`.
  using Make = std::function<aten::TensorRef(const std::string &)>;
  void split(const std::string &name, const std::string &parameter, Make make);

private:
  struct Split {
    std::string parameter;
    Make make;
    std::map<std::string, aten::TensorRef> byModule;
  };
  // A torch.vmap whose samples are run one after the other.
  struct Samples {
    int64_t number; // of the current one
    // The results so far, by the node that joins them.
    std::vector<std::pair<const Node *, aten::IValueList>> results;
  };
  // Nodes that only check values.
  using Checks = std::set<const Node *>;

  static Checks checksOf(const Graph &graph);

  void runNode(const Graph &graph, const Node &node, Scope &scope);
  aten::IValueList results(const Graph &graph, const Node &node, const Scope &scope);
  aten::IValue valueOf(const Node &node, const Argument &argument, const Scope &scope);
  aten::IValueList callGraph(const Graph &graph, const aten::IValueList &arguments);
  aten::IValueList callWrapped(const Wrapper &wrapper, const aten::IValueList &arguments,
                               const Node &node);
  void runNodes(const Graph &graph, const Checks &checks, size_t begin, size_t end, Scope &scope);
  int64_t countSamples(const Node &node, const Scope &scope);
  void runSamples(const Graph &graph, const Checks &checks, size_t begin, size_t end, Scope &scope);
  void runOfSample(const Node &node, Scope &scope);
  aten::IValueList callInRegion(const AutocastRegion &region, const Graph &graph,
                                const aten::IValueList &arguments);
  std::optional<ElementType> regionType(const Graph &graph, const Node &node) const;
  void bind(const Node &node, const Argument &output, const aten::IValue &value, Scope &scope);

  aten::Context &context_;
  std::optional<AutocastRegion> region_;           // the innermost one; none: outside of all
  std::vector<Samples> samples_;                   // from the outermost torch.vmap inwards
  std::map<std::string, Split> splits_;            // by value name
  std::map<std::string, std::string> notComputed_; // results that operators leave out -> operator
};

} // namespace cleave::pt2
