// Values known while importing: numbers, and shape arithmetic with symbols.
#include "compiler/frontend/emit/Slicing.h"
#include "dialects/graph/Symbols.h"
#include "test/unit/emit/Building.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::emit;

namespace {

std::string known(Building &at, Value value) {
  Sizes out;
  std::optional<SizeTensor> sizes = at.evaluator.sizes(value);
  if (!sizes)
    return "unknown";
  for (const Quotient &element : sizes->elements)
    out.push_back(element.whole().value_or(Polynomial(-999)));
  return showShape(out);
}

} // namespace

TEST_CASE("values that follow from constants are evaluated") {
  Building at;
  Value list = at.e.integers({3, 4, 5});
  Value sum = at.e.reduce(Reduction::Sum, at.e.mul(list, 2), {0});
  CHECK(at.evaluator.evaluate(sum)->values[0] == 24);
  CHECK(known(at, list) == "[3, 4, 5]");
}

TEST_CASE("shape arithmetic is evaluated with symbols") {
  Building at;
  Emitter &e = at.e;
  Value shape = e.sizes({batch, seq, Polynomial(64)});
  CHECK_FALSE(at.evaluator.evaluate(shape));
  CHECK(known(at, shape) == "[batch, seq, 64]");
  Value last = e.slice(shape, 0, 2, 1), first = e.slice(shape, 0, 0, 2);
  CHECK(at.evaluator.evaluate(last)->values[0] == 64); // a number again
  Value heads = e.concat({first, e.integers({4}), e.div(last, 4)}, 0);
  CHECK(known(at, heads) == "[batch, seq, 4, 16]");
  CHECK(known(at, e.reduce(Reduction::Prod, shape, {0})) == "[64*batch*seq]");
  CHECK(known(at, e.reverse(e.add(shape, e.integers({1, -1, 0})), 0)) ==
        "[64, seq - 1, batch + 1]");
  Value picked = graph::GatherOp::create(at.b, e.loc, shape, e.integers({1, 1, 0}), 0);
  CHECK(known(at, picked) == "[seq, seq, batch]");
}

TEST_CASE("sizes that are halved as floating-point numbers stay exact") {
  Building at;
  Emitter &e = at.e;
  Value size = e.cast(e.size(seq + 1), at.b.getF32Type());
  Value half = e.mul(size, 0.5);
  CHECK(known(at, e.cast(e.unary<graph::FloorOp>(half), at.b.getI64Type())) ==
        "[floor((seq + 1)/2)]");
  CHECK(known(at, e.cast(e.mul(half, 4), at.b.getI64Type())) == "[2*seq + 2]");
  CHECK(known(at, e.div(e.size(seq), 3.0)) == "[floor(seq/3)]");
}

TEST_CASE("comparisons are decided where all values of the symbols agree") {
  Building at;
  Emitter &e = at.e;
  Value size = e.size(seq);
  CHECK(known(at, e.compare(Predicate::EQ, size, 1)) == "[0]");
  CHECK(known(at, e.compare(Predicate::NE, size, -1)) == "[1]");
  CHECK(known(at, e.compare(Predicate::GT, size, 0)) == "[1]");
  CHECK(known(at, e.compare(Predicate::EQ, size, e.size(seq))) == "[1]");
  CHECK(known(at, e.compare(Predicate::LT, size, 100)) == "unknown");
  CHECK(known(at, e.compare(Predicate::EQ, size, e.size(batch))) == "unknown");
  CHECK(known(at, e.max(size, 2)) == "[seq]");
  CHECK(known(at, e.min(size, 64)) == "[seq]"); // a bound
  CHECK(known(at, e.min(size, e.size(batch))) == "unknown");
  // The pattern that exporters emit for expand: a size of -1 keeps the dim.
  Value wanted = e.sizes({batch, Polynomial(-1)});
  Value stays = e.compare(Predicate::EQ, wanted, e.integers({-1, -1}));
  CHECK(known(at, e.select(stays, e.integers({1, 1}), wanted)) == "[batch, 1]");
}

TEST_CASE("assumptions about symbols are recorded once") {
  Building at;
  Emitter &e = at.e;
  std::vector<std::string> noted;
  (void)known(at, e.min(e.size(seq), 64));
  (void)known(at, e.max(e.mul(e.cast(e.size(batch), at.b.getF32Type()), 0.5), 2));
  (void)known(at, e.max(e.size(seq), 1)); // always holds
  Value table = e.splat(Sizes{Polynomial(64), Polynomial(8)}, at.b.getF32Type(), 0);
  (void)sliceDim(e, table, 0, 0, seq, 1);
  (void)takeOne(e, table, 0, batch + 1);
  for (const Polynomial &size : at.evaluator.assumptions())
    noted.push_back(graph::asInequality(size));
  CHECK(noted == std::vector<std::string>{"seq <= 64", "4 <= batch", "batch <= 62"});
}

TEST_CASE("the message for an unknown value names the option that makes it known") {
  Building at("%x: tensor<2xi64>");
  Emitter &e = at.e;
  CHECK(failureOf([&] { e.sizesOf(at.argument(0), "shape"); }) ==
        "the shape depends on data, expected it to be known");
  CHECK(failureOf([&] { e.integersOf(e.size(seq), "axes"); }) ==
        "the axes seq depends on the symbol 'seq': give --set seq=8, say");
  Value undecided = e.compare(Predicate::EQ, e.size(seq), e.size(batch));
  CHECK(failureOf([&] { e.numberOf(undecided, "condition"); }) ==
        "the condition depends on the symbols 'batch', 'seq': give --set batch=8 --set seq=8, say");
}
