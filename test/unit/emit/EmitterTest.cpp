// Emitter with polynomial sizes: results, and messages where shapes do not fit.
#include "compiler/frontend/emit/Einsum.h"
#include "compiler/frontend/emit/Elementwise.h"
#include "test/unit/emit/Building.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::emit;

static const char *kSequence = R"(%x: tensor<?x?x64xf32, #graph.dims<["batch", "seq", ""]>>)";

TEST_CASE("a reshape keeps the number of elements, also with symbols") {
  Building at(kSequence);
  Value x = at.argument(0);
  CHECK(showShape(shapeOf(at.e.reshape(x, {batch * seq, Polynomial(64)}))) == "[batch*seq, 64]");
  CHECK(at.e.reshape(x, shapeOf(x)) == x);
  CHECK(failureOf([&] { at.e.reshape(x, {batch, seq, Polynomial(32)}); }) ==
        "cannot give [batch, seq, 64] with 64*batch*seq elements the shape [batch, seq, 32] with "
        "32*batch*seq");
}

TEST_CASE("a symbol is not broadcast as a size of 1") {
  Building at(kSequence);
  Value x = at.argument(0), y = at.e.splat({seq, Polynomial(1)}, at.b.getF32Type(), 2);
  at.e.broadcastTogether(x, y);
  CHECK(showShape(shapeOf(y)) == "[batch, seq, 64]");
  CHECK(failureOf([&] { broadcastShape({batch}, {seq}); }) ==
        "cannot broadcast the shapes [batch] and [seq] together: whether batch is seq depends on "
        "the symbols 'batch', 'seq': give --set batch=8 --set seq=8, say");
  CHECK(failureOf([&] { broadcastShape({Polynomial(2)}, {Polynomial(3)}); }) ==
        "cannot broadcast the shapes [2] and [3] together");
}

TEST_CASE("slices and padding may begin at symbolic places") {
  Building at(kSequence);
  Value last = at.e.slice(at.argument(0), 1, seq - 1, 1);
  CHECK(showShape(shapeOf(last)) == "[batch, 1, 64]");
  CHECK(showShape(shapeOf(at.e.pad(last, 1, seq, 2))) == "[batch, seq + 3, 64]");
  CHECK(failureOf([&] { at.e.slice(at.argument(0), 1, seq, 1); }) ==
        "takes 1 elements from seq on of dim 1 of [batch, seq, 64]");
  CHECK(failureOf([&] { at.e.pad(last, 1, -1, seq); }) ==
        "cannot pad dim 1 of [batch, 1, 64] by -1 and seq elements, expected at least 0 on both "
        "sides");
}

TEST_CASE("gather requires equal batch dims") {
  Building at;
  mlir::Type element = at.b.getF32Type(), index = at.b.getI64Type();
  Value table = at.e.splat(Sizes{Polynomial(4), Polynomial(3), Polynomial(5)}, element, 0);
  Value rows = at.e.splat(Sizes{Polynomial(4), Polynomial(2)}, index, 0);
  CHECK(showShape(shapeOf(at.e.gather(table, rows, 1, 1))) == "[4, 2, 5]");
  CHECK(failureOf([&] {
          at.e.gather(table, at.e.splat(Sizes{Polynomial(2), Polynomial(2)}, index, 0), 1, 1);
        }) == "has indices [2, 2] for dim 1 of data [4, 3, 5], expected the first 1 dims to be the "
              "same");
}

TEST_CASE("a mean over symbolic dims divides by their product") {
  Building at(kSequence);
  Value mean = at.e.mean(at.argument(0), {1, 2}, true);
  CHECK(showShape(shapeOf(mean)) == "[batch, 1, 1]");
  CHECK_THAT(at.text.str(), Catch::Contains(R"(graph.sizes ["1"] {divisor = "64*seq"})"));
}

TEST_CASE("axes are normalised and must not repeat") {
  Building at;
  CHECK(at.e.axes({-1, 0}, 3) == Ints{0, 2});
  CHECK(failureOf([&] { at.e.axes({1, -2}, 3); }) == "axes: -2 is named twice");
  CHECK(failureOf([&] { at.e.axis(3, 3); }) == "axis 3 is out of range for 3 dims");
}

TEST_CASE("an integer to a known whole power is rounded, to another power it is truncated") {
  // Kernels compute 3^4 in floating point, as 80.99….
  auto roundsAt = [](double exponent) {
    Building at("%x: tensor<3xi64>");
    power(at.e, at.argument(0), at.e.scalar(at.b.getF32Type(), exponent));
    return at.text.str().find("graph.round") != std::string::npos;
  };
  CHECK(roundsAt(4));
  CHECK(roundsAt(-2));
  CHECK_FALSE(roundsAt(0.5));
  CHECK_FALSE(roundsAt(2)); // a product
}

TEST_CASE("a diagonal is one of dims of equal sizes") {
  Building at("%x: tensor<2x3xf32>");
  CHECK(failureOf([&] { diagonal(at.e, at.argument(0), 0, 1); }) ==
        "takes the diagonal of dims of size 2 and 3");
}
