// Movement: the same elements under another shape or order, repeated or joined. Cutting is in
// Slicing.cpp.
#include "compiler/frontend/onnx/NodeImport.h"

#include <numeric>

namespace cleave::onnx {
namespace {

using namespace graph;

// 0 copies a dim of the operand (unless `allowzero`), one -1 is what remains.
Values importReshape(NodeImport &n) {
  n.checkInputs(2, 2);
  Value x = n.input(0);
  Dims dims = n.constantIntegers(1, "shape"), from = dimsOf(x);
  bool allowZero = n.integer("allowzero", 0);
  std::optional<size_t> open;
  int64_t rest = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && !allowZero) {
      if (i >= from.size())
        fail("copies dim " + std::to_string(i) + " of an operand " + showDims(from));
      dims[i] = from[i];
    }
    if (dims[i] < -1 || (dims[i] == -1 && open))
      fail("cannot give " + showDims(from) + " the shape " + showDims(dims));
    if (dims[i] == -1)
      open = i;
    else if (__builtin_mul_overflow(rest, dims[i], &rest))
      fail("cannot give " + showDims(from) + " the shape " + showDims(dims));
  }
  if (open) {
    if (rest == 0 || product(from) % rest)
      fail("cannot give " + showDims(from) + " with " + std::to_string(product(from)) +
           " elements the shape " + showDims(dims));
    dims[*open] = product(from) / rest;
  }
  return {n.reshape(x, dims)};
}

Values importFlatten(NodeImport &n) {
  n.checkInputs(1, 1);
  Value x = n.input(0);
  Dims dims = dimsOf(x);
  int64_t rank = rankOf(x), axis = n.integer("axis", 1);
  if (axis != rank) // one behind the last dim is meant, too
    axis = n.axis(axis, rank);
  int64_t rows = product(llvm::ArrayRef(dims).take_front(axis));
  return {n.reshape(x, {rows, product(llvm::ArrayRef(dims).drop_front(axis))})};
}

// The axes, from the attribute (before opset 13) or the second input.
std::optional<Dims> readAxes(NodeImport &n, bool asInput) {
  n.checkInputs(1, asInput ? 2 : 1);
  if (!asInput)
    return n.integers("axes");
  return n.hasInput(1) ? std::optional(n.constantIntegers(1, "axes")) : std::nullopt;
}

template <bool asInput> Values importSqueeze(NodeImport &n) {
  std::optional<Dims> axes = readAxes(n, asInput);
  Value x = n.input(0);
  Dims from = dimsOf(x), dims;
  std::set<int64_t> dropped;
  if (axes)
    for (int64_t axis : n.axes(*axes, rankOf(x)))
      dropped.insert(axis);
  for (size_t i = 0; i < from.size(); ++i) {
    bool drop = axes ? dropped.contains(static_cast<int64_t>(i)) : from[i] == 1;
    if (drop && from[i] != 1)
      fail("drops dim " + std::to_string(i) + " of size " + std::to_string(from[i]) +
           ", expected size 1");
    if (!drop)
      dims.push_back(from[i]);
  }
  return {n.reshape(x, dims)};
}

template <bool asInput> Values importUnsqueeze(NodeImport &n) {
  std::optional<Dims> axes = readAxes(n, asInput);
  if (!axes)
    fail("the axes are missing");
  Value x = n.input(0);
  Dims dims = dimsOf(x);
  // Ascending, so every axis counts in the final shape.
  for (int64_t axis : n.axes(*axes, rankOf(x) + static_cast<int64_t>(axes->size()))) {
    if (axis > static_cast<int64_t>(dims.size()))
      fail("axis " + std::to_string(axis) + " is out of range");
    dims.insert(dims.begin() + axis, 1);
  }
  return {n.reshape(x, dims)};
}

Values importTranspose(NodeImport &n) {
  n.checkInputs(1, 1);
  Value x = n.input(0);
  Dims backwards(rankOf(x));
  std::iota(backwards.rbegin(), backwards.rend(), 0);
  Dims permutation = n.integers("perm").value_or(backwards);
  Dims sorted = permutation;
  llvm::sort(sorted);
  std::reverse(backwards.begin(), backwards.end());
  if (sorted != backwards)
    fail("attribute 'perm' " + showDims(permutation) + " is no permutation of " +
         std::to_string(rankOf(x)) + " dims");
  return {n.transpose(x, permutation)};
}

Values importExpand(NodeImport &n) {
  n.checkInputs(2, 2);
  Value x = n.input(0);
  Dims dims = n.constantIntegers(1, "shape");
  n.type(dims, elementOf(x));
  return {n.broadcast(x, broadcastDims(dimsOf(x), dims))};
}

// [a, b] -> [1, a, 1, b] -> [r, a, s, b] -> [r a, s b].
Values importTile(NodeImport &n) {
  n.checkInputs(2, 2);
  Value x = n.input(0);
  Dims repeats = n.constantIntegers(1, "repeats"), from = dimsOf(x), split, spread, dims;
  if (repeats.size() != from.size())
    fail("has " + std::to_string(repeats.size()) + " repeats for " + std::to_string(from.size()) +
         " dims");
  for (size_t i = 0; i < from.size(); ++i) {
    split.insert(split.end(), {1, from[i]});
    spread.insert(spread.end(), {repeats[i], from[i]});
  }
  auto spreadType = n.type(spread, elementOf(x));
  for (size_t i = 0; i < from.size(); ++i)
    dims.push_back(repeats[i] * from[i]);
  if (dims == from || spreadType.getNumElements() == 0)
    return {dims == from
                ? x
                : n.broadcast(buildSplat(n.b, n.loc, n.type(dims, elementOf(x)), 0), dims)};
  return {n.reshape(n.broadcast(n.reshape(x, split), spread), dims)};
}

Values importConcat(NodeImport &n) {
  Values all = n.allInputs();
  int64_t axis = n.axis(n.requiredInteger("axis"), rankOf(all[0]));
  int64_t total = 0;
  for (Value value : all) {
    n.checkSameType(all[0], value);
    Dims expected = dimsOf(all[0]), found = dimsOf(value);
    if (found.size() == expected.size()) {
      total += found[axis];
      expected[axis] = found[axis];
    }
    if (found != expected)
      fail("joins shapes " + showDims(dimsOf(all[0])) + " and " + showDims(found) + " along dim " +
           std::to_string(axis) + ": the other dims differ");
  }
  Dims dims = dimsOf(all[0]);
  dims[axis] = total;
  n.type(dims, elementOf(all[0]));
  if (all.size() == 1)
    return {all[0]};
  return {ConcatOp::create(n.b, n.loc, all, axis)};
}

// Blocks of pixels and groups of channels change places.
Values importDepthToSpace(NodeImport &n) {
  n.checkInputs(1, 1);
  Value x = n.input(0);
  Dims d = dimsOf(x);
  int64_t block = n.requiredInteger("blocksize");
  bool depthFirst = n.text("mode", "DCR") == "DCR";
  if (d.size() != 4 || block < 1 || block > 1024 || d[1] % (block * block))
    fail("has data " + showDims(d) + " and blocks of " + std::to_string(block) +
         ": the channels do not fit");
  int64_t channels = d[1] / (block * block);
  Dims split = depthFirst ? Dims{d[0], block, block, channels, d[2], d[3]}
                          : Dims{d[0], channels, block, block, d[2], d[3]};
  Dims order = depthFirst ? Dims{0, 3, 4, 1, 5, 2} : Dims{0, 1, 4, 2, 5, 3};
  return {n.reshape(n.transpose(n.reshape(x, split), order),
                    {d[0], channels, d[2] * block, d[3] * block})};
}

Values importSpaceToDepth(NodeImport &n) {
  n.checkInputs(1, 1);
  Value x = n.input(0);
  Dims d = dimsOf(x);
  int64_t block = n.requiredInteger("blocksize");
  if (d.size() != 4 || block < 1 || block > 1024 || d[2] % block || d[3] % block)
    fail("has data " + showDims(d) + " and blocks of " + std::to_string(block) +
         ": the sides do not fit");
  Value split = n.reshape(x, {d[0], d[1], d[2] / block, block, d[3] / block, block});
  Value moved = n.transpose(split, Dims{0, 3, 5, 1, 2, 4});
  return {n.reshape(moved, {d[0], d[1] * block * block, d[2] / block, d[3] / block})};
}

// The triangle that `upper` names, shifted by k; the rest becomes zero.
Values importTrilu(NodeImport &n) {
  n.checkInputs(1, 2);
  Value x = n.input(0);
  Dims dims = dimsOf(x);
  if (dims.size() < 2)
    fail("has data " + showDims(dims) + ", expected at least 2 dims");
  bool upper = n.integer("upper", 1);
  int64_t k = n.hasInput(1) ? n.constantInteger(1, "diagonal") : 0;
  Dims matrix(dims.end() - 2, dims.end());
  auto type = mlir::RankedTensorType::get(matrix, n.b.getI64Type());
  Value row = IotaOp::create(n.b, n.loc, type, 0), column = IotaOp::create(n.b, n.loc, type, 1);
  if (k)
    row = AddOp::create(n.b, n.loc, row, n.splat(row, static_cast<double>(k)));
  Value keep = CompareOp::create(n.b, n.loc, upper ? Predicate::GE : Predicate::LE, column, row);
  return {SelectOp::create(n.b, n.loc, x.getType(), n.broadcast(keep, dims), x, n.splat(x, 0))};
}

constexpr OpEntry kOps[] = {
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

llvm::ArrayRef<OpEntry> movementOps() { return kOps; }

} // namespace cleave::onnx
