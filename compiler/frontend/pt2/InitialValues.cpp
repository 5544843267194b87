// See InitialValues.h.
#include "compiler/frontend/pt2/InitialValues.h"

#include "dialects/graph/RandomOrigin.h"
#include "dialects/graph/Step.h"

#include <cmath>

namespace cleave::pt2 {
namespace {

// A use of a value: the operator (`layer_norm`), the name of its argument, and the graph that it is
// in.
struct Use {
  const Graph *graph = nullptr;
  const Node *node = nullptr;
  llvm::StringRef op, argument;
};

bool reads(const Argument &argument, const std::string &value) {
  return argument.text == value ||
         llvm::any_of(argument.items, [&](const Argument &item) { return item.text == value; });
}

// The first use as an argument of an operator of PyTorch, if any. A node that runs a graph on its
// arguments is none, but the graph's nodes are.
Use firstUse(const Graph &graph, const std::string &value) {
  for (const Node &node : graph.nodes) {
    llvm::SmallVector<llvm::StringRef> parts; // torch.ops.aten.NAME.OVERLOAD
    llvm::StringRef(node.target).split(parts, '.');
    const Graph *called = nullptr;
    size_t first = 0; // the position behind the called graph
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const NamedArgument &input = node.inputs[i];
      if (input.value.graph)
        called = input.value.graph.get(), first = i + 1;
      else if (called && input.value.text == value && i - first < called->inputs.size())
        return firstUse(*called, called->inputs[i - first].text);
      else if (reads(input.value, value) && parts.size() >= 4)
        return {&graph, &node, parts[3], input.name};
    }
  }
  return {};
}

// The sizes as numbers; 1 for symbols, which parameters do not have.
std::vector<double> dimsOf(const Graph &graph, const std::string &value) {
  std::vector<double> dims;
  if (auto found = graph.tensors.find(value); found != graph.tensors.end())
    for (const Size &size : found->second.sizes)
      dims.push_back(static_cast<double>(size.value ? size.value->constant().value_or(1) : 1));
  return dims;
}

// The inputs of one output of a layer with these weights, [outputs, inputs, window…].
double fanIn(const std::vector<double> &dims) {
  double count = 1;
  for (size_t i = 1; i < dims.size(); ++i)
    count *= dims[i];
  return std::max(count, 1.0);
}

// The value named `argument` of the node.
std::string argumentOf(const Node &node, llvm::StringRef argument) {
  for (const NamedArgument &input : node.inputs)
    if (argument == input.name)
      return input.value.text;
  return "";
}

struct Source {
  mlir::MLIRContext *context;
  mlir::Attribute fill(double value) const {
    graph::TensorOrigin origin;
    origin.fill = value;
    return graph::toAttribute(origin, context);
  }
  mlir::Attribute normal(double deviation) const {
    return graph::toAttribute(graph::RandomOrigin{true, deviation}, context);
  }
  mlir::Attribute uniform(double fanIn) const {
    return graph::toAttribute(graph::RandomOrigin{false, 1 / std::sqrt(fanIn)}, context);
  }
};

mlir::Attribute buffer(const Use &use, const Source &source) {
  if (use.argument == "running_var")
    return source.fill(1);
  if (use.argument == "running_mean" || use.op == "add_") // add_: the count of batches
    return source.fill(0);
  return {};
}

mlir::Attribute parameter(const std::vector<double> &dims, const Use &use, const Source &source) {
  bool isMatrix = dims.size() >= 2;
  if (use.op.contains("norm"))
    return source.fill(use.argument == "bias" ? 0 : 1);
  if (use.op == "embedding")
    return source.normal(1);
  if (use.op == "linear" || use.op.contains("conv"))
    return source.uniform(fanIn(dimsOf(*use.graph, argumentOf(*use.node, "weight"))));
  double gates = use.op == "lstm" ? 4 : use.op == "gru" ? 3 : use.op.starts_with("rnn_") ? 1 : 0;
  if (gates > 0 && !dims.empty())
    return source.uniform(std::max(dims[0] / gates, 1.0));
  if (isMatrix)
    return source.normal(0.02);
  return source.fill(use.op.starts_with("mul") ? 1 : 0); // a scale, or an offset
}

} // namespace

mlir::Attribute initialValue(const Program &program, const InputSpec &input,
                             mlir::MLIRContext *context) {
  Use use = firstUse(program.graph, input.name);
  Source source{context};
  return input.kind == InputSpec::Kind::Parameter
             ? parameter(dimsOf(program.graph, input.name), use, source)
             : buffer(use, source);
}

} // namespace cleave::pt2
