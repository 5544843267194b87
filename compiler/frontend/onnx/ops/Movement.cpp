// Movement: operators that change shape or order, repeat or join tensors. Slices are in
// Slicing.cpp.
#include "compiler/frontend/emit/Movement.h"

#include "compiler/frontend/emit/Indexing.h"
#include "compiler/frontend/onnx/ops/OpTable.h"

#include <algorithm>

namespace cleave::onnx {
namespace {

using emit::shapeOf;

// The new shape: 0 copies a dim of the operand (unless `allowzero`), one -1 stands for the
// remaining elements.
Values importReshape(NodeImport &n) {
  n.checkInputs(2, 2);
  bool zeroCopies = !n.integer("allowzero", 0);
  return {emit::reshapeTo(n, n.input(0), n.sizesInput(1, "shape"), zeroCopies)};
}

Values importFlatten(NodeImport &n) {
  n.checkInputs(1, 1);
  int64_t axis = n.integer("axis", 1);
  if (axis != n.rank()) // an axis behind the last dim is allowed
    axis = n.axis(axis, n.rank());
  return {emit::flattenToMatrix(n, n.input(0), axis)};
}

// The axes at the attribute (before opset 13) or at input 1.
std::optional<Ints> readAxes(NodeImport &n, bool asInput) {
  n.checkInputs(1, asInput ? 2 : 1);
  if (!asInput)
    return n.integers("axes");
  return n.hasInput(1) ? std::optional(n.integersInput(1, "axes")) : std::nullopt;
}

template <bool asInput> Values importSqueeze(NodeImport &n) {
  std::optional<Ints> axes = readAxes(n, asInput);
  Value x = n.input(0);
  return {axes ? emit::squeeze(n, x, n.axes(*axes, n.rank())) : emit::squeezeAll(n, x)};
}

template <bool asInput> Values importUnsqueeze(NodeImport &n) {
  std::optional<Ints> axes = readAxes(n, asInput);
  if (!axes)
    fail("the axes are missing");
  int64_t rank = n.rank() + static_cast<int64_t>(axes->size());
  return {emit::unsqueeze(n, n.input(0), n.axes(*axes, rank))};
}

Values importTranspose(NodeImport &n) {
  n.checkInputs(1, 1);
  Ints backwards = emit::dimsFrom(0, n.rank());
  std::reverse(backwards.begin(), backwards.end());
  Ints permutation = n.integers("perm").value_or(backwards), sorted = permutation;
  llvm::sort(sorted);
  if (sorted != emit::dimsFrom(0, n.rank()))
    fail("attribute 'perm' ", emit::showInts(permutation), " is not a permutation of ", n.rank(),
         " dims");
  return {n.transpose(n.input(0), permutation)};
}

Values importExpand(NodeImport &n) {
  n.checkInputs(2, 2);
  return {emit::expand(n, n.input(0), n.sizesInput(1, "shape"))};
}

Values importTile(NodeImport &n) {
  n.checkInputs(2, 2);
  return {emit::tile(n, n.input(0), n.sizesInput(1, "repeats"))};
}

Values importConcat(NodeImport &n) {
  Values all = n.allInputs();
  return {n.concat(all, n.axis(n.requiredInteger("axis"), n.rank()))};
}

Values importDepthToSpace(NodeImport &n) {
  n.checkInputs(1, 1);
  bool depthFirst = n.string("mode", "DCR") == "CRD";
  return {emit::depthToSpace(n, n.input(0), n.requiredInteger("blocksize"), depthFirst)};
}

Values importSpaceToDepth(NodeImport &n) {
  n.checkInputs(1, 1);
  return {emit::spaceToDepth(n, n.input(0), n.requiredInteger("blocksize"))};
}

// The triangle that `upper` selects, shifted by input 1; other elements become 0.
Values importTrilu(NodeImport &n) {
  n.checkInputs(1, 2);
  bool upper = n.integer("upper", 1);
  Polynomial shift;
  if (n.hasInput(1))
    shift = n.sizeOf(n.input(1), "diagonal");
  return {emit::triangle(n, n.input(0), upper, shift)};
}

constexpr OpEntry kMovementOps[] = {
    {"Concat", 4, importConcat},
    {"DepthToSpace", 1, importDepthToSpace},
    {"Expand", 8, importExpand},
    {"Flatten", 1, importFlatten},
    {"Reshape", 5, importReshape},
    {"SpaceToDepth", 1, importSpaceToDepth},
    {"Squeeze", 1, importSqueeze<false>},
    {"Squeeze", 13, importSqueeze<true>},
    {"Tile", 6, importTile},
    {"Transpose", 1, importTranspose},
    {"Trilu", 14, importTrilu},
    {"Unsqueeze", 1, importUnsqueeze<false>},
    {"Unsqueeze", 13, importUnsqueeze<true>},
};

} // namespace

llvm::ArrayRef<OpEntry> movementOps() { return kMovementOps; }

} // namespace cleave::onnx
