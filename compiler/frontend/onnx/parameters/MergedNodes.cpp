// Parameters that an exporter lost when it merged equal nodes: two that read the same value and
// parameters with equal elements, such as two layer norms of one value in a fresh model. The file
// computes with one of them what the model computes with both.
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

// Whether the node reads a value in the place of another one of the same operator, which PyTorch's
// program computes and the file does not.
bool readsMerged(const Node &node, const Names &computed) {
  std::optional<FxNode> fx = fxNodeOf(node);
  if (!fx)
    return false;
  std::vector<std::string> open = fx->arguments; // without a value that the node reads
  for (const std::string &input : node.inputs)
    if (auto found = std::find(open.begin(), open.end(), input); found != open.end())
      open.erase(found);
  std::vector<std::string> extra = node.inputs; // without an argument
  for (const std::string &argument : fx->arguments)
    if (auto found = std::find(extra.begin(), extra.end(), argument); found != extra.end())
      extra.erase(found);
  return std::any_of(extra.begin(), extra.end(), [&](const std::string &input) {
    return computed.contains(input) &&
           std::any_of(open.begin(), open.end(), [&](const std::string &argument) {
             return !computed.contains(argument) && withoutNumber(argument) == withoutNumber(input);
           });
  });
}

} // namespace

void warnOfMergedNodes(const Graph &graph, ParameterPlan &plan) {
  std::vector<std::string> lost = lostParameters(graph, plan);
  if (lost.empty())
    return;
  Names computed;
  for (const Node &node : graph.nodes)
    computed.insert(node.outputs.begin(), node.outputs.end());
  bool merged = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                            [&](const Node &node) { return readsMerged(node, computed); });
  if (merged)
    plan.remarks.push_back(
        {Remark::Kind::TrainingWarning, lost[0],
         (lost.size() > 1 ? concat("and ", lost.size() - 1, " others are") : std::string("is")) +
             " not in the file, since the exporter merged nodes that were equal at export: the "
             "parameters that are left are trained in their place; export with optimize=False to "
             "keep them"});
}

} // namespace cleave::onnx
