// GraphImporter: imports the nodes of the main graph and of subgraphs, one after the other, by the
// handlers of their operators (ops/OpTable.h).
#pragma once

#include "compiler/frontend/onnx/ActiveCondition.h"
#include "compiler/frontend/onnx/Scopes.h"
#include "compiler/frontend/onnx/StepParameters.h"
#include "compiler/frontend/onnx/UnsupportedOperators.h"
#include "compiler/frontend/onnx/node/ImportServices.h"
#include "compiler/frontend/step/RandomKeys.h"

namespace cleave::onnx {

// The parts of one import, which outlive its GraphImporter.
struct ImportParts {
  const Model &model;
  const ImportOptions &options;
  frontend::StepBuilder &step;
  StringPool &strings;
  StepTensors &tensors;
  StepParameters &parameters;
  UnsupportedOperators &unsupported;
};

class GraphImporter final : public ImportServices {
public:
  // `inputs` are the bindings of the model's inputs, by name.
  GraphImporter(const ImportParts &parts, std::map<std::string, Binding> inputs)
      : parts_(parts), keys_(parts.step), scopes_(std::move(inputs)),
        active_(parts.step.builder(), parts.step.evaluator()) {}

  // Imports the main graph; `order` as in sortedNodes. Nodes that cannot be imported are added to
  // the unsupported operators.
  void importMain(const std::vector<size_t> &order);
  // The value of a name of the main graph; fails if it is not computed.
  Binding resolve(const std::string &name) const { return scopes_.resolve(name); }
  // Adds the results that replace states.
  void addStateResults();

  // -- ImportServices
  Evaluator &evaluator() override { return parts_.step.evaluator(); }
  const ImportOptions &options() const override { return parts_.options; }
  int64_t opset() const override { return parts_.model.opset(); }
  StringPool &strings() override { return parts_.strings; }
  Bindings importSubgraph(const Graph &graph, const Bindings &inputs) override;
  Bindings importSpeculatively(const Graph &graph, Bindings inputs, Value isActive) override;
  Binding importSlice(const std::map<std::string, Binding> &given,
                      const std::string &result) override;
  Value tensorValue(const StoredTensor &tensor) override;
  bool isState(Value value) const override { return parts_.parameters.isState(value); }
  void replaceState(Value state, Value next) override;
  Value randomKey() override { return keys_.next(); }

private:
  void importGraph(const Graph &graph, const std::vector<size_t> &order);
  void importNodes(const Graph &graph, const std::vector<size_t> &order, bool isMain);
  bool importNode(const Node &node, std::optional<size_t> mainIndex);
  void bindInitializers(const Graph &graph);
  void bindOutputs(const Node &node, const Bindings &results);
  Bindings importGuarded(const Graph &graph, Bindings inputs, Value isActive);
  Value initializerValue(const StoredTensor &tensor, std::optional<size_t> mainIndex);
  Bindings operandsOf(const Node &node, std::optional<size_t> mainIndex);
  const std::vector<size_t> &orderOf(const Graph &subgraph);
  mlir::Location locationOf(const Node &node);
  bool isMain(const Graph &graph) const { return &graph == &parts_.model.graph; }
  void countNodes(int64_t more);

  ImportParts parts_;
  frontend::RandomKeys keys_;
  Scopes scopes_;
  ActiveCondition active_;
  std::map<const Graph *, std::vector<size_t>> orders_; // of subgraphs, looked up only
  // The graph that is being imported, and the order of its nodes.
  const Graph *graph_ = nullptr;
  const std::vector<size_t> *order_ = nullptr;
  std::string place_; // the nodes whose subgraphs are being imported: `If node 'x': `
  int depth_ = 0;     // subgraphs that are being imported
  int64_t nodes_ = 0; // imported so far
};

} // namespace cleave::onnx
