// Coordinates: elements gathered and scattered along one or several dims; top k, cumulative sums,
// reversed sequences.
#include "compiler/frontend/emit/Coordinates.h"

#include "compiler/frontend/emit/Ordering.h"
#include "compiler/frontend/onnx/ops/OpTable.h"
#include "compiler/frontend/onnx/parameters/Metadata.h"

namespace cleave::onnx {
namespace {

using namespace emit;

Values importGatherElements(NodeImport &n) {
  n.checkInputs(2, 2);
  // Indices of PyTorch's gather are never negative.
  std::optional<FxNode> fx = fxNodeOf(n.node);
  bool neverNegative = fx && fx->target.starts_with("aten.gather");
  return {gatherElements(n, n.input(0), n.input(1), n.axisAttribute(0), neverNegative)};
}

// The coordinates at input 1, [..., count]: at most one per dim of the data.
Values coordinatesInput(NodeImport &n) {
  int64_t count = n.number(shapeOf(n.input(1)).back(), "number of coordinates");
  if (count > n.rank())
    fail("has ", count, " coordinates for ", n.rank(), " dims");
  return coordinatesOf(n, n.input(1));
}

Values importGatherND(NodeImport &n) {
  n.checkInputs(2, 2);
  int64_t batch = n.integer("batch_dims", 0);
  if (batch < 0 || batch >= std::min(n.rank(0), n.rank(1)))
    fail("attribute 'batch_dims' is ", batch, ", expected fewer than the dims of both operands");
  return {gatherAt(n, n.input(0), coordinatesInput(n), batch, batch)};
}

Combine combineAttribute(NodeImport &n) {
  std::string name = n.string("reduction", "none");
  for (auto [known, combine] : {std::pair("none", Combine::Replace), std::pair("add", Combine::Add),
                                std::pair("mul", Combine::Mul), std::pair("max", Combine::Max),
                                std::pair("min", Combine::Min)})
    if (name == known)
      return combine;
  fail("attribute 'reduction' is '", name, "', expected none, add, mul, max or min");
}

// The format has no mean. PyTorch's exporter writes a replacement instead, where the last of
// several elements wins.
void refuseMean(const NodeImport &n) {
  std::optional<FxNode> fx = fxNodeOf(n.node);
  if (fx && fx->target == "aten.scatter_reduce.two" && fx->text(4) == "mean")
    fail("stands for a mean of PyTorch's scatter_reduce, which the exporter wrote as a "
         "replacement; export to .pt2 instead");
}

Values importScatterElements(NodeImport &n) {
  n.checkInputs(3, 3);
  refuseMean(n);
  return {scatterElements(n, n.input(0), n.input(1), n.input(2), n.axisAttribute(0),
                          combineAttribute(n))};
}

Values importScatterND(NodeImport &n) {
  n.checkInputs(3, 3);
  return {scatterAt(n, n.input(0), coordinatesInput(n), n.input(2), 0, combineAttribute(n))};
}

Values importReverseSequence(NodeImport &n) {
  n.checkInputs(2, 2);
  return {reverseSequence(n, n.input(0), n.input(1), n.integer("time_axis", 0),
                          n.integer("batch_axis", 1))};
}

Values topKOf(NodeImport &n, const Polynomial &k) {
  bool largest = n.integer("largest", 1);
  n.ignore({"sorted"}); // sorted order is allowed in any case
  Ordered top = topK(n, n.input(0), k, n.axisAttribute(-1), largest);
  return {top.values, top.indices};
}

Values importTopK1(NodeImport &n) {
  n.checkInputs(1, 1);
  return topKOf(n, n.requiredInteger("k"));
}

Values importTopK(NodeImport &n) {
  n.checkInputs(2, 2);
  Sizes k = n.sizesInput(1, "number of elements");
  if (k.size() != 1)
    fail("has ", k.size(), " numbers of elements, expected 1");
  return topKOf(n, k[0]);
}

template <bool largest> Values importArgMinMax(NodeImport &n) {
  n.checkInputs(1, 1);
  bool keep = n.integer("keepdims", 1), last = n.integer("select_last_index", 0);
  return {argMinMax(n, n.input(0), n.axisAttribute(0), largest, keep, last)};
}

template <graph::Reduction kind> Values importCumulate(NodeImport &n) {
  n.checkInputs(2, 2);
  bool exclusive = n.integer("exclusive", 0), reverse = n.integer("reverse", 0);
  return {cumulate(n, kind, n.input(0), n.integerInput(1, "axis"), exclusive, reverse)};
}

constexpr OpEntry kCoordinatesOps[] = {
    {"ArgMax", 1, importArgMinMax<true>},
    {"ArgMin", 1, importArgMinMax<false>},
    {"CumProd", 26, importCumulate<graph::Reduction::Prod>},
    {"CumSum", 11, importCumulate<graph::Reduction::Sum>},
    {"GatherElements", 11, importGatherElements},
    {"GatherND", 11, importGatherND},
    {"ReverseSequence", 10, importReverseSequence},
    {"Scatter", 9, importScatterElements},
    {"ScatterElements", 11, importScatterElements},
    {"ScatterND", 11, importScatterND},
    {"TopK", 1, importTopK1},
    {"TopK", 10, importTopK},
};

} // namespace

llvm::ArrayRef<OpEntry> coordinateOps() { return kCoordinatesOps; }

} // namespace cleave::onnx
