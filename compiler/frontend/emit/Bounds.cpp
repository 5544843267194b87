// See Bounds.h.
#include "compiler/frontend/emit/Bounds.h"

#include <algorithm>

namespace cleave::emit {

using namespace graph;

namespace {

constexpr int kMostOps = 64; // on the way to what bounds a value

using Bound = std::optional<int64_t>;

// The least, the largest of two bounds.
Bound lesser(Bound a, Bound b) { return a && b ? std::min(*a, *b) : a ? a : b; }
Bound larger(Bound a, Bound b) { return a && b ? Bound(std::max(*a, *b)) : std::nullopt; }

class Bounds {
public:
  explicit Bounds(const Emitter &e) : e_(e) {}

  Bound of(Value x) {
    if (std::optional<Tensor> known = e_.known(x)) {
      auto most = std::max_element(known->values.begin(), known->values.end());
      return most == known->values.end() ? 0 : static_cast<int64_t>(*most) + 1;
    }
    mlir::Operation *op = x.getDefiningOp();
    if (!op || ++visited_ > kMostOps)
      return std::nullopt;
    if (auto iota = mlir::dyn_cast<IotaOp>(op))
      return shapeOf(x)[iota.getDim()].constant();
    if (auto sort = mlir::dyn_cast<SortOp>(op))
      return x == sort.getIndices() ? shapeOf(x)[sort.getDim()].constant() : std::nullopt;
    if (auto reduce = mlir::dyn_cast<ReduceOp>(op))
      return ofReduced(reduce);
    if (auto select = mlir::dyn_cast<SelectOp>(op))
      return ofSelected(select);
    if (mlir::isa<MinOp>(op))
      return lesser(of(op->getOperand(0)), of(op->getOperand(1)));
    if (mlir::isa<MaxOp>(op))
      return larger(of(op->getOperand(0)), of(op->getOperand(1)));
    if (mlir::isa<RemOp>(op))
      return divisorOf(op);
    bool copies = op->hasTrait<UnaryCopy>() || mlir::isa<ReshapeOp, GatherOp>(op);
    if (copies || mlir::isa<CastOp>(op))
      return isBool(op->getOperand(0)) ? 2 : of(op->getOperand(0));
    return std::nullopt;
  }

private:
  // The divisor of a remainder, if it is known and positive.
  Bound divisorOf(mlir::Operation *op) {
    std::optional<Tensor> divisor = e_.known(op->getOperand(1));
    if (!divisor || divisor->values.empty() || divisor->values[0] < 1)
      return std::nullopt;
    return static_cast<int64_t>(divisor->values[0]);
  }

  // The place of a largest or smallest element (Ordering.h, argMinMax) is one of the dim's,
  // although other places count as its size.
  Bound ofReduced(ReduceOp reduce) {
    auto select = reduce.getOperand().getDefiningOp<SelectOp>();
    auto iota = select ? select.getOnTrue().getDefiningOp<IotaOp>() : nullptr;
    if (reduce.getKind() == Reduction::Min && iota && isOfBest(select.getCondition()))
      return of(iota);
    bool isOne = reduce.getKind() == Reduction::Min || reduce.getKind() == Reduction::Max;
    return isOne ? of(reduce.getOperand()) : std::nullopt;
  }

  // Whether the condition says where the largest or smallest element is.
  static bool isOfBest(Value condition) {
    if (auto both = condition.getDefiningOp<OrOp>())
      condition = both.getLhs();
    auto compare = condition.getDefiningOp<CompareOp>();
    if (!compare || compare.getPredicate() != Predicate::EQ)
      return false;
    Value best = compare.getRhs();
    while (best.getDefiningOp<BroadcastOp>() || best.getDefiningOp<ReshapeOp>())
      best = best.getDefiningOp()->getOperand(0);
    auto reduce = best.getDefiningOp<ReduceOp>();
    return reduce && reduce.getOperand() == compare.getLhs() &&
           (reduce.getKind() == Reduction::Max || reduce.getKind() == Reduction::Min);
  }

  // A remainder to which the divisor is added where it is negative stays below the divisor.
  Bound ofSelected(SelectOp select) {
    auto sum = select.getOnTrue().getDefiningOp<AddOp>();
    auto rest = select.getOnFalse().getDefiningOp<RemOp>();
    if (sum && rest && sum.getLhs() == select.getOnFalse() && sum.getRhs() == rest.getRhs())
      return divisorOf(rest);
    return larger(of(select.getOnTrue()), of(select.getOnFalse()));
  }

  const Emitter &e_;
  int visited_ = 0;
};

} // namespace

std::optional<int64_t> boundOf(const Emitter &e, Value x) { return Bounds(e).of(x); }

void checkBelow(const Emitter &e, Value x, const Polynomial &bound) {
  while (x.getDefiningOp<CastOp>() || x.getDefiningOp<ReshapeOp>())
    x = x.getDefiningOp()->getOperand(0);
  if (mlir::isa<mlir::BlockArgument>(x))
    return;
  const int64_t number = e.number(bound, "the number of bins");
  std::optional<int64_t> found = boundOf(e, x);
  if (!found)
    fail("has numbers of which it is not known that they are less than ", number,
         "; clamp them (clamp(max=", number - 1, "))");
  if (*found > number)
    fail("has numbers below ", *found, ", expected less than ", number,
         "; clamp them (clamp(max=", number - 1, "))");
}

} // namespace cleave::emit
