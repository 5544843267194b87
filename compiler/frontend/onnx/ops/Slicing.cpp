// Slicing: Slice, Split and Pad.
#include "compiler/frontend/emit/Slicing.h"

#include "compiler/frontend/emit/Movement.h"
#include "compiler/frontend/onnx/ops/OpTable.h"

namespace cleave::onnx {
namespace {

using emit::shapeOf;

Value sliceDims(NodeImport &n, const Sizes &starts, const Sizes &ends, const Ints &axes,
                const Ints &steps) {
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    fail("has ", starts.size(), " starts, ", ends.size(), " ends, ", axes.size(), " axes and ",
         steps.size(), " steps, expected equally many");
  Value x = n.input(0);
  n.axes(axes, n.rank());
  for (size_t i = 0; i < starts.size(); ++i)
    x = emit::sliceDim(n, x, n.axis(axes[i], n.rank()), starts[i], ends[i], steps[i]);
  return x;
}

// Before opset 10: starts, ends and axes are attributes.
Values importSlice1(NodeImport &n) {
  n.checkInputs(1, 1);
  Ints starts = n.integers("starts").value_or(Ints()), ends = n.integers("ends").value_or(Ints());
  Ints axes = n.integers("axes").value_or(emit::dimsFrom(0, static_cast<int64_t>(starts.size())));
  return {sliceDims(n, emit::toShape(starts), emit::toShape(ends), axes, Ints(starts.size(), 1))};
}

Values importSlice10(NodeImport &n) {
  n.checkInputs(3, 5);
  Sizes starts = n.sizesInput(1, "starts"), ends = n.sizesInput(2, "ends");
  Ints axes = emit::dimsFrom(0, static_cast<int64_t>(starts.size())), steps(starts.size(), 1);
  if (n.hasInput(3))
    axes = n.integersInput(3, "axes");
  if (n.hasInput(4))
    steps = n.integersInput(4, "steps");
  return {sliceDims(n, starts, ends, axes, steps)};
}

Values split(NodeImport &n, std::optional<Sizes> sizes, bool unevenAllowed) {
  Value x = n.input(0);
  int64_t axis = n.axisAttribute(0);
  auto count = static_cast<int64_t>(n.node.outputs.size());
  if (!sizes)
    sizes = emit::piecesBy(n, shapeOf(x)[axis], count, unevenAllowed);
  if (static_cast<int64_t>(sizes->size()) != count)
    fail("has ", count, " outputs for ", sizes->size(), " pieces");
  return emit::split(n, x, axis, *sizes);
}

Values importSplit2(NodeImport &n) {
  n.checkInputs(1, 1);
  std::optional<Ints> sizes = n.integers("split");
  return split(n, sizes ? std::optional(emit::toShape(*sizes)) : std::nullopt, false);
}

std::optional<Sizes> sizesInput(NodeImport &n) {
  n.checkInputs(1, 2);
  return n.hasInput(1) ? std::optional(n.sizesInput(1, "sizes")) : std::nullopt;
}

Values importSplit13(NodeImport &n) { return split(n, sizesInput(n), false); }

Values importSplit18(NodeImport &n) {
  int64_t count = n.integer("num_outputs", static_cast<int64_t>(n.node.outputs.size()));
  if (count != static_cast<int64_t>(n.node.outputs.size()))
    fail("has ", n.node.outputs.size(), " outputs, but num_outputs is ", count);
  return split(n, sizesInput(n), true);
}

Bindings importSplitToSequence(NodeImport &n) {
  n.checkInputs(1, 2);
  Value x = n.input(0);
  int64_t axis = n.axisAttribute(0);
  bool keepDims = n.integer("keepdims", 1), bySize = n.hasInput(1) && n.rank(1) == 0;
  Sizes sizes;
  if (bySize && n.sizesInput(1, "size")[0].constant().value_or(1) < 1)
    fail("cuts a dim into pieces of less than 1 element");
  if (n.hasInput(1) && !bySize)
    sizes = n.sizesInput(1, "sizes");
  else
    sizes = emit::piecesOf(n, shapeOf(x)[axis], bySize ? n.sizesInput(1, "size")[0] : 1);
  Values pieces = emit::split(n, x, axis, sizes);
  if (!n.hasInput(1) && !keepDims)
    for (Value &piece : pieces)
      piece = n.dropDim(piece, axis);
  return {{pieces, /*isSequence=*/true}};
}

emit::PadMode readMode(NodeImport &n) {
  std::string mode = n.string("mode", "constant");
  if (mode == "constant")
    return emit::PadMode::Constant;
  if (mode == "edge")
    return emit::PadMode::Edge;
  if (mode == "reflect")
    return emit::PadMode::Reflect;
  if (mode == "wrap")
    return emit::PadMode::Wrap;
  fail("attribute 'mode' is '", mode, "', expected constant, reflect, edge or wrap");
}

Value padDims(NodeImport &n, const Sizes &pads, const Ints &axes, double value) {
  Value x = n.input(0);
  emit::PadMode mode = readMode(n);
  n.axes(axes, n.rank());
  size_t count = axes.size();
  if (pads.size() != 2 * count)
    fail("has ", pads.size(), " pads for ", count, " dims, expected twice as many");
  for (const Polynomial &pad : pads)
    if (std::abs(pad.constant().value_or(0)) > (int64_t(1) << 40))
      fail("pads by ", pad.str(), " elements");
  for (size_t i = 0; i < count; ++i)
    x = emit::padDim(n, x, n.axis(axes[i], n.rank()), pads[i], pads[count + i], mode, value);
  return x;
}

Values importPad2(NodeImport &n) {
  n.checkInputs(1, 1);
  double value = n.decimal("value", 0);
  Ints pads = n.integers("pads").value_or(Ints());
  return {padDims(n, emit::toShape(pads), emit::dimsFrom(0, n.rank()), value)};
}

Values importPad11(NodeImport &n) {
  n.checkInputs(2, 4);
  Sizes pads = n.sizesInput(1, "pads");
  double value = n.hasInput(2) ? n.decimalInput(2, "value") : 0;
  Ints axes = n.hasInput(3) ? n.integersInput(3, "axes") : emit::dimsFrom(0, n.rank());
  return {padDims(n, pads, axes, value)};
}

constexpr OpEntry kSlicingOps[] = {
    {"Pad", 2, importPad2},       {"Pad", 11, importPad11},
    {"Slice", 1, importSlice1},   {"Slice", 10, importSlice10},
    {"Split", 2, importSplit2},   {"Split", 13, importSplit13},
    {"Split", 18, importSplit18}, {"SplitToSequence", 11, importSplitToSequence},
};

} // namespace

llvm::ArrayRef<OpEntry> slicingOps() { return kSlicingOps; }

} // namespace cleave::onnx
