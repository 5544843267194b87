// Families of ops of kernel groups: pointwise ops, reductions, broadcasts, iota.
#include "dialects/graph/Build.h"
#include "test/fuzz/programs/GraphMaker.h"

#include <cmath>

using namespace mlir;

namespace cleave::fuzz {

namespace {

template <typename Op> Value make(GraphMaker &m, ValueRange operands) {
  if constexpr (Op::template hasTrait<OpTrait::OneOperand>())
    return Op::create(m.builder(), m.loc(), operands[0]);
  else
    return Op::create(m.builder(), m.loc(), operands[0], operands[1]);
}

// A function of one float: the condition on its argument, and the bound of its result.
struct Unary {
  Value (*make)(GraphMaker &, ValueRange);
  enum class Domain { All, Small, Positive } domain;
  double (*bound)(double);
};

const std::vector<Unary> kUnary = {
    {make<graph::NegOp>, Unary::Domain::All, [](double x) { return x; }},
    {make<graph::AbsOp>, Unary::Domain::All, [](double x) { return x; }},
    {make<graph::ExpOp>, Unary::Domain::Small, [](double x) { return std::exp(x); }},
    {make<graph::LogOp>, Unary::Domain::Positive, [](double x) { return std::log(x + 2); }},
    {make<graph::Expm1Op>, Unary::Domain::Small, [](double x) { return std::exp(x); }},
    {make<graph::Log1pOp>, Unary::Domain::Positive, [](double x) { return std::log(x + 2); }},
    {make<graph::SqrtOp>, Unary::Domain::Positive, [](double x) { return x + 1; }},
    {make<graph::RsqrtOp>, Unary::Domain::Positive, [](double) { return 2.0; }},
    {make<graph::SinOp>, Unary::Domain::Small, [](double) { return 1.0; }},
    {make<graph::CosOp>, Unary::Domain::Small, [](double) { return 1.0; }},
    {make<graph::TanhOp>, Unary::Domain::All, [](double) { return 1.0; }},
    {make<graph::AtanOp>, Unary::Domain::All, [](double) { return 1.6; }},
    {make<graph::ErfOp>, Unary::Domain::All, [](double) { return 1.0; }},
    {make<graph::FloorOp>, Unary::Domain::All, [](double x) { return x + 1; }},
    {make<graph::CeilOp>, Unary::Domain::All, [](double x) { return x + 1; }},
    {make<graph::RoundOp>, Unary::Domain::All, [](double x) { return x + 1; }},
};

bool isFloating(Value value) { return isa<FloatType>(graph::elementTypeOf(value)); }

int64_t elementsOf(const Sizes &shape, ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= shape[dim];
  return count;
}

Value power(GraphMaker &m, Value x, Value y, double &bound) {
  const std::vector<double> exponents = {2, 1, 3, -1, -3, 0.5, -0.5, 0, 7, 2.5};
  x = m.limited(x, 2);
  if (m.choose().chance(50)) {
    double exponent = m.choose().pick(exponents);
    bool anySign = exponent > 0 && exponent == std::floor(exponent);
    bound = 200;
    return graph::PowOp::create(m.builder(), m.loc(), anySign ? x : m.awayFromZero(x),
                                m.splat(x.getType(), exponent));
  }
  bound = 16;
  return graph::PowOp::create(m.builder(), m.loc(), m.awayFromZero(x), m.limited(y, 2));
}

} // namespace

void addUnary(GraphMaker &m) {
  Value x = m.anyFloat();
  const Unary &op = m.choose().pick(kUnary);
  if (op.domain == Unary::Domain::Small)
    x = m.limited(x, 8);
  if (op.domain == Unary::Domain::Positive && !m.choose().chance(10))
    x = m.awayFromZero(x);
  m.add(op.make(m, x), op.bound(m.bound(x)));
}

void addBinary(GraphMaker &m) {
  Value x = m.anyFloat(), y = m.like(x);
  if (m.choose().chance(30))
    std::swap(x, y);
  double a = m.bound(x), b = m.bound(y), bound = 0;
  switch (m.choose().below(8)) {
  case 0:
    m.add(make<graph::AddOp>(m, {x, y}), a + b);
    return;
  case 1:
    m.add(make<graph::SubOp>(m, {x, y}), a + b);
    return;
  case 2:
    m.add(make<graph::MulOp>(m, {x, y}), a * b);
    return;
  case 3:
    m.add(make<graph::MaxOp>(m, {x, y}), std::max(a, b));
    return;
  case 4:
    m.add(make<graph::MinOp>(m, {x, y}), std::max(a, b));
    return;
  case 5:
    m.add(make<graph::DivOp>(m, {x, m.awayFromZero(y)}), 2 * a);
    return;
  case 6:
    m.add(make<graph::RemOp>(m, {x, m.awayFromZero(y)}), a);
    return;
  default:
    Value made = power(m, x, y, bound);
    m.add(made, bound);
  }
}

void addInteger(GraphMaker &m) {
  Value x = m.anyInteger(), y = m.like(x);
  double a = m.bound(x), b = m.bound(y);
  OpBuilder &build = m.builder();
  auto shifted = [&](auto op, double bound) {
    Value places = m.splat(x.getType(), m.choose().below(4));
    m.add(decltype(op)::create(build, m.loc(), x, places), bound);
  };
  double bits = 2 * std::max(a, b) + 1;
  switch (m.choose().below(12)) {
  case 0:
    m.add(make<graph::AddOp>(m, {x, y}), a + b);
    return;
  case 1:
    m.add(make<graph::SubOp>(m, {x, y}), a + b);
    return;
  case 2:
    m.add(make<graph::MulOp>(m, {m.limited(x, 1000), m.limited(y, 1000)}), a * b);
    return;
  case 3:
    m.add(make<graph::MaxOp>(m, {x, y}), std::max(a, b));
    return;
  case 4:
    m.add(make<graph::DivOp>(m, {x, y}), a);
    return;
  case 5:
    m.add(make<graph::RemOp>(m, {x, y}), a);
    return;
  case 6:
    m.add(make<graph::AndOp>(m, {x, y}), bits);
    return;
  case 7:
    m.add(make<graph::XorOp>(m, {x, y}), bits);
    return;
  case 8:
    m.add(make<graph::NotOp>(m, x), a + 1);
    return;
  case 9:
    return shifted(graph::ShiftLeftOp(), 8 * a);
  case 10:
    return shifted(graph::ShiftRightOp(), a);
  default:
    m.add(make<graph::NegOp>(m, x), a);
  }
}

void addSelect(GraphMaker &m) {
  OpBuilder &b = m.builder();
  Value x = m.choose().chance(20) ? m.anyInteger() : m.anyFloat(), y = m.like(x);
  auto predicate = static_cast<graph::Predicate>(m.choose().below(6));
  Value condition = graph::CompareOp::create(b, m.loc(), predicate, x, y);
  if (m.choose().chance(20)) {
    Value other = graph::CompareOp::create(b, m.loc(), graph::Predicate::LT, y, x);
    condition = m.choose().chance(50) ? Value(graph::OrOp::create(b, m.loc(), condition, other))
                                      : Value(graph::AndOp::create(b, m.loc(), condition, other));
  }
  m.add(condition, 1);
  Value z = m.like(x);
  m.add(graph::SelectOp::create(b, m.loc(), condition, x, z), std::max(m.bound(x), m.bound(z)));
}

void addCast(GraphMaker &m) {
  OpBuilder &b = m.builder();
  auto to = [&](Value value, Type element) { return graph::buildCast(b, value, element); };
  switch (m.choose().below(5)) {
  case 0: { // bools and integers, cast to floats
    Value x = m.find([](Value v) { return !isFloating(v); });
    if (!x)
      x = m.anyInteger();
    m.add(to(x, m.floatType()), m.bound(x));
    return;
  }
  case 1: { // to another dtype and back, which rounds
    const std::vector<Type> types = {b.getF64Type(), b.getF32Type(), b.getBF16Type(),
                                     b.getF16Type()};
    Value x = m.limited(m.anyFloat(), 1000);
    Type type = m.choose().pick(types);
    m.add(to(to(x, type), m.floatType()), m.bound(x));
    return;
  }
  case 2: {
    const std::vector<Type> types = {b.getI64Type(), b.getI32Type(), b.getI8Type(),
                                     b.getIntegerType(8, false)};
    Type type = m.choose().pick(types);
    Value x = m.limited(m.anyFloat(), 100);
    if (type.isUnsignedInteger())
      x = m.awayFromZero(x);
    m.add(to(x, type), m.bound(x));
    return;
  }
  case 3: {
    Value x = m.limited(m.anyInteger(), 100);
    m.add(to(x, m.choose().chance(50) ? b.getI32Type() : b.getI64Type()), m.bound(x));
    return;
  }
  default:
    m.add(to(m.anyFloat(), b.getI1Type()), 1);
  }
}

void addReduction(GraphMaker &m) {
  Value x = m.choose().chance(12) ? m.anyInteger() : m.anyFloat(1);
  Sizes shape = graph::staticShapeOf(x);
  if (shape.empty())
    return;
  SmallVector<int64_t> dims;
  if (m.choose().chance(50)) {
    for (size_t dim = m.choose().below(static_cast<uint32_t>(shape.size())); dim < shape.size();
         ++dim)
      dims.push_back(static_cast<int64_t>(dim));
  } else {
    for (size_t dim = 0; dim < shape.size(); ++dim)
      if (m.choose().chance(50))
        dims.push_back(static_cast<int64_t>(dim));
  }
  auto kind = static_cast<graph::Reduction>(m.choose().below(6) % 4);
  int64_t count = elementsOf(shape, dims);
  if (kind == graph::Reduction::Prod)
    x = m.limited(x, count > 16 ? 1 : 2);
  double bound = m.bound(x);
  if (kind == graph::Reduction::Sum)
    bound *= static_cast<double>(count);
  if (kind == graph::Reduction::Prod)
    bound = std::pow(bound, static_cast<double>(count));
  m.add(graph::buildReduce(m.builder(), kind, x, dims), bound);
}

// Broadcasts a value to the shape of another one with more dims.
void addBroadcast(GraphMaker &m) {
  Value whole = m.anyFloat(1);
  Sizes shape = graph::staticShapeOf(whole);
  Value part = m.find([&](Value v) {
    if (graph::elementTypeOf(v) != m.floatType() || graph::rankOf(v) >= graph::rankOf(whole))
      return false;
    size_t next = 0;
    for (int64_t size : graph::staticShapeOf(v)) {
      while (next < shape.size() && shape[next] != size)
        ++next;
      if (next == shape.size())
        return false;
      ++next;
    }
    return true;
  });
  if (!part)
    return;
  SmallVector<int64_t> dims;
  size_t next = 0;
  for (int64_t size : graph::staticShapeOf(part)) {
    while (shape[next] != size)
      ++next;
    dims.push_back(static_cast<int64_t>(next++));
  }
  Value wide = graph::BroadcastOp::create(m.builder(), m.loc(), whole.getType(), part, dims);
  m.add(wide, m.bound(part));
  m.add(graph::SubOp::create(m.builder(), m.loc(), whole, wide), m.bound(whole) + m.bound(part));
}

void addUnitDim(GraphMaker &m) {
  Value x = m.anyFloat();
  Sizes shape = graph::staticShapeOf(x);
  auto unit = llvm::find(shape, 1);
  if (unit != shape.end() && m.choose().chance(60))
    shape.erase(unit);
  else if (shape.size() < 5)
    shape.insert(shape.begin() + m.choose().below(static_cast<uint32_t>(shape.size()) + 1), 1);
  m.add(graph::ReshapeOp::create(m.builder(), m.loc(),
                                 RankedTensorType::get(shape, graph::elementTypeOf(x)), x),
        m.bound(x));
}

void addCount(GraphMaker &m) {
  OpBuilder &b = m.builder();
  Value x = m.anyFloat(1);
  Sizes shape = graph::staticShapeOf(x);
  uint64_t dim = m.choose().below(static_cast<uint32_t>(shape.size()));
  Type integers = RankedTensorType::get(shape, b.getI64Type());
  Value count = graph::IotaOp::create(b, m.loc(), integers, dim);
  if (m.choose().chance(40)) {
    m.add(graph::RandomOp::create(b, m.loc(), RankedTensorType::get(shape, b.getF32Type()), count,
                                  m.splat(integers, m.choose().below(100))),
          1);
    return;
  }
  if (m.choose().chance(40)) { // a causal mask, or a window
    Value limit = m.splat(integers, m.choose().below(static_cast<uint32_t>(shape[dim]) + 1));
    Value mask = graph::CompareOp::create(b, m.loc(), graph::Predicate::LT, count, limit);
    m.add(graph::SelectOp::create(b, m.loc(), mask, x, m.splat(x.getType(), -3)),
          std::max(3.0, m.bound(x)));
    return;
  }
  m.add(count, static_cast<double>(shape[dim]));
}

void addNorm(GraphMaker &m) {
  OpBuilder &b = m.builder();
  Value x = m.anyFloat(1);
  SmallVector<int64_t> dims = {graph::rankOf(x) - 1};
  if (dims[0] > 0 && m.choose().chance(30))
    dims.insert(dims.begin(), dims[0] - 1);
  bool isMax = m.choose().chance(40);
  Value statistic =
      isMax ? graph::buildReduce(b, graph::Reduction::Max, x, dims) : graph::buildMean(b, x, dims);
  Value centred =
      graph::SubOp::create(b, m.loc(), x, graph::buildBroadcastOver(b, statistic, x, dims));
  m.add(centred, 2 * m.bound(x));
  if (m.choose().chance(40))
    return;
  Value weight = isMax && m.bound(x) < 20
                     ? Value(graph::ExpOp::create(b, m.loc(), centred))
                     : Value(graph::MulOp::create(b, m.loc(), centred, centred));
  Value sum = graph::buildReduce(b, graph::Reduction::Sum, weight, dims);
  sum = graph::AddOp::create(b, m.loc(), sum, m.splat(sum.getType(), 0.5));
  m.add(graph::DivOp::create(b, m.loc(), weight, graph::buildBroadcastOver(b, sum, x, dims)), 1);
}

} // namespace cleave::fuzz
