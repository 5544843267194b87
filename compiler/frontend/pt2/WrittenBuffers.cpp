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

std::set<std::string> writtenBuffers(const Program &program) {
  std::map<std::string, std::string> byName; // value -> buffer
  for (const InputSpec &input : program.inputs)
    if (input.kind == InputSpec::Kind::Buffer)
      byName[input.name] = input.target;
  std::set<std::string> out;
  for (const OutputSpec &output : program.outputs)
    if (output.kind == OutputSpec::Kind::Buffer)
      out.insert(output.target);
  for (const Node &node : program.graph.nodes) {
    bool writes = isInPlace(node);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const NamedArgument &input = node.inputs[i];
      bool isWritten =
          (i == 0 && writes) || input.name == "running_mean" || input.name == "running_var";
      if (auto found = byName.find(input.value.text); isWritten && found != byName.end())
        out.insert(found->second);
    }
  }
  return out;
}

} // namespace cleave::pt2
