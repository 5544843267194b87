// Simplification: recognises the rotation of queries and keys by their positions, written with a
// rotated copy or with the two elements of every pair computed separately.
#include "passes/simplify/Match.h"
#include "passes/simplify/Patterns.h"

using namespace mlir;

namespace cleave::simplify {
namespace {

using namespace graph;

// One element of every pair of `of`: the first or the second.
struct Part {
  Value of;
  bool isSecond = false, interleaved = false;
  bool operator==(const Part &) const = default;
};

// Joins the first and second elements of pairs, which may have a last dim of size 1, to a tensor of
// pairs.
struct Pairs {
  Value first, second;
  bool interleaved = false;
};

bool isHalf(const Shape &part, const Shape &whole) {
  Shape twice = part;
  if (part.size() != whole.size() || part.empty())
    return false;
  twice.back() = twice.back() + twice.back();
  return twice == whole;
}

// The slice that `value` reshapes by adding or dropping dims of size 1; null if there is none.
Part partOf(Value value) {
  auto slice = withoutUnitDims(value).getDefiningOp<SliceOp>();
  if (!slice || slice.getSymbolicStart())
    return {};
  Value of = slice.getOperand();
  Shape whole = shapeOf(of), part = shapeOf(slice.getResult());
  auto start = static_cast<int64_t>(slice.getStart()),
       stride = static_cast<int64_t>(slice.getStride());
  int64_t last = rankOf(of) - 1;
  std::optional<int64_t> width = whole[last].constant(), taken = part[last].constant();
  if (static_cast<int64_t>(slice.getDim()) != last || !width || !taken || *width != 2 * *taken)
    return {};
  // Pairs whose elements a reshape made a dim of its own.
  auto split = *width == 2 && start <= 1 ? of.getDefiningOp<ReshapeOp>() : ReshapeOp();
  if (split && rankOf(split.getOperand()) == last &&
      shapeOf(split.getOperand()).back() == whole[last - 1] * Polynomial(2))
    return {split.getOperand(), start == 1, true};
  if (stride == 1 && (start == 0 || start == *taken))
    return {of, start != 0, false};
  if (stride == 2 && start <= 1)
    return {of, start == 1, true};
  return {};
}

// `value` as a concat of two halves, or of two columns that a reshape interleaves.
std::optional<Pairs> pairsOf(Value value) {
  auto merge = value.getDefiningOp<ReshapeOp>();
  auto concat = (merge ? merge.getOperand() : value).getDefiningOp<ConcatOp>();
  if (!concat || concat.getOperands().size() != 2 ||
      static_cast<int64_t>(concat.getDim()) != rankOf(concat) - 1)
    return std::nullopt;
  Value first = concat.getOperands()[0], second = concat.getOperands()[1];
  if (first.getType() != second.getType())
    return std::nullopt;
  if (!merge)
    return isHalf(shapeOf(first), shapeOf(value)) ? std::optional<Pairs>({first, second, false})
                                                  : std::nullopt;
  Shape columns = shapeOf(first), merged = shapeOf(value);
  columns.pop_back();
  bool isColumn = shapeOf(first).back() == Polynomial(1) && isHalf(columns, merged);
  return isColumn ? std::optional<Pairs>({first, second, true}) : std::nullopt;
}

// The operand of a negation; null for other values.
Value negated(Value value) {
  auto neg = withoutUnitDims(value).getDefiningOp<NegOp>();
  return neg ? neg.getOperand() : Value();
}

// x if `value` is r(x), the rotated copy in graph.rotary; else null.
Part turnedFrom(Value value) {
  std::optional<Pairs> pairs = pairsOf(value);
  Value second = pairs ? negated(pairs->first) : Value();
  if (!second)
    return {};
  Part back = partOf(second), front = partOf(pairs->second);
  bool fits = back.of && back.of == front.of && back.isSecond && !front.isSecond &&
              back.interleaved == pairs->interleaved && front.interleaved == pairs->interleaved;
  return fits && back.of.getType() == value.getType() ? front : Part();
}

// x cos + r(x) sin.
struct RecogniseTurned : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOp op, PatternRewriter &b) const override {
    auto left = op.getLhs().getDefiningOp<MulOp>(), right = op.getRhs().getDefiningOp<MulOp>();
    if (!left || !right)
      return failure();
    for (auto [kept, turned] : {std::pair(left, right), std::pair(right, left)})
      for (int i : {0, 1}) {
        Part x = turnedFrom(turned->getOperand(i));
        if (!x.of)
          continue;
        for (int j : {0, 1})
          if (kept->getOperand(j) == x.of) {
            b.replaceOpWithNewOp<RotaryOp>(op, op.getType(), x.of, kept->getOperand(1 - j),
                                           turned->getOperand(1 - i), x.interleaved);
            return success();
          }
      }
    return failure();
  }
};

// A product of one half of pairs with another value.
struct Scaled {
  Part part;
  Value by;
};
// Both ways to read a product like this; empty if there is none.
SmallVector<Scaled, 2> scaledOf(Value value) {
  SmallVector<Scaled, 2> out;
  if (auto mul = value.getDefiningOp<MulOp>())
    for (int i : {0, 1})
      if (Part part = partOf(mul->getOperand(i)); part.of)
        out.push_back({part, mul->getOperand(1 - i)});
  return out;
}

// Matches first = a cos - b sin and second = b cos + a sin; null if they differ.
struct Turn {
  Part a;
  Value cos, sin;
};
std::optional<Turn> turnOf(SubOp first, AddOp second) {
  for (const Scaled &aCos : scaledOf(first.getLhs()))
    for (const Scaled &bSin : scaledOf(first.getRhs()))
      for (auto [l, r] : {std::pair(second.getLhs(), second.getRhs()),
                          std::pair(second.getRhs(), second.getLhs())})
        for (const Scaled &bCos : scaledOf(l))
          for (const Scaled &aSin : scaledOf(r)) {
            Part b = aCos.part;
            b.isSecond = true;
            if (!aCos.part.isSecond && aSin.part == aCos.part && bSin.part == b && bCos.part == b &&
                aCos.by == bCos.by && aSin.by == bSin.by)
              return Turn{aCos.part, aCos.by, aSin.by};
          }
  return std::nullopt;
}

// Pairs of which both elements are `half`, which may lack a last dim of size 1.
Value twice(OpBuilder &b, Value half, const Shape &whole, bool interleaved) {
  Shape part = whole;
  part.back() = *part.back().constant() / 2;
  if (interleaved)
    part.push_back(Polynomial(1));
  half = buildReshape(b, half, part);
  Value both = ConcatOp::create(b, half.getLoc(), ValueRange{half, half}, rankOf(half) - 1);
  return buildReshape(b, both, whole);
}

// The pairs (a cos - b sin, b cos + a sin).
template <typename Op> struct RecognisePairs : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override {
    std::optional<Pairs> pairs = pairsOf(op.getResult());
    auto first = pairs ? withoutUnitDims(pairs->first).template getDefiningOp<SubOp>() : SubOp();
    auto second = pairs ? withoutUnitDims(pairs->second).template getDefiningOp<AddOp>() : AddOp();
    std::optional<Turn> turn = first && second ? turnOf(first, second) : std::nullopt;
    if (!turn || turn->a.interleaved != pairs->interleaved || turn->a.of.getType() != op.getType())
      return failure();
    Shape whole = shapeOf(op.getResult());
    Value cos = twice(b, turn->cos, whole, pairs->interleaved);
    Value sin = twice(b, turn->sin, whole, pairs->interleaved);
    b.replaceOpWithNewOp<RotaryOp>(op, op.getType(), turn->a.of, cos, sin, pairs->interleaved);
    return success();
  }
};

} // namespace

void addRotaryPatterns(RewritePatternSet &patterns) {
  patterns.add<RecogniseTurned, RecognisePairs<ConcatOp>, RecognisePairs<ReshapeOp>>(
      patterns.getContext());
}

} // namespace cleave::simplify
