// See Affine.h.
#include "passes/simplify/Affine.h"

#include <cmath>

using namespace mlir;

namespace cleave::simplify {
namespace {

using namespace graph;

constexpr int kMaxAffineDepth = 32;          // ops on one path
constexpr int64_t kMaxAffineElements = 4096; // of a table that is looked at
constexpr int64_t kLeastSymbol = 2;
const Polynomial kOne(1), kZero;

// Whether sums of positions are exact in this type.
bool holdsPositions(Type element) {
  if (isa<FloatType>(element))
    return element.isF32() || element.isF64();
  return element.getIntOrFloatBitWidth() >= 32;
}

// Whether a type holds all numbers from `least` to `most`: integers do not wrap around, and floats
// have no gaps.
bool holds(Type element, double least, double most) {
  if (isa<FloatType>(element)) {
    double limit = element.isF32() ? 0x1p24 : 0x1p53;
    return least >= -limit && most <= limit;
  }
  int bits = static_cast<int>(element.getIntOrFloatBitWidth());
  if (element.isUnsignedInteger())
    return least >= 0 && most < std::ldexp(1, bits);
  double limit = std::ldexp(1, bits - 1);
  return least >= -limit && most < limit;
}

// Whether the elements of `value` are those of the affine form, not these wrapped around or
// rounded. With symbols they are taken to be.
bool isExact(const Affine &affine, Value value) {
  std::optional<int64_t> constant = affine.constant.constant();
  if (!constant)
    return true;
  double least = static_cast<double>(*constant), most = least;
  for (auto [step, size] : llvm::zip(affine.steps, shapeOf(value))) {
    std::optional<int64_t> by = step.constant(), count = size.constant();
    if (!by || !count)
      return true;
    double last = static_cast<double>(*by) * static_cast<double>(std::max<int64_t>(*count - 1, 0));
    (last < 0 ? least : most) += last;
  }
  return (least == most && isa<FloatType>(elementTypeOf(value))) ||
         holds(elementTypeOf(value), least, most);
}

Affine constantOf(const Polynomial &number, size_t rank) {
  return {number, SmallVector<Polynomial>(rank, kZero)};
}

// -- reshapes

// Groups of neighbouring dims of both shapes with equal numbers of elements. Dims of size one are
// in no group.
struct Group {
  SmallVector<size_t> from, to;
};

// Multiplies the smaller side by its next dim; false if the sizes cannot be compared.
bool grow(Polynomial &a, Polynomial &b, Group &group, ArrayRef<size_t> from, ArrayRef<size_t> to,
          size_t &i, size_t &j, const Shape &fromShape, const Shape &toShape) {
  std::optional<int64_t> x = a.constant(), y = b.constant();
  bool growsFrom = x && y ? *x < *y : b.dividedBy(a).has_value();
  if (!growsFrom && !(x && y) && !a.dividedBy(b))
    return false;
  if ((growsFrom && i == from.size()) || (!growsFrom && j == to.size()))
    return false;
  if (growsFrom) {
    a *= fromShape[from[i]];
    group.from.push_back(from[i++]);
  } else {
    b *= toShape[to[j]];
    group.to.push_back(to[j++]);
  }
  return true;
}

SmallVector<size_t> properDims(const Shape &shape) {
  SmallVector<size_t> dims;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    if (shape[dim] != kOne)
      dims.push_back(dim);
  return dims;
}

std::optional<SmallVector<Group>> groupsOf(const Shape &fromShape, const Shape &toShape) {
  SmallVector<size_t> from = properDims(fromShape), to = properDims(toShape);
  SmallVector<Group> groups;
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    Polynomial a = fromShape[from[i]], b = toShape[to[j]];
    Group group{{from[i++]}, {to[j++]}};
    while (a != b)
      if (!grow(a, b, group, from, to, i, j, fromShape, toShape))
        return std::nullopt;
    groups.push_back(std::move(group));
  }
  if (i < from.size() || j < to.size())
    return std::nullopt;
  return groups;
}

// A group can be reshaped if the step of every dim is the step of the next one times its size.
std::optional<Affine> reshaped(const Affine &of, const Shape &from, const Shape &to) {
  std::optional<SmallVector<Group>> groups = groupsOf(from, to);
  if (!groups)
    return std::nullopt;
  Affine out = constantOf(of.constant, to.size());
  for (const Group &group : *groups) {
    Polynomial step = of.steps[group.from.back()], expected = step;
    for (size_t dim : llvm::reverse(group.from)) {
      if (of.steps[dim] != expected)
        return std::nullopt;
      expected *= from[dim];
    }
    for (size_t dim : llvm::reverse(group.to)) {
      out.steps[dim] = step;
      step *= to[dim];
    }
  }
  return out;
}

// -- other ops

std::optional<Affine> ofTable(ConstantOp op) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements || elements.getNumElements() == 0 || elements.getNumElements() > kMaxAffineElements)
    return std::nullopt;
  Tensor table = toTensor(elements);
  if (table.values[0] != std::rint(table.values[0]) || std::fabs(table.values[0]) > 1e15)
    return std::nullopt;
  SmallVector<double> steps;
  std::vector<int64_t> strides = table.strides();
  for (int64_t dim = 0; dim < table.rank(); ++dim)
    steps.push_back(table.shape[dim] > 1 ? table.values[strides[dim]] - table.values[0] : 0);
  bool isEven = llvm::all_of(
      steps, [](double step) { return step == std::rint(step) && std::fabs(step) < 1e9; });
  int64_t position = 0;
  forEachIndex(table.shape, [&](const std::vector<int64_t> &index) {
    double expected = table.values[0];
    for (auto [i, step] : llvm::zip(index, steps))
      expected += static_cast<double>(i) * step;
    isEven &= table.values[position++] == expected;
  });
  if (!isEven)
    return std::nullopt;
  Affine out = constantOf(static_cast<int64_t>(table.values[0]), steps.size());
  for (auto [to, step] : llvm::zip(out.steps, steps))
    to = Polynomial(static_cast<int64_t>(step));
  return out;
}

std::optional<Affine> ofSizes(SizesOp op) {
  if (op.getValues().size() != 1 || op.getDivisor() != "1")
    return std::nullopt;
  auto text = cast<StringAttr>(op.getValues()[0]);
  return constantOf(*Polynomial::parse(text.str()), rankOf(op.getResult()));
}

// Computes the affine form of values, once each.
class Reader {
public:
  std::optional<Affine> read(Value value, int depth = kMaxAffineDepth) {
    Operation *op = value.getDefiningOp();
    if (!op || depth == 0 || !isa<RankedTensorType>(value.getType()) ||
        !holdsPositions(elementTypeOf(value)))
      return std::nullopt;
    if (auto it = known_.find(value); it != known_.end())
      return it->second;
    std::optional<Affine> result = ofOp(op, depth - 1);
    if (result && !isExact(*result, value))
      result = std::nullopt;
    known_[value] = result;
    return result;
  }

private:
  std::optional<Affine> ofOp(Operation *op, int depth) {
    if (auto constant = dyn_cast<ConstantOp>(op))
      return ofTable(constant);
    if (auto sizes = dyn_cast<SizesOp>(op))
      return ofSizes(sizes);
    if (auto iota = dyn_cast<IotaOp>(op)) {
      Shape shape = shapeOf(iota.getResult());
      Affine out = constantOf(0, shape.size());
      out.steps[iota.getDim()] = shape[iota.getDim()] == kOne ? kZero : kOne;
      return out;
    }
    if (auto concat = dyn_cast<ConcatOp>(op))
      return ofConcat(concat, depth);
    if (isa<AddOp, SubOp, MulOp>(op))
      return ofArithmetic(op, depth);
    if (isa<CastOp>(op) || op->hasTrait<UnaryCopy>())
      if (std::optional<Affine> of = read(op->getOperand(0), depth))
        return moved(op, *of);
    return std::nullopt;
  }

  std::optional<Affine> ofArithmetic(Operation *op, int depth) {
    std::optional<Affine> a = read(op->getOperand(0), depth);
    std::optional<Affine> b = a ? read(op->getOperand(1), depth) : std::nullopt;
    if (!b)
      return std::nullopt;
    if (isa<MulOp>(op)) {
      if (!b->isConstant())
        std::swap(a, b);
      if (!b->isConstant())
        return std::nullopt;
      for (Polynomial &step : a->steps)
        step *= b->constant;
      a->constant *= b->constant;
      return a;
    }
    if (isa<SubOp>(op))
      return difference(*a, *b);
    a->constant += b->constant;
    for (auto [step, other] : llvm::zip(a->steps, b->steps))
      step += other;
    return a;
  }

  static std::optional<Affine> moved(Operation *op, const Affine &of) {
    Shape shape = shapeOf(op->getResult(0));
    if (isa<ReshapeOp>(op))
      return reshaped(of, shapeOf(op->getOperand(0)), shape);
    Affine out = isa<CastOp>(op) ? of : constantOf(of.constant, shape.size());
    if (auto broadcast = dyn_cast<BroadcastOp>(op))
      for (auto [dim, step] : llvm::zip(broadcast.getDims(), of.steps))
        out.steps[dim] = step;
    if (auto transpose = dyn_cast<TransposeOp>(op))
      for (auto [i, dim] : llvm::enumerate(transpose.getPermutation()))
        out.steps[i] = of.steps[dim];
    if (auto reverse = dyn_cast<ReverseOp>(op)) {
      size_t dim = reverse.getDim();
      out.steps = of.steps;
      out.constant += of.steps[dim] * (shape[dim] - kOne);
      out.steps[dim] = kZero - of.steps[dim];
    }
    if (auto slice = dyn_cast<SliceOp>(op)) {
      size_t dim = slice.getDim();
      out.steps = of.steps;
      out.constant += slice.startSize() * of.steps[dim];
      out.steps[dim] *= static_cast<int64_t>(slice.getStride());
      if (shape[dim] == kOne)
        out.steps[dim] = kZero;
    }
    return out;
  }

  // The first piece with more than one element along the dim determines its step; the others must
  // agree.
  std::optional<Affine> ofConcat(ConcatOp op, int depth) {
    size_t dim = op.getDim();
    SmallVector<Affine> pieces;
    SmallVector<Polynomial> starts;
    Polynomial start;
    std::optional<Affine> whole;
    for (Value operand : op.getOperands()) {
      std::optional<Affine> piece = read(operand, depth);
      if (!piece)
        return std::nullopt;
      Polynomial size = shapeOf(operand)[dim];
      if (!whole && size != kOne) {
        whole = piece;
        whole->constant -= start * piece->steps[dim];
      }
      pieces.push_back(std::move(*piece));
      starts.push_back(start);
      start += size;
    }
    if (!whole) {
      whole = pieces[0];
      whole->steps[dim] = pieces.size() > 1 ? pieces[1].constant - pieces[0].constant : kZero;
    }
    for (auto [i, piece] : llvm::enumerate(pieces)) {
      if (shapeOf(op.getOperands()[i])[dim] == kOne)
        piece.steps[dim] = whole->steps[dim];
      if (piece.steps != whole->steps ||
          piece.constant != whole->constant + starts[i] * whole->steps[dim])
        return std::nullopt;
    }
    return whole;
  }

  llvm::DenseMap<Value, std::optional<Affine>> known_;
};

} // namespace

std::optional<Affine> affineOf(Value value) { return Reader().read(value); }

Affine difference(const Affine &lhs, const Affine &rhs) {
  Affine out = lhs;
  out.constant -= rhs.constant;
  for (auto [step, other] : llvm::zip(out.steps, rhs.steps))
    step -= other;
  return out;
}

Range rangeOf(const Affine &affine, const Shape &shape) {
  Polynomial least = affine.constant, greatest = affine.constant;
  for (auto [step, size] : llvm::zip(affine.steps, shape)) {
    Polynomial last = step * (size - 1);
    if (step.atLeast(kLeastSymbol).value_or(-1) >= 0)
      greatest += last;
    else if (step.atMost(kLeastSymbol).value_or(1) <= 0)
      least += last;
    else
      return {};
  }
  return {least.atLeast(kLeastSymbol), greatest.atMost(kLeastSymbol)};
}

} // namespace cleave::simplify
