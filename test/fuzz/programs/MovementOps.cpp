// Families of ops for whole steps that move elements: layouts, slices, rows selected by index,
// sorting.
#include "dialects/graph/Build.h"
#include "test/fuzz/programs/GraphMaker.h"

#include <algorithm>
#include <numeric>

using namespace mlir;

namespace cleave::fuzz {

namespace {

uint32_t anyDim(GraphMaker &m, Value value) {
  return m.choose().below(static_cast<uint32_t>(graph::rankOf(value)));
}
Type typeOf(Value value, const Sizes &shape) {
  return RankedTensorType::get(shape, graph::elementTypeOf(value));
}

// Indices into a table with `rows` rows; some are out of range.
Value indicesFor(GraphMaker &m, const Sizes &shape, int64_t rows) {
  bool outside = m.choose().chance(20);
  rows = std::max<int64_t>(rows, 1); // of a table without rows, all are out of range
  return m.integers(shape, outside ? -1 : 0, outside ? rows + 1 : rows);
}

} // namespace

void addTranspose(GraphMaker &m) {
  Value x = m.anyFloat(2);
  SmallVector<int64_t> order(graph::rankOf(x));
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i-- > 1;)
    std::swap(order[i], order[i - 1 - m.choose().below(static_cast<uint32_t>(i))]);
  m.add(graph::buildTranspose(m.builder(), x, order), m.bound(x));
}

// Merges neighbouring dims, or splits a dim into two.
void addReshape(GraphMaker &m) {
  Value x = m.anyFloat(1);
  Sizes shape = graph::staticShapeOf(x);
  uint32_t dim = anyDim(m, x);
  if (dim + 1 < shape.size() && m.choose().chance(60)) {
    shape[dim] *= shape[dim + 1];
    shape.erase(shape.begin() + dim + 1);
  } else {
    const std::vector<int64_t> parts = {2, 3, 4};
    int64_t part = m.choose().pick(parts);
    if (shape[dim] % part != 0)
      return;
    shape[dim] /= part;
    shape.insert(shape.begin() + dim + 1, part);
  }
  m.add(graph::ReshapeOp::create(m.builder(), m.loc(), typeOf(x, shape), x), m.bound(x));
}

void addSlice(GraphMaker &m) {
  Value x = m.anyFloat(1);
  Sizes shape = graph::staticShapeOf(x);
  uint32_t dim = anyDim(m, x);
  auto size = static_cast<uint32_t>(shape[dim]);
  uint32_t start = m.choose().below(std::max(size, 1u)), stride = 1 + m.choose().below(3);
  bool isEmpty = size == 0 || m.choose().chance(2);
  shape[dim] = isEmpty ? 0 : 1 + m.choose().below((size - start - 1) / stride + 1);
  m.add(graph::SliceOp::create(m.builder(), m.loc(), typeOf(x, shape), x, dim, Polynomial(start),
                               stride),
        m.bound(x));
}

void addPad(GraphMaker &m) {
  Value x = m.anyFloat(1);
  Sizes shape = graph::staticShapeOf(x);
  uint32_t dim = anyDim(m, x), low = m.choose().below(3), high = m.choose().below(3),
           interior = m.choose().chance(30) ? 1 + m.choose().below(2) : 0;
  double value = m.choose().below(3) - 1.0;
  shape[dim] = shape[dim] + low + high + std::max<int64_t>(0, shape[dim] - 1) * interior;
  if (!m.fits(shape))
    return;
  m.add(graph::PadOp::create(m.builder(), m.loc(), typeOf(x, shape), x, dim, Polynomial(low),
                             interior, value),
        std::max(1.0, m.bound(x)));
}

void addConcat(GraphMaker &m) {
  Value x = m.anyFloat(1);
  SmallVector<Value> parts = {x};
  double bound = m.bound(x);
  for (uint32_t count = 1 + m.choose().below(2); count > 0; --count) {
    parts.push_back(m.like(x));
    bound = std::max(bound, m.bound(parts.back()));
  }
  Sizes shape = graph::staticShapeOf(x);
  uint32_t dim = anyDim(m, x);
  shape[dim] *= static_cast<int64_t>(parts.size());
  if (m.fits(shape))
    m.add(graph::ConcatOp::create(m.builder(), m.loc(), typeOf(x, shape), parts, dim), bound);
}

void addReverse(GraphMaker &m) {
  Value x = m.anyFloat(1);
  uint64_t dim = anyDim(m, x);
  m.add(graph::ReverseOp::create(m.builder(), m.loc(), x.getType(), x, dim), m.bound(x));
}

void addGather(GraphMaker &m) {
  Value x = m.anyFloat(1);
  Sizes shape = graph::staticShapeOf(x);
  uint32_t dim = anyDim(m, x), batch = m.choose().chance(30) ? m.choose().below(dim + 1) : 0;
  Sizes chosen = m.shape(2), indices(shape.begin(), shape.begin() + batch);
  indices.insert(indices.end(), chosen.begin(), chosen.end());
  int64_t rows = shape[dim];
  shape.erase(shape.begin() + dim);
  shape.insert(shape.begin() + dim, chosen.begin(), chosen.end());
  if (!m.fits(shape) || !m.fits(indices))
    return;
  m.add(graph::GatherOp::create(m.builder(), m.loc(), typeOf(x, shape), x,
                                indicesFor(m, indices, rows), dim, batch),
        m.bound(x));
}

void addScatter(GraphMaker &m) {
  Value x = m.anyFloat(1);
  Sizes shape = graph::staticShapeOf(x);
  uint32_t dim = anyDim(m, x);
  int64_t count = shape[dim], rows = m.size();
  Value indices = indicesFor(m, {count}, rows);
  shape[dim] = rows;
  if (!m.fits(shape))
    return;
  const std::vector<graph::Reduction> kinds = {graph::Reduction::Sum, graph::Reduction::Sum,
                                               graph::Reduction::Max, graph::Reduction::Min};
  graph::Reduction kind = m.choose().pick(kinds);
  Value made =
      graph::ScatterOp::create(m.builder(), m.loc(), typeOf(x, shape), kind, x, indices, dim);
  if (kind != graph::Reduction::Sum) { // rows without an index are infinite
    made = graph::MaxOp::create(m.builder(), m.loc(), made, m.splat(made.getType(), -9));
    made = graph::MinOp::create(m.builder(), m.loc(), made, m.splat(made.getType(), 9));
  }
  m.add(made, std::max(9.0, m.bound(x) * static_cast<double>(count)));
}

void addScan(GraphMaker &m) {
  Value x = m.anyFloat(1);
  uint64_t dim = anyDim(m, x);
  const std::vector<graph::Reduction> kinds = {graph::Reduction::Sum, graph::Reduction::Max,
                                               graph::Reduction::Min};
  auto count = static_cast<double>(graph::staticShapeOf(x)[dim]);
  m.add(graph::ScanOp::create(m.builder(), m.loc(), m.choose().pick(kinds), x, dim),
        m.bound(x) * count);
}

void addSort(GraphMaker &m) {
  Value x = m.anyFloat(1);
  uint64_t dim = anyDim(m, x);
  auto sort = graph::SortOp::create(m.builder(), m.loc(), x, dim, m.choose().chance(50));
  m.add(sort.getValues(), m.bound(x));
  if (m.choose().chance(30))
    m.add(sort.getIndices(), static_cast<double>(graph::staticShapeOf(x)[dim]));
}

} // namespace cleave::fuzz
