// See GpuScores.h; the formulas are those of graph.attention.
#include "passes/codegen/gpu/GpuScores.h"

#include "dialects/graph/Pointwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;

namespace cleave::codegen {

GpuScores::GpuScores(GpuKernel &k, program::KernelOp kernel, const graph::AttentionScores &scores)
    : k_(k), kernel_(kernel), scores_(scores), sizes_(graph::staticShapeOf(scores.query)) {
  sizes_.back() = graph::staticShapeOf(scores.key)[sizes_.size() - 2];
  first_.assign(sizes_.size(), k_.constant(0));
  for (auto [dim, offset] : llvm::zip(scores.offsetDims, scores.offsets))
    first_[dim] = loadScalar(offset);
  firstQuery_ =
      arith::MaxSIOp::create(k_.builder(), k_.loc(), first_[sizes_.size() - 2], k_.constant(0));
  if (scores.drops())
    seed_ = loadScalar(scores.seed);
}

SmallVector<int64_t> GpuScores::groups() const {
  SmallVector<int64_t> groups(heads());
  groups.back() /= perGroup();
  return groups;
}

int64_t GpuScores::columns() const {
  return std::max(graph::staticShapeOf(scores_.query).back(),
                  graph::staticShapeOf(scores_.value).back());
}

bool GpuScores::isFillInfinite() const {
  return scores_.fillValue() == -std::numeric_limits<double>::infinity();
}

Value GpuScores::loadScalar(Value tensor) {
  program::ViewAttr view = kernel_.getOperandView(cast<BlockArgument>(tensor).getArgNumber());
  return k_.load(view.getBuffer(), k_.constant(view.getOffset()), k_.builder().getI64Type());
}

// -- tensors --------------------------------------------------------------------------------------

// The elements of a row that can be read at once: 16 bytes if all rows begin at a multiple of them.
static int vectorOf(int64_t offset, ArrayRef<int64_t> strides, int64_t columns, Type element) {
  const int vector = 128 / static_cast<int>(element.getIntOrFloatBitWidth());
  auto isWhole = [&](int64_t count) { return count % vector == 0; };
  bool isAligned = strides.back() == 1 && isWhole(columns) && isWhole(offset) &&
                   llvm::all_of(strides.drop_back(), isWhole);
  return isAligned ? vector : 1;
}

Matrix GpuScores::matrixOf(program::ViewAttr view, Value tensor, ArrayRef<Value> at) {
  std::vector<int64_t> shape = graph::staticShapeOf(tensor);
  SmallVector<int64_t> strides(view.getStrides());
  if (tensor == scores_.bias || tensor == scores_.mask)
    for (auto [stride, size] : llvm::zip(strides, shape))
      stride = size == 1 ? 0 : stride;
  Value origin = k_.constant(view.getOffset());
  for (auto [index, stride] : llvm::zip(at, strides))
    if (stride != 0)
      origin = k_.add(origin, k_.mul(index, stride));
  const size_t rows = at.size();
  const bool hasColumns = rows + 1 < shape.size();
  Type element = graph::elementTypeOf(tensor);
  return {static_cast<int64_t>(view.getBuffer()),
          origin,
          strides[rows],
          hasColumns ? strides[rows + 1] : 0,
          shape[rows],
          hasColumns ? shape[rows + 1] : 1,
          element,
          hasColumns ? vectorOf(view.getOffset(), strides, shape.back(), element) : 1};
}

Matrix GpuScores::operand(Value tensor, ArrayRef<Value> at) {
  return matrixOf(kernel_.getOperandView(cast<BlockArgument>(tensor).getArgNumber()), tensor, at);
}

Matrix GpuScores::result(unsigned number, ArrayRef<Value> at) {
  return matrixOf(kernel_.getResultView(number), scores_.op->getResult(number), at);
}

void GpuScores::select(ArrayRef<Value> head) {
  head_.assign(head.begin(), head.end());
  if (scores_.bias)
    bias_ = operand(scores_.bias, head);
  if (scores_.mask)
    mask_ = operand(scores_.mask, head);
  if (scores_.drops())
    placeInWhole();
}

SmallVector<Value> GpuScores::group() {
  SmallVector<Value> group(head_);
  if (perGroup() > 1)
    group.back() =
        arith::DivUIOp::create(k_.builder(), k_.loc(), group.back(), k_.constant(perGroup()));
  return group;
}

void GpuScores::placeInWhole() {
  ArrayRef<int64_t> whole = scores_.whole.empty() ? ArrayRef<int64_t>(sizes_) : scores_.whole;
  position_ = k_.constant(0);
  for (auto [d, size] : llvm::enumerate(whole.drop_back())) {
    position_ = k_.add(k_.mul(position_, size), first_[d]);
    if (d < head_.size())
      position_ = k_.add(position_, head_[d]);
  }
}

// -- scores ---------------------------------------------------------------------------------------

Value GpuScores::loadAdded(const Matrix &from, Value exists, Value query, Value key) {
  return k_.guarded(exists, [&] {
    Value place = k_.add(k_.mul(query, from.rowStride), k_.mul(key, from.columnStride));
    return k_.load(from.argument, k_.add(from.origin, place), from.element);
  });
}

bool GpuScores::isNarrow() const {
  return columns() <= 64 && graph::elementTypeOf(scores_.query).getIntOrFloatBitWidth() == 16;
}

GpuScores::Score GpuScores::score(GpuTiles &tiles, Value product, Value query, Value key) {
  OpBuilder &b = k_.builder();
  Type f32 = b.getF32Type();
  Score s;
  s.exists = k_.both(tiles.exists(query, queries()), tiles.exists(key, keys()));
  s.value = arith::MulFOp::create(b, k_.loc(), product, k_.scalar(f32, scores_.scale));
  if (scores_.bias)
    s.value = arith::AddFOp::create(b, k_.loc(), s.value,
                                    k_.widen(loadAdded(bias_, s.exists, query, key)));
  if (scores_.causal)
    s.visible =
        arith::CmpIOp::create(b, k_.loc(), arith::CmpIPredicate::sle, key, causalIndex(query));
  if (scores_.mask)
    s.visible = k_.both(s.visible, loadAdded(mask_, s.exists, query, key));
  s.value = k_.choose(s.visible, s.value, k_.scalar(f32, scores_.fillValue()));
  return s;
}

Value GpuScores::dropFactor(Value query, Value key) {
  OpBuilder &b = k_.builder();
  const int64_t wholeKeys = scores_.whole.empty() ? keys() : scores_.whole.back();
  Value position = k_.add(k_.mul(k_.add(position_, query), wholeKeys), key);
  Value random = graph::buildRandomNumber(b, k_.loc(), position, seed_);
  const double rate = scores_.dropRate(), factor = rate < 1 ? 1 / (1 - rate) : 0;
  Value isKept = arith::CmpFOp::create(b, k_.loc(), arith::CmpFPredicate::OGE, random,
                                       k_.scalar(b.getF32Type(), rate));
  return k_.choose(isKept, k_.scalar(b.getF32Type(), factor), k_.scalar(b.getF32Type(), 0));
}

} // namespace cleave::codegen
