// Families of ops of networks: products, convolutions, norms, attention, dropout.
#include "dialects/graph/Build.h"
#include "dialects/graph/StopGradient.h"
#include "test/fuzz/programs/GraphMaker.h"

#include <algorithm>

using namespace mlir;

namespace cleave::fuzz {

namespace {

Type tensorTypeOf(Value value, const Sizes &shape) {
  return RankedTensorType::get(shape, graph::elementTypeOf(value));
}

// A window over the spatial dims of an input, and its number of positions along each; empty if it
// does not fit.
struct Window {
  SmallVector<int64_t> kernel, strides, dilations, padsLow, padsHigh;
  Sizes positions;
  bool valid = true;
};

Window anyWindow(GraphMaker &m, ArrayRef<int64_t> spatial) {
  Window w;
  for (int64_t size : spatial) {
    int64_t kernel = 1 + m.choose().below(3), stride = 1 + m.choose().below(2),
            dilation = m.choose().chance(20) ? 2 : 1, low = m.choose().below(2),
            high = m.choose().below(2);
    if (low >= kernel || high >= kernel) // as in PyTorch, a window contains a part of the input
      low = high = 0;
    int64_t room = size + low + high - (kernel - 1) * dilation - 1;
    w.valid &= room >= 0;
    w.kernel.push_back(kernel);
    w.strides.push_back(stride);
    w.dilations.push_back(dilation);
    w.padsLow.push_back(low);
    w.padsHigh.push_back(high);
    w.positions.push_back(room / stride + 1);
  }
  return w;
}

// A float of N C spatial…, with one or two spatial dims.
Value anyImage(GraphMaker &m) {
  Value x = m.find([&](Value v) {
    return graph::elementTypeOf(v) == m.floatType() &&
           (graph::rankOf(v) == 3 || graph::rankOf(v) == 4);
  });
  if (x)
    return x;
  Sizes shape = {1 + m.choose().below(3), 1 + m.choose().below(4), 2 + m.choose().below(6)};
  if (m.choose().chance(60))
    shape.push_back(2 + m.choose().below(6));
  return m.argument(shape);
}

// Adds a value that is bounded, whatever its operands are: the results of attention and norms.
void addBounded(GraphMaker &m, Value value) { m.add(value, 30); }

} // namespace

void addProduct(GraphMaker &m) {
  Value x = m.limited(m.anyFloat(1), 4);
  Sizes lhs = graph::staticShapeOf(x), rhs, free;
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsContracting, rhsContracting;
  int64_t summands = 1;
  for (size_t dim = 0; dim < lhs.size(); ++dim) {
    uint32_t kind = m.choose().below(10); // 0-3: of lhs alone, 4-7: contracted, 8-9: batch
    if (kind >= 8) {
      lhsBatch.push_back(static_cast<int64_t>(dim));
      rhsBatch.push_back(static_cast<int64_t>(rhs.size()));
      rhs.push_back(lhs[dim]);
    } else if (kind >= 4) {
      lhsContracting.push_back(static_cast<int64_t>(dim));
      rhsContracting.push_back(static_cast<int64_t>(rhs.size()));
      rhs.push_back(lhs[dim]);
      summands *= lhs[dim];
    } else if (m.choose().chance(30)) {
      rhs.push_back(m.size());
    }
  }
  if (rhs.empty() || m.choose().chance(50))
    rhs.push_back(m.size());
  if (!m.fits(rhs))
    return;
  for (int64_t dim : lhsBatch)
    free.push_back(lhs[dim]);
  for (size_t dim = 0; dim < lhs.size(); ++dim)
    if (!llvm::is_contained(lhsBatch, dim) && !llvm::is_contained(lhsContracting, dim))
      free.push_back(lhs[dim]);
  for (size_t dim = 0; dim < rhs.size(); ++dim)
    if (!llvm::is_contained(rhsBatch, dim) && !llvm::is_contained(rhsContracting, dim))
      free.push_back(rhs[dim]);
  if (!m.fits(free))
    return;
  Value y = m.find([&](Value v) { return v.getType() == tensorTypeOf(x, rhs); });
  if (!y)
    y = m.choose().chance(70) ? m.parameter(rhs) : m.argument(rhs);
  m.add(graph::DotGeneralOp::create(m.builder(), m.loc(), x, m.limited(y, 4), lhsBatch, rhsBatch,
                                    lhsContracting, rhsContracting),
        m.bound(x) * 4 * static_cast<double>(summands));
}

void addLayer(GraphMaker &m) {
  OpBuilder &b = m.builder();
  Value x = m.limited(m.anyFloat(1), 4);
  int64_t last = graph::rankOf(x) - 1, width = graph::staticShapeOf(x)[last], out = m.size();
  Sizes shape = graph::staticShapeOf(x);
  shape[last] = out;
  if (!m.fits(shape) || !m.fits({width, out}))
    return;
  bool isTransposed = m.choose().chance(40);
  Value weight = m.find([&](Value v) {
    return v.getType() == tensorTypeOf(x, isTransposed ? Sizes{out, width} : Sizes{width, out}) &&
           isa<BlockArgument>(v);
  });
  if (!weight)
    weight = m.parameter(isTransposed ? Sizes{out, width} : Sizes{width, out}, -0.5, 0.5);
  ArrayRef<int64_t> none;
  Value y = graph::DotGeneralOp::create(b, m.loc(), x, weight, none, none, ArrayRef<int64_t>{last},
                                        ArrayRef<int64_t>{isTransposed ? 1 : 0});
  if (m.choose().chance(60)) {
    Value bias = m.parameter({out});
    y = graph::AddOp::create(
        b, m.loc(), y,
        graph::BroadcastOp::create(b, m.loc(), y.getType(), bias, ArrayRef<int64_t>{last}));
  }
  m.add(y, m.bound(x) * 2 * static_cast<double>(width) + 1);
}

void addConvolution(GraphMaker &m) {
  Value x = m.limited(anyImage(m), 4);
  Sizes shape = graph::staticShapeOf(x);
  Window w = anyWindow(m, ArrayRef(shape).drop_front(2));
  int64_t groups = shape[1] % 2 == 0 && m.choose().chance(30) ? 2 : 1;
  int64_t out = groups * (1 + m.choose().below(3));
  Sizes result = {shape[0], out}, weight = {out, shape[1] / groups};
  result.insert(result.end(), w.positions.begin(), w.positions.end());
  weight.insert(weight.end(), w.kernel.begin(), w.kernel.end());
  if (!w.valid || !m.fits(result) || !m.fits(weight))
    return;
  m.add(graph::ConvOp::create(m.builder(), m.loc(), tensorTypeOf(x, result), x, m.parameter(weight),
                              w.strides, w.dilations, w.padsLow, w.padsHigh, groups),
        m.bound(x) * 9 * static_cast<double>(weight[1]));
}

void addPool(GraphMaker &m) {
  Value x = anyImage(m);
  Sizes shape = graph::staticShapeOf(x);
  Window w = anyWindow(m, ArrayRef(shape).drop_front(2));
  Sizes result = {shape[0], shape[1]};
  result.insert(result.end(), w.positions.begin(), w.positions.end());
  if (!w.valid || !m.fits(result))
    return;
  auto kind = m.choose().chance(50) ? graph::PoolKind::Average : graph::PoolKind::Max;
  bool countsPadding = kind == graph::PoolKind::Average && m.choose().chance(50);
  m.add(graph::PoolOp::create(m.builder(), m.loc(), tensorTypeOf(x, result), x, kind, w.kernel,
                              w.strides, w.dilations, w.padsLow, w.padsHigh, countsPadding),
        m.bound(x));
}

void addActivation(GraphMaker &m) {
  OpBuilder &b = m.builder();
  Value x = m.anyFloat();
  double bound = m.bound(x);
  switch (m.choose().below(8)) {
  case 0:
    m.add(graph::ReluOp::create(b, m.loc(), x), bound);
    return;
  case 1:
    m.add(graph::SigmoidOp::create(b, m.loc(), m.limited(x, 20)), 1);
    return;
  case 2:
    m.add(graph::SiluOp::create(b, m.loc(), m.limited(x, 20)), bound);
    return;
  case 3:
    m.add(graph::GeluOp::create(b, m.loc(), x.getType(), x, m.choose().chance(50)), bound);
    return;
  case 4:
    m.add(graph::QuickGeluOp::create(b, m.loc(), m.limited(x, 20)), bound);
    return;
  case 5:
    m.add(graph::StopGradientOp::create(b, m.loc(), x), bound);
    return;
  default: {
    x = m.anyFloat(1);
    uint64_t dim = m.choose().below(static_cast<uint32_t>(graph::rankOf(x)));
    if (m.choose().chance(50))
      m.add(graph::SoftmaxOp::create(b, m.loc(), x, dim), 1);
    else
      m.add(graph::LogSoftmaxOp::create(b, m.loc(), x, dim), 2 * m.bound(x) + 5);
  }
  }
}

void addNormalisation(GraphMaker &m) {
  OpBuilder &b = m.builder();
  Value x = m.anyFloat(1);
  Sizes shape = graph::staticShapeOf(x);
  size_t first = shape.size() - (m.choose().chance(20) ? std::min<size_t>(2, shape.size()) : 1);
  Sizes normal(shape.begin() + static_cast<std::ptrdiff_t>(first), shape.end());
  Value scale = m.parameter(normal, 0.5, 1.5);
  if (m.choose().chance(40))
    addBounded(
        m, graph::RmsNormOp::create(b, m.loc(), x.getType(), x, scale, b.getF64FloatAttr(1e-2)));
  else
    addBounded(m, graph::LayerNormOp::create(b, m.loc(), x.getType(), x, scale, m.parameter(normal),
                                             b.getF64FloatAttr(1e-2)));
}

void addBatchNorm(GraphMaker &m) {
  OpBuilder &b = m.builder();
  Value x = m.anyFloat(2);
  Sizes shape = graph::staticShapeOf(x), channels = {shape[1]};
  int64_t elements = 1;
  for (int64_t size : shape)
    elements *= size;
  if (shape[1] == 0 || elements / shape[1] < 2)
    return;
  Value mean = m.state(channels, -0.5, 0.5), variance = m.state(channels, 0.5, 1.5);
  Value scale = m.parameter(channels, 0.5, 1.5), bias = m.parameter(channels);
  auto norm = graph::BatchNormOp::create(b, m.loc(), x.getType(), scale.getType(), scale.getType(),
                                         x, scale, bias, mean, variance, b.getF64FloatAttr(1e-2),
                                         b.getF64FloatAttr(0.1));
  addBounded(m, norm.getResult());
}

void addAttention(GraphMaker &m) {
  OpBuilder &b = m.builder();
  const bool mayBeZigzag = m.choose().chance(30); // on 2 ranks; 8 queries on 4, and 12 on 3
  int64_t groups = 1 + m.choose().below(2), heads = groups * (1 + m.choose().below(2)),
          queries = mayBeZigzag ? 4 * (1 + m.choose().below(3)) : m.size(),
          keys = mayBeZigzag || m.choose().chance(50) ? queries : m.size(),
          width = 1 + m.choose().below(5), depth = 1 + m.choose().below(5),
          batch = 1 + m.choose().below(3);
  if (!m.fits({batch, heads, queries, keys}))
    return;
  auto operand = [&](Sizes shape) {
    Value found =
        m.find([&](Value v) { return v.getType() == RankedTensorType::get(shape, m.floatType()); });
    return m.limited(found ? found : m.argument(shape), 3);
  };
  Value query = operand({batch, heads, queries, width}),
        key = operand({batch, groups, keys, width}), value = operand({batch, groups, keys, depth}),
        bias, mask;
  // Of the scores' shape, or repeated along some dims.
  auto added = [&] {
    Sizes scores = {batch, heads, queries, keys};
    for (int64_t &size : scores)
      size = m.choose().chance(25) ? 1 : size;
    return operand(scores);
  };
  if (m.choose().chance(25))
    bias = added();
  if (m.choose().chance(25)) {
    Value numbers = added();
    mask = graph::CompareOp::create(b, m.loc(), graph::Predicate::LT, numbers,
                                    m.splat(numbers.getType(), 0.7));
  }
  UnitAttr set = b.getUnitAttr(), unset;
  auto attention = graph::AttentionOp::create(
      b, m.loc(), query, key, value, bias, mask, Value(), b.getF64FloatAttr(0.5),
      mayBeZigzag || m.choose().chance(40) ? set : unset, m.choose().chance(70) ? set : unset,
      m.choose().chance(30) ? b.getF64FloatAttr(-1e4) : FloatAttr(),
      m.choose().chance(25) ? b.getF64FloatAttr(0.25) : FloatAttr());
  addBounded(m, attention.getResult());
}

// Rows times a matrix per group; some groups are empty, and some rows in none.
void addGroupedProduct(GraphMaker &m) {
  OpBuilder &b = m.builder();
  const int64_t rows = m.size(), in = 1 + m.choose().below(5), out = 1 + m.choose().below(5),
                groups = 1 + m.choose().below(4);
  if (!m.fits({rows, groups, in}))
    return;
  Value x = m.limited(m.argument({rows, in}), 3),
        weights = m.limited(m.argument({groups, in, out}), 3);
  Tensor ends(ElementType::I64, {groups});
  for (double &end : ends.values)
    end = m.choose().below(static_cast<uint32_t>(rows) + 1);
  std::sort(ends.values.begin(), ends.values.end());
  Value given = graph::ConstantOp::create(b, m.loc(), graph::toAttribute(ends, b.getContext()));
  m.add(graph::GroupedMatmulOp::create(b, m.loc(), x, weights, given),
        static_cast<double>(in) * m.bound(x) * m.bound(weights));
}

void addDropout(GraphMaker &m) {
  Value x = m.anyFloat();
  m.add(graph::DropoutOp::create(m.builder(), m.loc(), x.getType(), x, Value(),
                                 m.builder().getF64FloatAttr(0.25)),
        2 * m.bound(x));
}

} // namespace cleave::fuzz
