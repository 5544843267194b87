// Indexing: Gather and OneHot.
#include "compiler/frontend/emit/Indexing.h"

#include "compiler/frontend/emit/Slicing.h"
#include "compiler/frontend/onnx/ops/OpTable.h"
#include "compiler/frontend/onnx/parameters/Metadata.h"

namespace cleave::onnx {
namespace {

Values importGather(NodeImport &n) {
  n.checkInputs(2, 2);
  // Indices of PyTorch's embedding are never negative. PyTorch's older exporter records only the
  // module of a node: an embedding is a node that reads a module's `weight`.
  std::optional<FxNode> fx = fxNodeOf(n.node);
  if (fx && fx->target == "aten.embedding.default" && n.axisAttribute(0) == 0 && n.rank(0) == 2)
    return {
        emit::embedding(n, n.input(0), n.input(1),
                        {static_cast<int64_t>(fx->number(2).value_or(-1)), fx->text(3) == "True"})};
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
  if (depth < 1 || emit::shapeOf(values) != Sizes{2})
    fail("has depth ", depth, " and values ", emit::showShape(emit::shapeOf(values)),
         ", expected at least 1 and [2]");
  Value off = emit::takeOne(n, values, 0, 0), on = emit::takeOne(n, values, 0, 1);
  Value indices = n.input(0);
  // The format allows indices of any numeric type, including types that cannot represent `depth`.
  indices = n.cast(indices, n.b.getI64Type());
  return {emit::oneHot(n, indices, depth, axis, on, off)};
}

constexpr OpEntry kIndexingOps[] = {
    {"Gather", 1, importGather},
    {"OneHot", 9, importOneHot},
};

} // namespace

llvm::ArrayRef<OpEntry> indexingOps() { return kIndexingOps; }

} // namespace cleave::onnx
