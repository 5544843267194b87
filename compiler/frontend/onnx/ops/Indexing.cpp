// Indexing: rows chosen by numbers in another tensor.
#include "compiler/frontend/emit/Indexing.h"

#include "compiler/frontend/emit/Slicing.h"
#include "compiler/frontend/onnx/parameters/Metadata.h"
#include "compiler/frontend/onnx/ops/OpTable.h"

namespace cleave::onnx {
namespace {

Values importGather(NodeImport &n) {
  n.checkInputs(2, 2);
  // PyTorch's embedding takes no negative indices. The older exporter says only in which module a node stands: an embedding
  // is one that looks up some module's `weight`.
  std::optional<FxNode> fx = fxNodeOf(n.node);
  bool neverNegative = fx ? fx->target.starts_with("aten.embedding")
                          : !moduleOf(n.node).empty() && n.rank(0) == 2 &&
                                llvm::StringRef(n.node.inputs[0]).ends_with(".weight");
  return {emit::gather(n, n.input(0), n.input(1), n.axisAttribute(0), neverNegative)};
}

Values importOneHot(NodeImport &n) {
  n.checkInputs(3, 3);
  Value values = n.input(2);
  int64_t depth = emit::truncated(n.decimalInput(1, "depth"));
  int64_t axis = n.axisAttribute(-1, n.rank() + 1);
  if (depth < 1 || emit::shapeOf(values) != Shape{2})
    fail("has depth " + std::to_string(depth) + " and values " +
         emit::showShape(emit::shapeOf(values)) + ", expected at least 1 and [2]");
  Value off = emit::takeOne(n, values, 0, 0), on = emit::takeOne(n, values, 0, 1);
  Value indices = n.input(0);
  // The format allows any numbers, also those that cannot count to `depth`.
  indices = n.cast(indices, n.b.getI64Type());
  return {emit::oneHot(n, indices, depth, axis, on, off)};
}

constexpr OpEntry kOps[] = {
    {"Gather", 1, importGather},
    {"OneHot", 9, importOneHot},
};

} // namespace

llvm::ArrayRef<OpEntry> indexingOps() { return kOps; }

} // namespace cleave::onnx
