// Finds calls of PyTorch's program that an exporter merged, since they gave equal results at
// export: they read the same value, and parameters with equal elements. Examples are two layer
// norms of one value in a fresh model, and products with a symmetric weight and with its transpose.
// The file then trains one parameter where the model has two, or gives one another gradient.
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

// A call that the file lacks, and the one whose result is read in its place.
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
  // The merged call, if the node has one among its arguments: the file does not compute this
  // argument, and the node reads the result of another call of the same operator instead.
  std::optional<Merged> readBy(const Node &node, const FxNode &fx) const {
    std::vector<std::string> missing = fx.arguments; // arguments that are not among the inputs
    std::vector<std::string> extra; // calls that give inputs and are not among the arguments
    for (const std::string &input : node.inputs) {
      const auto maker = callOf_.find(input);
      if (maker == callOf_.end() || maker->second == fx.name)
        continue;
      auto argument = std::ranges::find(missing, input);
      if (argument == missing.end())
        argument = std::ranges::find(missing, maker->second);
      if (argument == missing.end())
        extra.push_back(maker->second);
      else
        missing.erase(argument);
    }
    for (const std::string &call : missing)
      for (const std::string &equal : extra)
        if (!kept_.contains(call) && withoutNumber(call) == withoutNumber(equal))
          return Merged{call, equal};
    return std::nullopt;
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
           concat("the exporter merged the equal calls '", equal, "' and '", call,
                  "', of which the first one reads this parameter: if the second one reads its "
                  "transpose or a constant with the same elements, training differs from "
                  "PyTorch's; export with optimize=False to keep both")});
}

} // namespace cleave::onnx
