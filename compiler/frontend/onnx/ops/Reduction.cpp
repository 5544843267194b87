// Reductions over some dims, which are removed or kept with size 1.
#include "compiler/frontend/emit/Reductions.h"

#include "compiler/frontend/emit/Ordering.h"
#include "compiler/frontend/onnx/ops/OpTable.h"
#include "compiler/frontend/onnx/parameters/Metadata.h"

namespace cleave::onnx {
namespace {

using emit::Summary;

// Whether the node is PyTorch's max or min along a dim, which gives the gradient to one of equal
// elements.
bool choosesOne(const Node &node) {
  std::optional<FxNode> origin = fxNodeOf(node);
  return origin && (origin->target == "aten.max.dim" || origin->target == "aten.min.dim");
}

Values reduceOver(NodeImport &n, Summary summary, const std::optional<Ints> &axes) {
  bool keep = n.integer("keepdims", 1), nothingIfEmpty = n.integer("noop_with_empty_axes", 0);
  Ints over = emit::dimsFrom(0, n.rank());
  if (axes && !axes->empty())
    over = n.axes(*axes, n.rank());
  else if (nothingIfEmpty)
    over.clear(); // each element is reduced alone
  bool isExtreme = summary == Summary::Max || summary == Summary::Min;
  if (isExtreme && over.size() == 1 && emit::isFloat(n.input(0)) && choosesOne(n.node)) {
    Value one = emit::chosenExtreme(n, n.input(0), over[0], summary == Summary::Max);
    return {keep ? one : n.dropDim(one, over[0])};
  }
  return {emit::summarise(n, summary, n.input(0), over, keep)};
}

// With the axes as an attribute.
template <Summary summary> Values byAttribute(NodeImport &n) {
  n.checkInputs(1, 1);
  return reduceOver(n, summary, n.integers("axes"));
}

// With the axes as an input.
template <Summary summary> Values byInput(NodeImport &n) {
  n.checkInputs(1, 2);
  return reduceOver(n, summary,
                    n.hasInput(1) ? std::optional(n.integersInput(1, "axes")) : std::nullopt);
}

constexpr OpEntry kReductionOps[] = {
    {"ReduceL1", 1, byAttribute<Summary::L1>},
    {"ReduceL1", 18, byInput<Summary::L1>},
    {"ReduceL2", 1, byAttribute<Summary::L2>},
    {"ReduceL2", 18, byInput<Summary::L2>},
    {"ReduceLogSum", 1, byAttribute<Summary::LogSum>},
    {"ReduceLogSum", 18, byInput<Summary::LogSum>},
    {"ReduceLogSumExp", 1, byAttribute<Summary::LogSumExp>},
    {"ReduceLogSumExp", 18, byInput<Summary::LogSumExp>},
    {"ReduceMax", 1, byAttribute<Summary::Max>},
    {"ReduceMax", 18, byInput<Summary::Max>},
    {"ReduceMean", 1, byAttribute<Summary::Mean>},
    {"ReduceMean", 18, byInput<Summary::Mean>},
    {"ReduceMin", 1, byAttribute<Summary::Min>},
    {"ReduceMin", 18, byInput<Summary::Min>},
    {"ReduceProd", 1, byAttribute<Summary::Prod>},
    {"ReduceProd", 18, byInput<Summary::Prod>},
    {"ReduceSum", 1, byAttribute<Summary::Sum>},
    {"ReduceSum", 13, byInput<Summary::Sum>},
    {"ReduceSumSquare", 1, byAttribute<Summary::SumSquare>},
    {"ReduceSumSquare", 18, byInput<Summary::SumSquare>},
};

} // namespace

llvm::ArrayRef<OpEntry> reductionOps() { return kReductionOps; }

} // namespace cleave::onnx
