// See Reductions.h.
#include "compiler/frontend/emit/Reductions.h"

#include "compiler/frontend/emit/Elementwise.h"
#include "compiler/frontend/emit/Root.h"

#include <cmath>

namespace cleave::emit {

using namespace graph;

namespace {

bool worksOnIntegers(Summary summary) {
  switch (summary) {
  case Summary::Sum:
  case Summary::Max:
  case Summary::Min:
  case Summary::Prod:
  case Summary::L1:
  case Summary::SumSquare:
    return true;
  default:
    return false;
  }
}

Value logSumExp(const Emitter &e, Value x, const Ints &dims) {
  Value most = e.reduce(Reduction::Max, x, dims);
  // If all elements are infinite, the result is their value instead of inf - inf.
  Value infinity = e.splat(most, std::numeric_limits<double>::infinity());
  Value isFinite = e.compare(Predicate::LT, e.abs(most), infinity);
  Value origin = e.select(isFinite, most, e.splat(most, 0));
  Value shifted = e.sub(x, buildBroadcastOver(e.b, origin, x, dims));
  Value sum = e.reduce(Reduction::Sum, e.unary<ExpOp>(shifted), dims);
  return e.add(e.unary<LogOp>(sum), origin);
}

// Bools as numbers, and back.
Value ofBool(const Emitter &e, Reduction kind, Value x, const Ints &dims) {
  Value numbers = e.cast(x, e.b.getI32Type());
  return e.compare(Predicate::NE, e.reduce(kind, numbers, dims), 0);
}

Value reduced(const Emitter &e, Summary summary, Value x, const Ints &dims) {
  auto sum = [&](Value value) { return e.reduce(Reduction::Sum, value, dims); };
  switch (summary) {
  case Summary::Sum:
    return sum(x);
  case Summary::Mean:
    return e.mean(x, dims);
  case Summary::Max:
    return isBool(x) ? ofBool(e, Reduction::Max, x, dims) : e.reduce(Reduction::Max, x, dims);
  case Summary::Min:
    return isBool(x) ? ofBool(e, Reduction::Min, x, dims) : e.reduce(Reduction::Min, x, dims);
  case Summary::Prod:
    return e.reduce(Reduction::Prod, x, dims);
  case Summary::L1:
    return sum(e.abs(x));
  case Summary::L2:
    return flatRoot(e, sum(e.mul(x, x)));
  case Summary::SumSquare:
    return sum(e.mul(x, x));
  case Summary::LogSum:
    return e.unary<LogOp>(sum(x));
  case Summary::LogSumExp:
    return logSumExp(e, x, dims);
  case Summary::Any:
    return ofBool(e, Reduction::Max, x, dims);
  case Summary::All:
    return ofBool(e, Reduction::Min, x, dims);
  }
  return nullptr;
}

Value withKeptDims(const Emitter &e, Value result, Value x, const Ints &dims, bool keep) {
  if (!keep)
    return result;
  Sizes kept = shapeOf(x);
  for (int64_t dim : dims)
    kept[dim] = Polynomial(1);
  return e.reshape(result, kept);
}

} // namespace

Value summarise(const Emitter &e, Summary summary, Value x, const Ints &dims, bool keep) {
  if (summary == Summary::Any || summary == Summary::All)
    e.checkBool(x);
  else if (!worksOnIntegers(summary) && !isFloat(x)) { // truncate the real result
    e.checkInteger(x);
    Value real = reduced(e, summary, e.cast(x, e.b.getF64Type()), dims);
    return withKeptDims(e, e.cast(real, elementOf(x)), x, dims, keep);
  }
  return withKeptDims(e, reduced(e, summary, x, dims), x, dims, keep);
}

Value variance(const Emitter &e, Value x, const Ints &dims, double correction, bool keep) {
  e.checkFloat(x);
  Value centred = e.sub(x, e.broadcast(e.mean(x, dims, /*keep=*/true), shapeOf(x)));
  Value squares = e.mul(centred, centred);
  if (correction == 0)
    return e.mean(squares, dims, keep);
  Polynomial count(1);
  for (int64_t dim : dims)
    count *= shapeOf(x)[dim];
  Value sum = e.reduce(Reduction::Sum, squares, dims, keep);
  if (std::optional<int64_t> number = count.constant())
    return e.mul(sum, 1 / std::max(static_cast<double>(*number) - correction, 0.0));
  if (correction != std::floor(correction))
    fail("divides by ", count.str(), " - ", correction, " elements, which ",
         dependsOnSymbols(count.symbols()));
  return e.mul(sum, e.splatSize(sum, 1, count - truncated(correction)));
}

Value standardDeviation(const Emitter &e, Value x, const Ints &dims, double correction, bool keep) {
  return flatRoot(e, variance(e, x, dims, correction, keep));
}

Value norm(const Emitter &e, Value x, double p, const Ints &dims, bool keep) {
  e.checkFloat(x);
  if (p == 1)
    return summarise(e, Summary::L1, x, dims, keep);
  if (p == 2)
    return summarise(e, Summary::L2, x, dims, keep);
  if (std::isinf(p))
    return e.reduce(p > 0 ? Reduction::Max : Reduction::Min, e.abs(x), dims, keep);
  if (p == 0)
    return e.reduce(Reduction::Sum, e.cast(e.compare(Predicate::NE, x, 0), elementOf(x)), dims,
                    keep);
  Value powers = PowOp::create(e.b, e.loc, e.abs(x), e.splat(x, p));
  Value sum = e.reduce(Reduction::Sum, powers, dims, keep);
  Value isZero = e.compare(Predicate::EQ, sum, 0); // slope 0 there
  Value root =
      PowOp::create(e.b, e.loc, e.select(isZero, e.splat(sum, 1), sum), e.splat(sum, 1 / p));
  return e.select(isZero, e.splat(sum, 0), root);
}

Value pairwiseDistance(const Emitter &e, Value x, Value y, double p, double epsilon, bool keep) {
  e.broadcastTogether(x, y);
  return norm(e, e.add(e.sub(x, y), epsilon), p, {rankOf(x) - 1}, keep);
}

} // namespace cleave::emit
