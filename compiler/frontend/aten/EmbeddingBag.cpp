// Bags of rows of a table: their sum, mean or largest elements (embedding_bag).
#include "compiler/frontend/aten/OpCall.h"

#include "compiler/frontend/emit/Coordinates.h"
#include "compiler/frontend/emit/Elementwise.h"
#include "compiler/frontend/emit/Indexing.h"
#include "compiler/frontend/emit/Ordering.h"

#include <limits>

namespace cleave::aten {
namespace {

using emit::Predicate;
using emit::Reduction;

// How the rows of a bag are combined, with PyTorch's numbers.
enum Mode { Sum = 0, Mean = 1, Max = 2 };

// The rows of all bags, in order.
struct Rows {
  Array values; // [rows, width]
  Array counts; // bool [rows]: whether a row is one of its bag; null: all are
};

// `rows` with `instead` in the place of those that do not count.
Array withoutOthers(OpCall &c, const Rows &rows, double instead) {
  if (!rows.counts)
    return rows.values;
  Array counts = c.e.broadcast(c.e.insertDim(rows.counts, 1), shapeOf(rows.values));
  return c.e.select(counts, rows.values, c.e.splat(rows.values, instead));
}

constexpr double kLeast = -std::numeric_limits<double>::infinity();

// 1 for each row that counts, else 0.
Array ones(OpCall &c, const Rows &rows) {
  Sizes shape{shapeOf(rows.values)[0]};
  return rows.counts ? c.cast(rows.counts, typeOf(rows.values))
                     : c.filled(shape, typeOf(rows.values), 1);
}

// sums / counts, and 0 where a bag is empty.
Array meanOf(OpCall &c, Array sums, Array counts) {
  counts = c.e.max(counts, 1.0);
  return c.e.div(sums, c.e.broadcast(c.e.insertDim(counts, 1), shapeOf(sums)));
}

// -- bags of one size -----------------------------------------------------------------------------
// The largest element of each column of a bag, with its gradient to the first that is as large.
Array largestOfEqual(OpCall &c, Array bags) {
  Array place = emit::argMinMax(c.e, bags, 1, /*largest=*/true, /*keep=*/true);
  Array best = c.e.dropDim(emit::gatherElements(c.e, bags, place, 1, /*neverNegative=*/true), 1);
  return c.e.select(c.e.compare(Predicate::EQ, best, kLeast), c.e.splat(best, 0), best);
}

Array equalBags(OpCall &c, const Rows &rows, const Polynomial &bags, const Polynomial &each,
                Mode mode) {
  Array all = withoutOthers(c, rows, mode == Max ? kLeast : 0);
  all = c.e.reshape(all, {bags, each, shapeOf(all)[1]});
  if (mode == Max)
    return largestOfEqual(c, all);
  Array sums = c.e.reduce(Reduction::Sum, all, {1});
  if (mode == Sum)
    return sums;
  return meanOf(c, sums, c.e.reduce(Reduction::Sum, c.e.reshape(ones(c, rows), {bags, each}), {1}));
}

// -- bags of any size -----------------------------------------------------------------------------
// The bag of each row, from the places where bags begin: the last one that begins there or before.
// The rows before all bags are in bag -1.
Array bagOfEachRow(OpCall &c, const Polynomial &rows, Array begins) {
  const Sizes pairs{rows, shapeOf(begins)[0]};
  Array begun = c.e.compare(Predicate::GE, c.e.iota(pairs, 0, c.e.b.getI64Type()),
                            c.e.broadcast(c.cast(begins, ElementType::I64), pairs));
  return c.e.sub(c.e.reduce(Reduction::Sum, c.cast(begun, ElementType::I64), {1}), 1.0);
}

// The largest element of each column of a bag, with its gradient to the first that is as large.
Array largestOfAny(OpCall &c, const Rows &rows, Array bag, const Polynomial &bags) {
  const Sizes shape = shapeOf(rows.values), table{bags, shape[1]};
  Array all = withoutOthers(c, rows, kLeast);
  Array index = c.e.broadcast(c.e.insertDim(bag, 1), shape);
  Array most = graph::buildScatterAlong(c.e.b, Reduction::Max, all, index, 0, bags);
  // The first position of the largest element; one past the last position for an empty bag.
  Array isMost = c.e.compare(Predicate::EQ, all, c.e.gather(most, bag, 0));
  Array number = c.e.iota(shape, 0, c.e.b.getI64Type());
  Array place = c.e.select(isMost, number, c.e.splatSize(number, shape[0]));
  place = graph::buildScatterAlong(c.e.b, Reduction::Min, place, index, 0, bags);
  Array filled = graph::buildScatterAlong(c.e.b, Reduction::Sum, ones(c, rows), bag, 0, bags);
  Array isEmpty = c.e.compare(Predicate::EQ, c.e.broadcast(c.e.insertDim(filled, 1), table), 0);
  place = c.e.select(isEmpty, c.e.splat(place, -1), place);
  return graph::buildGatherAlong(c.e.b, rows.values, place, 0);
}

Array anyBags(OpCall &c, const Rows &rows, Array begins, const Polynomial &bags, Mode mode) {
  Array bag = bagOfEachRow(c, shapeOf(rows.values)[0], begins);
  if (mode == Max)
    return largestOfAny(c, rows, bag, bags);
  const Sizes table{bags, shapeOf(rows.values)[1]};
  auto sum = [&](const Sizes &shape, Array values) -> Array {
    return graph::ScatterOp::create(c.e.b, c.e.loc, c.e.type(shape, elementTypeOf(values)),
                                    Reduction::Sum, values, bag, 0);
  };
  Array sums = sum(table, withoutOthers(c, rows, 0));
  return mode == Sum ? sums : meanOf(c, sums, sum({bags}, ones(c, rows)));
}

// -- embedding_bag --------------------------------------------------------------------------------
// The number of rows of each bag if all have as many, and begin where that says.
std::optional<Polynomial> sizeOfAll(OpCall &c, Array begins, const Polynomial &bags,
                                    const Polynomial &rows) {
  std::optional<emit::SizeTensor> known = c.e.evaluator.sizes(begins);
  std::optional<Polynomial> each =
      known && bags != Polynomial(0) ? rows.dividedBy(bags) : std::nullopt;
  for (size_t i = 0; each && i < known->elements.size(); ++i)
    if (known->elements[i].whole() != *each * Polynomial(static_cast<int64_t>(i)))
      each.reset();
  return each;
}

// `padding`: the index of rows that do not count; below 0 for none.
Rows rowsOf(OpCall &c, int64_t padding) {
  Array indices = c.tensor("indices");
  Rows rows{emit::embedding(c.e, c.tensor("weight"), indices), {}};
  if (padding >= 0)
    rows.counts = c.e.compare(Predicate::NE, indices, static_cast<double>(padding));
  if (c.has("per_sample_weights")) {
    Array weights = c.e.insertDim(c.cast(c.tensor("per_sample_weights"), typeOf(rows.values)), 1);
    rows.values = c.e.mul(rows.values, c.e.broadcast(weights, shapeOf(rows.values)));
  }
  return rows;
}

Results embeddingBag(OpCall &c, int64_t padding) {
  int64_t mode = c.plainInteger("mode");
  if (mode < Sum || mode > Max)
    fail("has the mode ", mode, ", expected 0 to 2");
  if (c.boolean("scale_grad_by_freq"))
    fail("scales gradients by how often words occur (scale_grad_by_freq=True), which Cleave does "
         "not do");
  if (rankOf(c.tensor("indices")) != 1 || rankOf(c.tensor("offsets")) != 1)
    fail("has indices ", emit::showShape(shapeOf(c.tensor("indices"))), " and offsets ",
         emit::showShape(shapeOf(c.tensor("offsets"))), ", expected one dim of each");
  Rows rows = rowsOf(c, padding);
  Array begins = c.tensor("offsets");
  Polynomial bags = shapeOf(begins)[0], count = shapeOf(rows.values)[0];
  if (c.boolean("include_last_offset"))
    bags -= Polynomial(1);
  Array first = c.e.slice(begins, 0, 0, bags);
  std::optional<Polynomial> each = sizeOfAll(c, first, bags, count);
  // With the last offset, the rows behind it are in a bag that does not exist.
  Array out = each ? equalBags(c, rows, bags, *each, static_cast<Mode>(mode))
                   : anyBags(c, rows, begins, bags, static_cast<Mode>(mode));
  return IValueList{TensorState::create(out), IValue(), IValue(), IValue()};
}

// A padding below 0 counts from the end of the table; None is none.
Results embeddingBagOfUser(OpCall &c) {
  if (!c.has("padding_idx"))
    return embeddingBag(c, -1);
  const int64_t padding = c.plainInteger("padding_idx");
  const int64_t rows = c.e.number(c.e.dim(c.tensor("weight"), 0), "number of rows");
  return embeddingBag(c, c.e.axis(padding, rows, "padding_idx"));
}
// As decompositions write it: a padding below 0 is none.
Results embeddingBagOfProgram(OpCall &c) {
  return embeddingBag(c, c.has("padding_idx") ? c.plainInteger("padding_idx") : -1);
}

constexpr const char *kBag =
    "T weight, T indices, T offsets, b scale_grad_by_freq=False, i mode=0, b sparse=False, "
    "T? per_sample_weights=None, b include_last_offset=False, i? padding_idx=None";

constexpr OpEntry kEmbeddingBagOps[] = {
    {"_embedding_bag", kBag, embeddingBagOfProgram},
    {"_embedding_bag_forward_only", kBag, embeddingBagOfProgram},
    {"embedding_bag", kBag, embeddingBagOfUser},
};

} // namespace

llvm::ArrayRef<OpEntry> embeddingBagOps() { return kEmbeddingBagOps; }

} // namespace cleave::aten
