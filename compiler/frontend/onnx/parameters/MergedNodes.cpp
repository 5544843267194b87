// What an exporter lost when it merged equal nodes: two that read the same value and parameters
// with equal elements, such as two layer norms of one value in a fresh model, or a parameter and
// its transpose. The file computes with one of them what the model computes with both.
#include "compiler/frontend/onnx/parameters/Metadata.h"
#include "compiler/frontend/onnx/parameters/Parameters.h"

#include <algorithm>

namespace cleave::onnx {
namespace {

using Names = std::set<std::string>;

// The parameters of PyTorch's program that no initializer holds, alone or as a part of what the
// exporter computed.
std::vector<std::string> lostParameters(const Graph &graph, const ParameterPlan &plan) {
  Names held;
  for (const Parameter &parameter : plan.parameters)
    held.insert(parameter.name);
  for (const auto &[initializer, sources] : foldedFrom(graph))
    held.insert(sources.begin(), sources.end());
  std::vector<std::string> lost;
  for (const auto &[fxName, entry] : signatureOf(graph))
    if (entry.isParameter && !held.contains(entry.target))
      lost.push_back(entry.target);
  return lost;
}

// `layer_norm` of `layer_norm_3`.
std::string withoutNumber(const std::string &name) {
  size_t end = name.find_last_not_of("0123456789");
  bool hasNumber = end != std::string::npos && end + 1 < name.size() && name[end] == '_';
  return hasNumber ? name.substr(0, end) : name;
}

// A call of PyTorch's program that the file lacks, since the nodes of an equal one stand for it.
struct Merged {
  std::string call, equal; // FX names
};

class MergedCalls {
public:
  explicit MergedCalls(const Graph &graph) : graph_(graph) {
    for (const Node &node : graph.nodes) {
      const std::optional<FxNode> fx = fxNodeOf(node);
      if (fx)
        kept_.insert(fx->name);
      for (const std::string &output : node.outputs) {
        kept_.insert(output);
        callOf_[output] = fx ? fx->name : output;
      }
    }
  }

  std::vector<Merged> find() const {
    std::vector<Merged> merged;
    for (const Node &node : graph_.nodes)
      if (std::optional<FxNode> fx = fxNodeOf(node))
        if (std::optional<Merged> found = readBy(node, *fx))
          merged.push_back(*found);
    return merged;
  }

private:
  // The call in whose place the node reads a value of another call of the same operator.
  std::optional<Merged> readBy(const Node &node, const FxNode &fx) const {
    for (const std::string &input : node.inputs) {
      const auto maker = callOf_.find(input);
      if (maker == callOf_.end() || isNamed(fx, input) || isNamed(fx, maker->second))
        continue;
      for (const std::string &argument : fx.arguments)
        if (!kept_.contains(argument) && withoutNumber(argument) == withoutNumber(maker->second))
          return Merged{argument, maker->second};
    }
    return std::nullopt;
  }

  static bool isNamed(const FxNode &fx, const std::string &value) {
    return std::ranges::find(fx.arguments, value) != fx.arguments.end();
  }

  const Graph &graph_;
  Names kept_;                                // the outputs and calls of the file
  std::map<std::string, std::string> callOf_; // by output
};

// The trained parameter that the nodes of a call read; empty if there is none.
std::string parameterOf(const Graph &graph, const ParameterPlan &plan, const std::string &call) {
  for (const auto &[place, ref] : plan.uses) {
    const Parameter &parameter = plan.parameters[ref.parameter];
    if (parameter.kind != ParameterKind::Parameter)
      continue;
    if (const std::optional<FxNode> fx = fxNodeOf(graph.nodes[place.first]); fx && fx->name == call)
      return parameter.name;
  }
  return "";
}

} // namespace

void warnOfMergedNodes(const Graph &graph, ParameterPlan &plan) {
  const std::vector<Merged> merged = MergedCalls(graph).find();
  if (merged.empty())
    return;
  const std::vector<std::string> lost = lostParameters(graph, plan);
  if (!lost.empty()) {
    plan.remarks.push_back(
        {Remark::Kind::TrainingWarning, lost[0],
         (lost.size() > 1 ? concat("and ", lost.size() - 1, " others are") : std::string("is")) +
             " not in the file, since the exporter merged nodes that were equal at export: the "
             "parameters that are left are trained in their place; export with optimize=False to "
             "keep them"});
    return;
  }
  Names warned;
  for (const auto &[call, equal] : merged)
    if (const std::string name = parameterOf(graph, plan, equal);
        !name.empty() && warned.insert(call).second)
      plan.remarks.push_back(
          {Remark::Kind::TrainingWarning, name,
           concat("'", equal, "' reads it, and stands for '", call,
                  "', which the exporter found equal: if that one reads the transpose, or a "
                  "constant of the same values, the parameter is trained in its place; export with "
                  "optimize=False to keep them apart")});
}

} // namespace cleave::onnx
