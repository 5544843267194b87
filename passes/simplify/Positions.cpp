// See Positions.h.
#include "passes/simplify/Positions.h"

#include "passes/simplify/Affine.h"

using namespace mlir;

namespace cleave::simplify {
namespace {

using namespace graph;

constexpr int kMaxSteps = 24; // ops that are looked through on one path

// The dims of a value in terms of the mask's dims, on the way from the mask to its source.
enum class MaskDim { Other, Query, Key };
struct View {
  Value value;
  SmallVector<MaskDim> roles;
  SmallVector<int64_t> offsets; // the index in `value` is the mask's plus this
};

// The operand's view through a reshape that only adds or drops dims of size one.
bool throughReshape(View &view, ReshapeOp op) {
  Shape from = shapeOf(op.getOperand()), to = shapeOf(op.getResult());
  View out{op.getOperand(), {}, {}};
  size_t next = 0;
  auto skipOnes = [&] {
    while (next < to.size() && to[next] == Polynomial(1))
      ++next;
  };
  for (const Polynomial &size : from) {
    if (size == Polynomial(1)) {
      out.roles.push_back(MaskDim::Other);
      out.offsets.push_back(0);
      continue;
    }
    skipOnes();
    if (next == to.size() || to[next] != size)
      return false;
    out.roles.push_back(view.roles[next]);
    out.offsets.push_back(view.offsets[next++]);
  }
  skipOnes();
  if (next != to.size())
    return false;
  view = std::move(out);
  return true;
}

// Steps from the result of a movement op to its operand; false for other ops.
bool stepThrough(View &view) {
  Operation *op = view.value.getDefiningOp();
  if (auto reshape = dyn_cast_or_null<ReshapeOp>(op))
    return throughReshape(view, reshape);
  if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op)) {
    View out{broadcast.getOperand(), {}, {}};
    for (int64_t dim : broadcast.getDims()) {
      out.roles.push_back(view.roles[dim]);
      out.offsets.push_back(view.offsets[dim]);
    }
    view = std::move(out);
    return true;
  }
  if (auto transpose = dyn_cast_or_null<TransposeOp>(op)) {
    View out{transpose.getOperand(), view.roles, view.offsets};
    for (auto [i, dim] : llvm::enumerate(transpose.getPermutation())) {
      out.roles[dim] = view.roles[i];
      out.offsets[dim] = view.offsets[i];
    }
    view = std::move(out);
    return true;
  }
  if (auto slice = dyn_cast_or_null<SliceOp>(op);
      slice && slice.getStride() == 1 && !slice.getSymbolicStart()) {
    view.value = slice.getOperand();
    view.offsets[slice.getDim()] += static_cast<int64_t>(slice.getStart());
    return true;
  }
  return false;
}

void lookThroughMoves(View &view) {
  for (int steps = 0; steps < kMaxSteps && stepThrough(view); ++steps)
    ;
}

Predicate oppositeOf(Predicate predicate) {
  static constexpr Predicate kOpposite[] = {Predicate::NE, Predicate::EQ, Predicate::GE,
                                            Predicate::GT, Predicate::LE, Predicate::LT};
  return kOpposite[static_cast<int>(predicate)];
}

// Whether this comparison of two tensors of positions is key <= query. `view` maps the mask's dims
// to their indices.
bool comparesCausally(Predicate predicate, const Affine &difference, const View &view) {
  Polynomial query, key, constant = difference.constant;
  for (auto [dim, step] : llvm::enumerate(difference.steps)) {
    if (step == Polynomial())
      continue;
    if (view.roles[dim] == MaskDim::Other)
      return false;
    (view.roles[dim] == MaskDim::Query ? query : key) += step;
    constant += step * Polynomial(view.offsets[dim]);
  }
  if (predicate == Predicate::GE || predicate == Predicate::GT) { // as <= and < of the negated
    query = Polynomial() - query;
    key = Polynomial() - key;
    constant = Polynomial() - constant;
  }
  if (query != Polynomial(-1) || key != Polynomial(1))
    return false;
  if (predicate == Predicate::LE || predicate == Predicate::GE)
    return constant == Polynomial();
  return (predicate == Predicate::LT || predicate == Predicate::GT) && constant == Polynomial(-1);
}

// A boolean table [.., queries, keys], of which `view` describes the part that is used.
bool isCausalTable(const View &view, ConstantOp op, bool opposite) {
  Shape shape = shapeOf(op.getResult());
  std::optional<size_t> query, key;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (size == Polynomial(1))
      continue;
    std::optional<size_t> &place = view.roles[dim] == MaskDim::Query ? query : key;
    if (view.roles[dim] == MaskDim::Other || place || view.offsets[dim] != 0)
      return false;
    place = dim;
  }
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!query || !key || !elements)
    return false;
  Tensor table = toTensor(elements);
  std::vector<int64_t> strides = table.strides();
  for (int64_t i = 0; i < table.size(); ++i) {
    int64_t row = i / strides[*query] % table.shape[*query];
    int64_t column = i / strides[*key] % table.shape[*key];
    if ((table.values[i] != 0) != ((column <= row) != opposite))
      return false;
  }
  return true;
}

} // namespace

bool isCausal(Value source, ArrayRef<Operation *> moves, bool opposite) {
  Value mask = moves.empty() ? source : moves.front()->getResult(0);
  int64_t rank = rankOf(mask);
  if (rank < 2)
    return false;
  View view{mask, SmallVector<MaskDim>(rank, MaskDim::Other), SmallVector<int64_t>(rank, 0)};
  view.roles[rank - 2] = MaskDim::Query;
  view.roles[rank - 1] = MaskDim::Key;
  for (Operation *move : moves) {
    view.value = move->getResult(0);
    if (!stepThrough(view))
      return false;
  }
  view.value = source;
  lookThroughMoves(view);
  while (auto inverted = view.value.getDefiningOp<NotOp>()) {
    opposite = !opposite;
    view.value = inverted.getOperand();
    lookThroughMoves(view);
  }
  if (auto table = view.value.getDefiningOp<ConstantOp>())
    return isCausalTable(view, table, opposite);
  auto compare = view.value.getDefiningOp<CompareOp>();
  if (!compare)
    return false;
  std::optional<Affine> lhs = affineOf(compare.getLhs()), rhs = affineOf(compare.getRhs());
  Predicate predicate = compare.getPredicate();
  return lhs && rhs &&
         comparesCausally(opposite ? oppositeOf(predicate) : predicate, difference(*lhs, *rhs),
                          view);
}

} // namespace cleave::simplify
