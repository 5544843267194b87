// See Settings.h. The search follows the results back to everything from which they are computed;
// values that it does not reach are settings.
#include "compiler/frontend/onnx/parameters/Settings.h"

#include "llvm/ADT/STLExtras.h"

namespace cleave::onnx {
namespace {

// The inputs [first, end) of an operator, which are settings.
struct SettingInputs {
  const char *op;
  size_t first = 0;
  size_t end = SIZE_MAX;
  // Whether the import needs their values, so that everything from which they are computed is a
  // setting, too.
  bool isNeeded = true;
  // Whether only tensors without dims are settings there.
  bool isOfNumbers = false;
};

constexpr SettingInputs kSettings[] = {
    {"Clip", 1, SIZE_MAX, false},
    {"ConstantOfShape"},
    {"Dropout", 1},
    {"Expand", 1},
    {"If", 0},
    {"Loop", 0, 2},
    {"MelWeightMatrix", 1},
    {"NonMaxSuppression", 1},
    {"OneHot", 1, SIZE_MAX, false},
    {"Pad", 1},
    {"Pow", 1, 2, false, true}, // x ** 2; a learned exponent has dims
    {"Range"},
    {"Reshape", 1},
    {"Resize", 1},
    {"STFT", 1, SIZE_MAX, false},
    {"Slice", 1},
    {"Tile", 1},
    {"Upsample", 1},
};

const SettingInputs *settingAt(const Node &node, size_t input) {
  const auto *found = llvm::find_if(kSettings, [&](const SettingInputs &s) {
    return node.op == s.op && input >= s.first && input < s.end;
  });
  return found == std::end(kSettings) ? nullptr : found;
}

} // namespace

Settings::Settings(const Graph &graph) {
  addNodes(graph);
  for (const ValueInfo &output : graph.outputs)
    reach(output.name);
  for (const auto &[output, node] : nodes_) // nodes without readers compute no settings
    if (llvm::none_of(node->outputs, [&](const auto &name) { return read_.contains(name); }))
      reach(output);
  while (!open_.empty()) {
    std::string name = std::move(open_.back());
    open_.pop_back();
    for (auto [found, end] = nodes_.equal_range(name); found != end; ++found)
      reachOperands(*found->second);
  }
}

void Settings::addNodes(const Graph &graph) {
  for (const ValueInfo &output : graph.outputs)
    read_.insert(output.name);
  for (const Node &node : graph.nodes)
    add(node);
}

void Settings::add(const Node &node) {
  read_.insert(node.inputs.begin(), node.inputs.end());
  for (const std::string &output : node.outputs)
    if (!output.empty())
      nodes_.emplace(output, &node);
  for (const Attribute &attribute : node.attributes) {
    if (attribute.graph)
      addNodes(*attribute.graph);
    if (node.op == "Gradient" && attribute.name == "y") // named, not read
      reach(attribute.string);
  }
}

void Settings::reach(const std::string &name) {
  if (reached_.insert(name).second)
    open_.push_back(name);
}

void Settings::reachOperands(const Node &node) {
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const SettingInputs *setting = settingAt(node, i);
    if (!setting || !setting->isNeeded)
      reach(node.inputs[i]);
  }
  for (const Attribute &attribute : node.attributes)
    if (attribute.graph)
      for (const ValueInfo &output : attribute.graph->outputs)
        reach(output.name);
}

bool Settings::isSetting(const Node &node, size_t input, bool isNumber) const {
  const SettingInputs *setting = settingAt(node, input);
  return (setting && (isNumber || !setting->isOfNumbers)) ||
         llvm::none_of(node.outputs, [&](const auto &name) { return reached_.contains(name); });
}

} // namespace cleave::onnx
