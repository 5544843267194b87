// Indexing: rows chosen by numbers in another tensor.
#include "compiler/frontend/onnx/Metadata.h"
#include "compiler/frontend/onnx/NodeImport.h"

#include <algorithm>

namespace cleave::onnx {
namespace {

using namespace graph;

void checkIndices(Value indices) {
  if (!mlir::isa<mlir::IntegerType>(elementOf(indices)) || elementOf(indices).isInteger(1))
    fail("has indices of " + typeNameOf(indices) + ", expected integers");
}

// Positions count up from 0, and PyTorch's embedding takes no negative ones.
bool isNeverNegative(NodeImport &n, Value indices) {
  if (std::optional<FxNode> fx = fxNodeOf(n.node); fx && fx->target.starts_with("aten.embedding"))
    return true;
  if (indices.getDefiningOp<IotaOp>())
    return true;
  std::optional<Tensor> known = n.services.evaluator.evaluate(indices);
  return known &&
         std::all_of(known->values.begin(), known->values.end(), [](double i) { return i >= 0; });
}

// Negative indices count from the end.
Value countFromFront(NodeImport &n, Value indices, int64_t size) {
  if (isNeverNegative(n, indices))
    return indices;
  Value negative = CompareOp::create(n.b, n.loc, Predicate::LT, indices, n.splat(indices, 0));
  Value wrapped = AddOp::create(n.b, n.loc, indices, n.splat(indices, static_cast<double>(size)));
  return SelectOp::create(n.b, n.loc, indices.getType(), negative, wrapped, indices);
}

// One known index is a slice.
Value takeOne(NodeImport &n, Value x, int64_t dim, int64_t index) {
  Dims dims = dimsOf(x);
  index = index < 0 ? index + dims[dim] : index;
  if (index < 0 || index >= dims[dim])
    fail("takes element " + std::to_string(index) + " of dim " + std::to_string(dim) + " of " +
         showDims(dims));
  dims.erase(dims.begin() + dim);
  return n.reshape(n.slice(x, dim, index, 1), dims);
}

Values importGather(NodeImport &n) {
  n.checkInputs(2, 2);
  Value x = n.input(0), indices = n.input(1);
  checkIndices(indices);
  int64_t dim = n.axis(n.integer("axis", 0), rankOf(x));
  if (rankOf(indices) == 0)
    if (std::optional<Tensor> known = n.services.evaluator.evaluate(indices))
      return {takeOne(n, x, dim, static_cast<int64_t>(known->values[0]))};
  Dims dims = dimsOf(x), at = dimsOf(indices);
  Dims result(dims.begin(), dims.begin() + dim);
  result.insert(result.end(), at.begin(), at.end());
  result.insert(result.end(), dims.begin() + dim + 1, dims.end());
  n.type(result, elementOf(x));
  return {GatherOp::create(n.b, n.loc, x, countFromFront(n, indices, dims[dim]), dim)};
}

// on or off, by comparing every position of the new dim with the index.
Values importOneHot(NodeImport &n) {
  n.checkInputs(3, 3);
  Value indices = n.input(0), values = n.input(2);
  checkIndices(indices);
  int64_t depth = static_cast<int64_t>(n.constantNumber(1, "depth"));
  Dims dims = dimsOf(indices);
  int64_t axis = n.axis(n.integer("axis", -1), rankOf(indices) + 1);
  if (depth < 1 || dimsOf(values) != Dims{2})
    fail("has depth " + std::to_string(depth) + " and values " + showDims(dimsOf(values)) +
         ", expected at least 1 and [2]");
  Dims column = dims, full = dims;
  column.insert(column.begin() + axis, 1);
  full.insert(full.begin() + axis, depth);
  Value at = n.broadcast(n.reshape(countFromFront(n, indices, depth), column), full);
  auto type = n.type(full, elementOf(indices));
  Value hit =
      CompareOp::create(n.b, n.loc, Predicate::EQ, IotaOp::create(n.b, n.loc, type, axis), at);
  auto pick = [&](int64_t i) { return n.broadcast(n.reshape(n.slice(values, 0, i, 1), {}), full); };
  Value off = pick(0), on = pick(1);
  return {SelectOp::create(n.b, n.loc, on.getType(), hit, on, off)};
}

constexpr OpEntry kOps[] = {
    {"Gather", 1, importGather},
    {"OneHot", 9, importOneHot},
};

} // namespace

llvm::ArrayRef<OpEntry> indexingOps() { return kOps; }

} // namespace cleave::onnx
