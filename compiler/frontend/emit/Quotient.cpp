// See Quotient.h.
#include "compiler/frontend/emit/Quotient.h"

#include "dialects/graph/Symbols.h"

#include <cmath>
#include <numeric>

namespace cleave::emit {

using namespace graph;

namespace {

using Maybe = std::optional<Quotient>;

constexpr int64_t kMaxDivisor = int64_t(1) << 20;
constexpr double kExact = 9007199254740992.0; // 2^53

Maybe make(Polynomial value, int64_t divisor) {
  if (divisor > kMaxDivisor)
    return std::nullopt;
  for (int64_t part = 2, rest = divisor; rest > 1; ++part) { // by each of its primes
    if (part * part > rest)
      part = rest;
    for (; rest % part == 0; rest /= part)
      if (std::optional<Polynomial> smaller = value.dividedBy(part)) {
        value = *smaller;
        divisor /= part;
      }
  }
  return Quotient{std::move(value), divisor};
}

Maybe add(const Quotient &a, const Quotient &b, int64_t sign = 1) {
  int64_t common = std::lcm(a.divisor, b.divisor);
  return make(a.value * (common / a.divisor) + b.value * (sign * (common / b.divisor)), common);
}

Maybe multiply(const Quotient &a, const Quotient &b) {
  return make(a.value * b.value, a.divisor * b.divisor);
}

// a / b without rounding.
Maybe divide(const Quotient &a, const Quotient &b) {
  Polynomial numerator = a.value * b.divisor;
  if (std::optional<int64_t> number = b.value.constant()) {
    if (*number == 0 || std::abs(*number) > kMaxDivisor)
      return std::nullopt;
    return make(numerator * (*number < 0 ? -1 : 1), a.divisor * std::abs(*number));
  }
  std::optional<Polynomial> quotient = numerator.dividedBy(b.value);
  return quotient ? make(*quotient, a.divisor) : std::nullopt;
}

bool isNeverNegative(const Quotient &a) { return a.value.atLeast(kLeastSymbol).value_or(-1) >= 0; }

Maybe floorOf(const Quotient &a) { return Quotient{a.value.floorDividedBy(a.divisor)}; }

// Towards zero.
Maybe truncate(const Maybe &a) { return a && isNeverNegative(*a) ? floorOf(*a) : Maybe(); }

Maybe negate(const Quotient &a) { return Quotient{a.value * -1, a.divisor}; }

Maybe larger(const Quotient &a, const Quotient &b, Assume assume) {
  if (std::optional<bool> isFirst = compare(Predicate::GE, a, b))
    return *isFirst ? a : b;
  if (a.value.isConstant() == b.value.isConstant())
    return std::nullopt;
  const Quotient &size = a.value.isConstant() ? b : a, &number = a.value.isConstant() ? a : b;
  assume(size.value * number.divisor - number.value * size.divisor);
  return size;
}

Maybe smaller(const Quotient &a, const Quotient &b, Assume assume) {
  Maybe negated = larger(*negate(a), *negate(b), assume);
  return negated ? negate(*negated) : negated;
}

Maybe fromBool(std::optional<bool> value) {
  return value ? Maybe(Quotient{*value ? 1 : 0}) : Maybe();
}

Maybe remainder(const Quotient &a, const Quotient &b) {
  Maybe times = divide(a, b);
  Maybe whole = times ? truncate(times) : Maybe();
  Maybe product = whole ? multiply(*whole, b) : Maybe();
  return product ? add(a, *product, -1) : Maybe();
}

Maybe castTo(mlir::Type element, const Quotient &a) {
  if (mlir::isa<mlir::FloatType>(element))
    return a;
  if (element.isInteger(1))
    return fromBool(compare(Predicate::NE, a, Quotient{0}));
  return a.divisor == 1 ? Maybe(a) : truncate(a);
}

} // namespace

std::optional<double> Quotient::number() const {
  std::optional<int64_t> above = value.constant();
  return above ? std::optional(static_cast<double>(*above) / static_cast<double>(divisor))
               : std::nullopt;
}

std::optional<Polynomial> Quotient::whole() const {
  return divisor == 1 ? std::optional(value) : std::nullopt;
}

std::optional<Quotient> quotientOf(double number) {
  for (int64_t divisor = 1; divisor <= 1 << 16; divisor *= 2) {
    double numerator = number * static_cast<double>(divisor);
    if (!(std::fabs(numerator) <= kExact))
      return std::nullopt;
    if (numerator == std::floor(numerator))
      return Quotient{static_cast<int64_t>(numerator), divisor};
  }
  return std::nullopt;
}

std::optional<bool> compare(Predicate predicate, const Quotient &a, const Quotient &b) {
  Polynomial difference = a.value * b.divisor - b.value * a.divisor;
  std::optional<int64_t> least = difference.atLeast(kLeastSymbol),
                         most = difference.atMost(kLeastSymbol);
  bool above = least && *least > 0, below = most && *most < 0;
  bool notBelow = least && *least >= 0, notAbove = most && *most <= 0;
  auto decide = [](bool yes, bool no) { return yes || no ? std::optional(yes) : std::nullopt; };
  switch (predicate) {
  case Predicate::EQ:
    return decide(notBelow && notAbove, above || below);
  case Predicate::NE:
    return decide(above || below, notBelow && notAbove);
  case Predicate::LT:
    return decide(below, notBelow);
  case Predicate::LE:
    return decide(notAbove, above);
  case Predicate::GT:
    return decide(above, notAbove);
  case Predicate::GE:
    return decide(notBelow, below);
  }
  return std::nullopt;
}

// One function per op of shape arithmetic.
static Maybe evaluateSymbolic(mlir::Operation *op, mlir::Type element, llvm::ArrayRef<Quotient> x,
                              Assume assume) {
  if (mlir::isa<AddOp, SubOp>(op))
    return add(x[0], x[1], mlir::isa<AddOp>(op) ? 1 : -1);
  if (mlir::isa<MulOp>(op))
    return multiply(x[0], x[1]);
  if (mlir::isa<DivOp>(op))
    return mlir::isa<mlir::FloatType>(element) ? divide(x[0], x[1]) : truncate(divide(x[0], x[1]));
  if (mlir::isa<RemOp>(op))
    return remainder(x[0], x[1]);
  if (mlir::isa<MaxOp, MinOp>(op))
    return mlir::isa<MaxOp>(op) ? larger(x[0], x[1], assume) : smaller(x[0], x[1], assume);
  if (mlir::isa<NegOp>(op))
    return negate(x[0]);
  if (mlir::isa<AbsOp>(op))
    return larger(x[0], *negate(x[0]), assume);
  if (mlir::isa<FloorOp>(op))
    return floorOf(x[0]);
  if (mlir::isa<CeilOp>(op))
    return Quotient{x[0].value.ceilDividedBy(x[0].divisor)};
  if (mlir::isa<RoundOp>(op) && x[0].divisor == 1)
    return x[0];
  if (mlir::isa<CastOp>(op))
    return castTo(element, x[0]);
  if (auto comparison = mlir::dyn_cast<CompareOp>(op))
    return fromBool(compare(comparison.getPredicate(), x[0], x[1]));
  if (std::optional<double> condition = x[0].number(); mlir::isa<SelectOp>(op) && condition)
    return *condition != 0 ? x[1] : x[2];
  return std::nullopt;
}

std::optional<Quotient> evaluateElement(mlir::Operation *op, llvm::ArrayRef<Quotient> x,
                                        Assume assume) {
  mlir::Type element = elementTypeOf(op->getResult(0));
  if (llvm::all_of(x, [](const Quotient &each) { return each.number().has_value(); })) {
    llvm::SmallVector<double> numbers;
    for (const Quotient &each : x)
      numbers.push_back(*each.number());
    auto pointwise = mlir::dyn_cast<PointwiseInterface>(op);
    return pointwise
               ? quotientOf(roundTo(toElementType(element), pointwise.evaluateScalar(numbers)))
               : std::nullopt;
  }
  return evaluateSymbolic(op, element, x, assume);
}

std::optional<Quotient> combine(Reduction kind, const Quotient &a, const Quotient &b,
                                Assume assume) {
  switch (kind) {
  case Reduction::Sum:
    return add(a, b);
  case Reduction::Prod:
    return multiply(a, b);
  case Reduction::Max:
    return larger(a, b, assume);
  case Reduction::Min:
    return smaller(a, b, assume);
  }
  return std::nullopt;
}

} // namespace cleave::emit
