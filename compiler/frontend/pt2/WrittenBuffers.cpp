// See WrittenBuffers.h.
#include "compiler/frontend/pt2/WrittenBuffers.h"

#include "compiler/frontend/aten/Aten.h"

namespace cleave::pt2 {

// Whether the node's operator writes to its first argument: `torch.ops.aten.add_.Tensor`.
static bool isInPlace(const Node &node) {
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(node.target).split(parts, '.');
  return parts.size() >= 4 && aten::isInPlace((parts[2] + "::" + parts[3]).str());
}

// Whether the node's result has the elements of its first argument, in another form or repeated.
static bool isCopy(const Node &node) {
  static const std::set<std::string> copies = {
      "_to_copy",    "_unsafe_view",    "alias",  "clone",   "contiguous", "detach", "expand",
      "expand_copy", "lift_fresh_copy", "repeat", "reshape", "squeeze",    "to",     "unsqueeze",
      "view",        "view_copy"};
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(node.target).split(parts, '.');
  return parts.size() >= 4 && parts[2] == "aten" && copies.contains(parts[3].str());
}

std::set<std::string> writtenBuffers(const Program &program) {
  std::map<std::string, std::string> byName; // value -> buffer
  for (const InputSpec &input : program.inputs)
    if (input.kind == InputSpec::Kind::Buffer)
      byName[input.name] = input.target;
  std::set<std::string> out;
  for (const OutputSpec &output : program.outputs)
    if (output.kind == OutputSpec::Kind::Buffer)
      out.insert(output.target);
  std::map<std::string, std::string> copies = byName; // value -> buffer whose elements it has
  for (const Node &node : program.graph.nodes) {
    if (isCopy(node) && !node.inputs.empty() && !node.outputs.empty())
      if (auto source = copies.find(node.inputs[0].value.text); source != copies.end())
        copies.emplace(node.outputs[0].text, source->second);
    bool writes = isInPlace(node);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const NamedArgument &input = node.inputs[i];
      const bool isStatistics = input.name == "running_mean" || input.name == "running_var";
      const std::map<std::string, std::string> &names = isStatistics ? copies : byName;
      if (auto found = names.find(input.value.text);
          ((i == 0 && writes) || isStatistics) && found != names.end())
        out.insert(found->second);
    }
  }
  return out;
}

} // namespace cleave::pt2
