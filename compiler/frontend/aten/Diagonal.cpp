// Diagonals: as views, writes to them, matrices from vectors, traces.
#include "compiler/frontend/aten/MakeView.h"

#include "compiler/frontend/emit/Einsum.h"

namespace cleave::aten {
namespace {

using emit::Emitter;
using emit::Predicate;

// A diagonal of two dims, as the last dim.
struct Diagonal {
  int64_t a, b, offset;
};

Diagonal diagonalOf(OpCall &c, Array x) {
  int64_t rank = rankOf(x);
  Diagonal out{c.dim("dim1", rank), c.dim("dim2", rank), c.plainInteger("offset")};
  if (out.a == out.b)
    fail("takes the diagonal of dim ", out.a, " with itself");
  return out;
}

// The permutation that moves these two dims to the end.
Ints orderFor(int64_t rank, const Diagonal &d) {
  Ints order;
  for (int64_t i = 0; i < rank; ++i)
    if (i != d.a && i != d.b)
      order.push_back(i);
  order.insert(order.end(), {d.a, d.b});
  return order;
}

Array readDiagonal(Emitter &e, Array x, const Diagonal &d) {
  int64_t rank = rankOf(x);
  Array matrix = e.transpose(x, orderFor(rank, d));
  auto cutTo = [&](Array m, int64_t dim, const Polynomial &start) {
    return e.slice(m, dim, start, shapeOf(m)[dim] - start);
  };
  if (d.offset != 0)
    matrix = d.offset > 0 ? cutTo(matrix, rank - 1, d.offset)
                          : cutTo(matrix, rank - 2, Polynomial(0) - Polynomial(d.offset));
  Polynomial rows = shapeOf(matrix)[rank - 2], columns = shapeOf(matrix)[rank - 1];
  bool isWide = emit::compare(Predicate::LE, {rows}, {columns}).value_or(true);
  matrix = e.slice(matrix, isWide ? rank - 1 : rank - 2, 0, isWide ? rows : columns);
  return emit::diagonal(e, matrix, rank - 2, rank - 1);
}

// The base with `part` on the diagonal: every row (column, below the main one) holds one element of
// it.
Array writeDiagonal(Emitter &e, Array x, const Diagonal &d, Array part) {
  int64_t rank = rankOf(x), line = d.offset < 0 ? rank - 1 : rank - 2;
  Ints order = orderFor(rank, d), inverse(rank);
  for (int64_t i = 0; i < rank; ++i)
    inverse[order[i]] = i;
  Array matrix = e.transpose(x, order);
  Sizes shape = shapeOf(matrix);
  Polynomial missing = shape[line] - e.dim(part, rank - 2);
  part = e.cast(part, elementTypeOf(x));
  if (missing != Polynomial(0))
    part = e.concat({part,
                     [&] {
                       Sizes rest = shapeOf(part);
                       rest[rank - 2] = missing;
                       return e.splat(rest, elementTypeOf(x), 0);
                     }()},
                    rank - 2);
  Array spread = e.broadcast(e.insertDim(part, line == rank - 2 ? rank - 1 : rank - 2), shape);
  mlir::Type index = e.b.getI32Type();
  Array rows = e.iota(shape, rank - 2, index), columns = e.iota(shape, rank - 1, index);
  Array isInside = e.compare(
      Predicate::EQ, d.offset == 0 ? rows : e.add(rows, static_cast<double>(d.offset)), columns);
  return e.transpose(e.select(isInside, spread, matrix), inverse);
}

Results diagonal(OpCall &c) {
  Diagonal d = diagonalOf(c, c.tensor("self"));
  return makeView(
      c, c["self"], [d](Emitter &e, Array base) { return readDiagonal(e, base, d); },
      [d](Emitter &e, Array base, Array part) { return writeDiagonal(e, base, d, part); },
      [d](std::vector<Polynomial> &strides) {
        Polynomial step = strides[d.a] + strides[d.b];
        strides.erase(strides.begin() + std::max(d.a, d.b));
        strides.erase(strides.begin() + std::min(d.a, d.b));
        strides.push_back(step);
      });
}

Results diagonalScatter(OpCall &c) {
  Array x = c.tensor("self");
  return writeDiagonal(c.e, x, diagonalOf(c, x), c.tensor("src"));
}

Results fillDiagonal(OpCall &c) {
  Array x = c.tensor("self");
  if (rankOf(x) != 2 || c.boolean("wrap"))
    fail("fills the diagonal of ", rankOf(x), " dims", (c.boolean("wrap") ? ", wrapped" : ""),
         ", which Cleave does of 2 dims only");
  Diagonal main{0, 1, 0};
  return writeDiagonal(c.e, x, main, c.e.splat(readDiagonal(c.e, x, main), c.number("fill_value")));
}

// -- made of vectors ------------------------------------------------------------------------------
// Expands the last dim to the diagonal of two new dims; the other elements are 0.
Array embedded(OpCall &c, Array x, Diagonal d) {
  Sizes shape = shapeOf(x);
  Polynomial size =
      shape.back() + (d.offset < 0 ? Polynomial(0) - Polynomial(d.offset) : Polynomial(d.offset));
  shape.pop_back();
  for (int64_t dim : {std::min(d.a, d.b), std::max(d.a, d.b)})
    shape.insert(shape.begin() + dim, size);
  return writeDiagonal(c.e, c.e.splat(shape, elementTypeOf(x), 0), d, x);
}

Results diagonalEmbed(OpCall &c) {
  Array x = c.tensor("self");
  int64_t rank = rankOf(x) + 1;
  Diagonal d{c.dim("dim1", rank), c.dim("dim2", rank), c.plainInteger("offset")};
  if (rank < 2 || d.a == d.b)
    fail("makes a diagonal of ", emit::showShape(shapeOf(x)), " in the dims ", d.a, " and ", d.b);
  return embedded(c, x, d);
}

Results diag(OpCall &c) {
  Array x = c.tensor("self");
  Diagonal d{0, 1, c.plainInteger("diagonal")};
  if (rankOf(x) == 1)
    return embedded(c, x, d);
  c.e.checkRank(x, 2);
  return readDiagonal(c.e, x, d);
}

Results diagFlat(OpCall &c) {
  Array x = c.tensor("self");
  return embedded(c, c.e.reshape(x, {emit::product(shapeOf(x))}), {0, 1, c.plainInteger("offset")});
}

Results trace(OpCall &c) {
  return c.e.reduce(emit::Reduction::Sum, readDiagonal(c.e, c.tensor("self"), {0, 1, 0}), {0});
}

constexpr OpEntry kDiagonalOps[] = {
    {"diag", "T self, i diagonal=0", diag},
    {"diag_embed", "T self, i offset=0, i dim1=-2, i dim2=-1", diagonalEmbed},
    {"diagflat", "T self, i offset=0", diagFlat},
    {"diagonal", "T self, i offset=0, i dim1=0, i dim2=1", diagonal},
    {"diagonal_scatter", "T self, T src, i offset=0, i dim1=0, i dim2=1", diagonalScatter},
    {"fill_diagonal", "T self, s fill_value, b wrap=False", fillDiagonal},
    {"trace", "T self", trace},
};

} // namespace

llvm::ArrayRef<OpEntry> diagonalOps() { return kDiagonalOps; }

} // namespace cleave::aten
