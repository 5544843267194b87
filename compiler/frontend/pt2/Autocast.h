// Mixed precision (torch.autocast). A program shows it in the types of results only: products of
// f32 tensors give 16-bit floats, losses of 16-bit floats give f32. Programs of strict exports do
// not even show these; there the type of the region decides.
#pragma once

#include "compiler/frontend/aten/Aten.h"
#include "compiler/frontend/pt2/Program.h"
#include "compiler/frontend/step/Remark.h"

namespace cleave::pt2 {

// The innermost region of a node in which the model enables or disables autocast.
struct AutocastRegion {
  std::string device; // whose tensors are cast: `cpu`
  ElementType type;   // of products
  bool isEnabled;
};

// The region of a call of wrap_with_autocast(device, type, enabled, cache, graph, …).
AutocastRegion regionOf(const aten::IValueList &arguments);

// Casts the tensors among the arguments of an operator as torch.autocast does in PyTorch, if the
// recorded type of the operator's first result (none if it is not a tensor) says so. `region` is
// the type of products if an enabled region covers the result's device.
void castArguments(aten::Context &context, llvm::StringRef name, std::optional<ElementType> result,
                   std::optional<ElementType> region, aten::IValueList &positional,
                   std::map<std::string, aten::IValue> &keyword);

// Warns where two regions with equal settings follow each other directly. torch.export (2.15) drops
// torch.no_grad() inside a region and splits the region there, but a model may also contain two
// such regions; the file does not distinguish the two cases.
std::vector<frontend::Remark> warningsOfRegions(const Graph &graph);

} // namespace cleave::pt2
