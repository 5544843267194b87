// See GraphImporter.h.
#include "compiler/frontend/onnx/GraphImporter.h"

#include "compiler/frontend/onnx/file/NarrowTypes.h"
#include "compiler/frontend/onnx/file/Topology.h"
#include "compiler/frontend/onnx/ops/OpTable.h"
#include "compiler/frontend/onnx/parameters/Metadata.h"

namespace cleave::onnx {

// Depth of nested subgraphs; the reader of the file has the same limit.
static constexpr int kMaxDepth = 16;

// Nodes that are imported, those of every round of a loop counted.
static constexpr int64_t kMaxNodes = int64_t(1) << 17;

// -- graphs ---------------------------------------------------------------------------------------
void GraphImporter::importMain(const std::vector<size_t> &order) {
  importGraph(parts_.model.graph, order);
}

void GraphImporter::importGraph(const Graph &graph, const std::vector<size_t> &order) {
  const Graph *outerGraph = std::exchange(graph_, &graph);
  const std::vector<size_t> *outerOrder = std::exchange(order_, &order);
  llvm::scope_exit leave([&] { graph_ = outerGraph, order_ = outerOrder; });
  bindInitializers(graph);
  importNodes(graph, order, isMain(graph));
}

// Imports nodes of a graph. `isMain`: float initializers are read as the parameter plan assigns
// them.
void GraphImporter::importNodes(const Graph &graph, const std::vector<size_t> &order, bool isMain) {
  for (size_t i : order) {
    const Node &node = graph.nodes[i];
    const std::string outside = place_, here = place_ + node.op + " node '" + node.label() + "'";
    place_ = here + ": ";
    bool done = false;
    try {
      done = importNode(node, isMain ? std::optional(i) : std::nullopt);
    } catch (const Failure &failure) {
      parts_.unsupported.add(failure, here);
    } catch (const AlreadyReported &) {
    }
    place_ = outside;
    for (const std::string &output : node.outputs)
      if (!done)
        scopes_[output].failed = true;
  }
}

void GraphImporter::bindInitializers(const Graph &graph) {
  for (size_t i = 0; i < graph.initializers.size(); ++i) {
    const StoredTensor &tensor = graph.initializers[i];
    if (Value value = initializerValue(tensor, isMain(graph) ? std::optional(i) : std::nullopt))
      scopes_[tensor.name] = {.values = {value},
                              .narrow = narrowNumber(tensor.dataType),
                              .isString = tensor.dataType == kStringType};
  }
}

// The value of an initializer for readers by name; null where Cleave does not compute with its
// elements. `mainIndex`: its index in the main graph; none: a subgraph's own.
Value GraphImporter::initializerValue(const StoredTensor &tensor, std::optional<size_t> mainIndex) {
  const ParameterPlan &plan = parts_.parameters.plan();
  if (mainIndex)
    if (auto planned = plan.byInitializer.find(*mainIndex); planned != plan.byInitializer.end())
      return parts_.parameters.valueOf(planned->second);
  if (plan.subgraphWeights.contains(&tensor)) // finishStep makes constants of those it may
    return active_.guarded(parts_.tensors.subgraphParameter(tensor));
  if (elementTypeOf(tensor.dataType) || tensor.dataType == kStringType)
    return tensorValue(tensor);
  return {};
}

// -- nodes ----------------------------------------------------------------------------------------
void GraphImporter::countNodes(int64_t more) {
  if ((nodes_ += more) > kMaxNodes)
    fail("is one of more than ", kMaxNodes, " nodes when all rounds of all loops are written out");
}

// The operands by plan (in the main graph) or by name.
Bindings GraphImporter::operandsOf(const Node &node, std::optional<size_t> mainIndex) {
  Bindings operands;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i].empty())
      operands.emplace_back();
    else if (Value value = mainIndex ? parts_.parameters.valueAt(*mainIndex, i) : Value())
      operands.push_back({{value}});
    else
      operands.push_back(resolve(node.inputs[i]));
  }
  return operands;
}

// The node's name, with the PyTorch module that contains the node as its child location.
mlir::Location GraphImporter::locationOf(const Node &node) {
  mlir::OpBuilder &b = parts_.step.builder();
  mlir::Location module = mlir::UnknownLoc::get(b.getContext());
  if (std::string path = moduleOf(node); !path.empty())
    module = mlir::NameLoc::get(b.getStringAttr(path));
  return mlir::NameLoc::get(b.getStringAttr(node.label()), module);
}

// How the node treats strings; Handles where none of its operands is one.
static StringSupport stringSupportOf(const Node &node, const Bindings &operands) {
  if (llvm::none_of(operands, [](const Binding &operand) { return operand.isString; }))
    return StringSupport::Handles;
  StringSupport support = stringSupportOf(node.domain, node.op);
  if (support == StringSupport::None)
    fail("has strings as operands, expected numbers");
  return support;
}

static Bindings callHandler(const OpEntry &entry, NodeImport &import) {
  if (entry.bindingHandler)
    return entry.bindingHandler(import);
  Bindings results;
  for (Value value : entry.handler(import))
    results.push_back({{value}});
  return results;
}

// `mainIndex`: the node's index in the main graph, where the plan gives its parameters. False if
// the node is left out because of something that has been reported.
bool GraphImporter::importNode(const Node &node, std::optional<size_t> mainIndex) {
  countNodes(1);
  evaluator().checkOps();
  parts_.step.setInsertionPointToEnd();
  Bindings operands = operandsOf(node, mainIndex);
  int64_t tensors = 0;
  for (const Binding &operand : operands)
    tensors += static_cast<int64_t>(operand.values.size());
  countNodes(tensors / 256); // long sequences are work, too
  if (llvm::any_of(operands, [](const Binding &operand) { return operand.failed; }))
    return false;
  if (mainIndex) // a bias that the exporter dropped
    if (Value bias = parts_.parameters.valueAt(*mainIndex, operands.size()))
      operands.push_back({{bias}});
  StringSupport support = stringSupportOf(node, operands);
  NodeImport import(node, std::move(operands), parts_.step.builder(), locationOf(node), *this);
  const OpEntry *entry = findOp(node.domain, node.op, import.opset());
  if (!entry) {
    parts_.unsupported.addUnknown();
    return false;
  }
  Bindings results = callHandler(*entry, import);
  import.checkAllRead();
  for (Binding &result : results)
    result.isString |= support == StringSupport::Moves;
  bindOutputs(node, results);
  return true;
}

void GraphImporter::bindOutputs(const Node &node, const Bindings &results) {
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const std::string &name = node.outputs[i];
    if (name.empty())
      continue;
    if (i >= results.size() || (results[i].isTensor() && !results[i].values[0]))
      scopes_.markUncomputed(name,
                             concat("output ", i, " ('", name, "') of ", node.op, " node '",
                                    node.label(), "' is read, but Cleave does not compute it"));
    else
      scopes_[name] = results[i];
  }
}

// -- subgraphs ------------------------------------------------------------------------------------
// Computed once per subgraph, however many rounds a loop has. Called outside of the subgraph's
// scope.
const std::vector<size_t> &GraphImporter::orderOf(const Graph &subgraph) {
  auto order = orders_.find(&subgraph);
  if (order == orders_.end())
    order = orders_.emplace(&subgraph, sortedNodes(subgraph, scopes_.names())).first;
  return order->second;
}

Bindings GraphImporter::importSubgraph(const Graph &graph, const Bindings &inputs) {
  // A round without nodes is work, too, and so are its names and constants.
  size_t names = graph.inputs.size() + graph.initializers.size() + graph.outputs.size();
  countNodes(1 + static_cast<int64_t>(names / 16));
  evaluator().checkOps();
  if (depth_ == kMaxDepth)
    fail("has subgraphs nested too deeply");
  if (inputs.size() < graph.inputs.size())
    fail("has a subgraph with ", graph.inputs.size(), " inputs, but gives it ", inputs.size());
  ++depth_;
  llvm::scope_exit leave([&] { --depth_; });
  const std::vector<size_t> &order = orderOf(graph);
  auto scope = scopes_.enter();
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    scopes_[graph.inputs[i].name] = inputs[i];
  importGraph(graph, order);
  Bindings outputs;
  for (const ValueInfo &output : graph.outputs)
    outputs.push_back(resolve(output.name));
  if (llvm::any_of(outputs, [](const Binding &output) { return output.failed; }))
    throw AlreadyReported();
  return outputs;
}

Bindings GraphImporter::importSpeculatively(const Graph &graph, Bindings inputs, Value isActive) {
  int64_t before = parts_.unsupported.added();
  try {
    return importGuarded(graph, std::move(inputs), isActive);
  } catch (const AlreadyReported &) {
    throw AlreadyReported{.isInside = parts_.unsupported.added() > before};
  }
}

// Imports a subgraph with guards around the values that it reads from outside.
Bindings GraphImporter::importGuarded(const Graph &graph, Bindings inputs, Value isActive) {
  auto inactive = active_.enter(isActive);
  auto scope = scopes_.enter();
  for (Binding &input : inputs)
    active_.guard(input);
  for (const std::string &name : freeNames(graph))
    if (const Binding *outside = scopes_.find(name)) {
      Binding guarded = *outside;
      active_.guard(guarded);
      scopes_[name] = std::move(guarded);
    }
  return importSubgraph(graph, inputs);
}

Binding GraphImporter::importSlice(const std::map<std::string, Binding> &given,
                                   const std::string &result) {
  countNodes(static_cast<int64_t>(order_->size() / 64)); // the search visits all of them
  std::set<std::string> names;
  for (const auto &[name, binding] : given)
    names.insert(name);
  if (depth_ == kMaxDepth)
    fail("computes a gradient of itself");
  ++depth_;
  llvm::scope_exit leave([&] { --depth_; });
  auto scope = scopes_.enter(given);
  importNodes(*graph_, nodesBetween(*graph_, *order_, names, result), /*isMain=*/false);
  Binding binding = resolve(result);
  if (binding.failed)
    throw AlreadyReported();
  return binding;
}

// -- values of the whole step ---------------------------------------------------------------------
Value GraphImporter::tensorValue(const StoredTensor &tensor) {
  return parts_.tensors.constant(tensor, tensor.name);
}

void GraphImporter::replaceState(Value state, Value next) {
  if (active_.dependsOnData())
    fail("updates running statistics in a subgraph that data may leave inactive");
  parts_.parameters.replaceState(state, next);
}

void GraphImporter::addStateResults() {
  keys_.addStateResult();
  parts_.parameters.addStateResults();
}

} // namespace cleave::onnx
