// See Functions.h.
#include "compiler/frontend/onnx/file/Functions.h"

#include "compiler/frontend/onnx/file/Failure.h"

#include <algorithm>
#include <array>

namespace cleave::onnx {
namespace {

constexpr int kMaxCallDepth = 16;             // of nested calls
constexpr size_t kMaxNodes = size_t(1) << 18; // of the model, all calls inlined
constexpr size_t kMaxBytes = size_t(1) << 28; // of names and attributes in them

using Names = std::map<std::string, std::string>;

// One call while it is inlined: the values of the function's names and attributes.
struct FunctionCall {
  const Function *function = nullptr;
  const Node *node = nullptr;
  Names names; // of the function's inputs and outputs
  std::string prefix;
};

class Inliner {
public:
  explicit Inliner(const Model &model) {
    for (const Function &function : model.functions)
      functions_[keyOf(function.domain, function.name, function.overload)] = &function;
  }

  void inlineIn(Graph &graph, int depth) {
    std::vector<Node> nodes;
    for (Node &node : graph.nodes)
      append(std::move(node), nodes, depth);
    graph.nodes = std::move(nodes);
  }

private:
  void append(Node node, std::vector<Node> &nodes, int depth) {
    if (++count_ > kMaxNodes)
      fail("the model has more than ", kMaxNodes, " nodes in its functions");
    if (depth > kMaxCallDepth)
      fail("node '", node.label(), "' calls functions nested more than ", kMaxCallDepth,
           " deep: is '", node.op, "' a function of itself?");
    for (Attribute &attribute : node.attributes)
      if (attribute.graph) {
        auto inner = std::make_shared<Graph>(*attribute.graph);
        inlineIn(*inner, depth + 1);
        attribute.graph = inner;
      }
    auto found = functions_.find(keyOf(node.domain, node.op, node.overload));
    if (found == functions_.end()) {
      nodes.push_back(std::move(node));
      return;
    }
    FunctionCall call = callOf(*found->second, node);
    for (const Node &inner : found->second->nodes) {
      Node copy = written(inner, call);
      countBytes(copy, 0);
      append(std::move(copy), nodes, depth + 1);
    }
    passThrough(call, nodes);
  }

  // Bytes of a copy of the node.
  void countBytes(const Node &node, int depth) {
    bytes_ += sizeof(Node) + node.name.size();
    for (const auto &[key, value] : node.metadata)
      bytes_ += sizeof(key) + key.size() + sizeof(value) + value.size();
    for (const std::vector<std::string> *names : {&node.inputs, &node.outputs})
      for (const std::string &name : *names)
        bytes_ += sizeof(name) + name.size();
    for (const Attribute &attribute : node.attributes) {
      bytes_ += sizeof(attribute) + attribute.string.size() +
                8 * (attribute.integers.size() + attribute.numbers.size());
      for (const std::string &text : attribute.strings)
        bytes_ += sizeof(text) + text.size();
      if (attribute.graph)
        for (const StoredTensor &tensor : attribute.graph->initializers)
          bytes_ += sizeof(tensor) + tensor.decoded.size() + 64 * tensor.strings.size();
      if (attribute.graph && depth <= kMaxCallDepth)
        for (const Node &inner : attribute.graph->nodes)
          countBytes(inner, depth + 1);
    }
    if (bytes_ > kMaxBytes)
      fail("the model has more than ", kMaxBytes >> 20, " MiB of nodes in its functions");
  }

  static FunctionCall callOf(const Function &function, const Node &node) {
    FunctionCall call{&function, &node, {}, node.label() + "/"};
    if (node.inputs.size() > function.inputs.size() ||
        node.outputs.size() > function.outputs.size())
      fail("node '", node.label(), "' has ", node.inputs.size(), " inputs and ",
           node.outputs.size(), " outputs, but the function ", function.name, " has ",
           function.inputs.size(), " and ", function.outputs.size());
    for (size_t i = 0; i < function.outputs.size(); ++i)
      if (i < node.outputs.size() && !node.outputs[i].empty())
        call.names[function.outputs[i]] = node.outputs[i];
    for (size_t i = 0; i < function.inputs.size(); ++i)
      call.names[function.inputs[i]] = i < node.inputs.size() ? node.inputs[i] : "";
    return call;
  }

  // Adds Identity nodes for outputs that are inputs of the function as well.
  static void passThrough(const FunctionCall &call, std::vector<Node> &nodes) {
    const Function &function = *call.function;
    for (size_t i = 0; i < call.node->outputs.size(); ++i) {
      auto input = std::find(function.inputs.begin(), function.inputs.end(), function.outputs[i]);
      if (input == function.inputs.end() || call.node->outputs[i].empty())
        continue;
      Node copy;
      copy.op = "Identity";
      copy.name = call.prefix + function.outputs[i];
      copy.inputs = {nameOf(*input, call)};
      copy.outputs = {call.node->outputs[i]};
      nodes.push_back(copy);
    }
  }

  static std::string nameOf(const std::string &name, const FunctionCall &call) {
    if (name.empty())
      return name;
    auto known = call.names.find(name);
    return known == call.names.end() ? call.prefix + name : known->second;
  }

  // A copy of a node of the function with the call's names and attributes.
  static Node written(Node node, const FunctionCall &call) {
    for (std::string &name : node.inputs)
      name = nameOf(name, call);
    for (std::string &name : node.outputs)
      name = nameOf(name, call);
    node.name = call.prefix + node.name;
    if (!node.opset)
      node.opset = call.function->opset;
    if (node.metadata.empty())
      node.metadata = call.node->metadata;
    std::vector<Attribute> attributes;
    for (Attribute &attribute : node.attributes)
      if (std::optional<Attribute> meant = attributeOf(attribute, call))
        attributes.push_back(std::move(*meant));
    node.attributes = std::move(attributes);
    return node;
  }

  // Replaces references by the call's attributes or the defaults; drops references without either.
  static std::optional<Attribute> attributeOf(Attribute attribute, const FunctionCall &call) {
    if (!attribute.reference.empty()) {
      for (const std::vector<Attribute> *list : {&call.node->attributes, &call.function->defaults})
        for (const Attribute &given : *list)
          if (given.name == attribute.reference) {
            Attribute out = given;
            out.name = attribute.name;
            return out;
          }
      return std::nullopt;
    }
    if (attribute.graph)
      attribute.graph = written(*attribute.graph, call);
    return attribute;
  }

  static std::shared_ptr<const Graph> written(const Graph &graph, const FunctionCall &call) {
    auto out = std::make_shared<Graph>(graph);
    for (Node &node : out->nodes)
      node = written(node, call);
    for (StoredTensor &tensor : out->initializers)
      tensor.name = nameOf(tensor.name, call);
    for (std::vector<ValueInfo> *list : {&out->inputs, &out->outputs})
      for (ValueInfo &value : *list)
        value.name = nameOf(value.name, call);
    return out;
  }

  static std::array<std::string, 3> keyOf(const std::string &domain, const std::string &name,
                                          const std::string &overload) {
    return {domain, name, overload};
  }

  std::map<std::array<std::string, 3>, const Function *> functions_;
  size_t count_ = 0, bytes_ = 0;
};

} // namespace

void inlineFunctions(Model &model) {
  if (!model.functions.empty())
    Inliner(model).inlineIn(model.graph, 0);
}

} // namespace cleave::onnx
