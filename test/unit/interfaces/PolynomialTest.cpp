// Polynomials: arithmetic, division without remainder, printing and parsing, overflow.
#include "dialects/interfaces/Polynomial.h"

#include <catch2/catch.hpp>

#include <limits>

using namespace cleave;

static const Polynomial batch = Polynomial::symbol("batch");
static const Polynomial seq = Polynomial::symbol("seq");

TEST_CASE("a polynomial without symbols is a number") {
  CHECK(Polynomial().constant() == 0);
  CHECK(Polynomial(7).constant() == 7);
  CHECK((Polynomial(3) * 5 - 1).constant() == 14);
  CHECK_FALSE(batch.isConstant());
  CHECK((batch - batch).constant() == 0);
  CHECK(batch - batch == Polynomial());
}

TEST_CASE("equal products compare equal, independent of the order of their factors") {
  CHECK(batch * seq * 2 + 3 == Polynomial(3) + seq * batch + batch * seq);
  Polynomial twice = batch;
  twice += twice;
  CHECK(twice == batch * 2);
  Polynomial square = batch + 1;
  square *= square;
  CHECK(square == batch * batch + batch * 2 + 1);
}

TEST_CASE("text puts the highest power first and reads back") {
  Polynomial p = Polynomial(3) + batch * seq * 2 - seq * seq * seq - batch;
  CHECK(p.str() == "-seq^3 + 2*batch*seq - batch + 3");
  CHECK(Polynomial().str() == "0");
  CHECK(Polynomial(-4).str() == "-4");
  for (const Polynomial &each : {p, Polynomial(), Polynomial(-4), batch,
                                 Polynomial(std::numeric_limits<int64_t>::max()) * seq})
    CHECK(Polynomial::parse(each.str()) == each);
  CHECK(Polynomial::parse(" 2*batch *3+batch ") == batch * 7);
}

TEST_CASE("text that is not a polynomial does not parse") {
  for (const char *text :
       {"", "2*", "batch seq", "+", "2 + ", "batch^", "batch^1000000", "(a)", "a/2"})
    CHECK_FALSE(Polynomial::parse(text));
}

TEST_CASE("division gives a quotient only where no remainder is left") {
  Polynomial p = batch * seq * 6 + batch * 4;
  CHECK(p.dividedBy(batch * 2) == seq * 3 + 2);
  CHECK(p.dividedBy(-1) == Polynomial() - p);
  CHECK_FALSE(p.dividedBy(4));
  CHECK_FALSE(p.dividedBy(seq));
  CHECK_FALSE(p.dividedBy(0));
  CHECK(p.dividedBy(p) == Polynomial(1));
  CHECK(Polynomial().dividedBy(batch) == Polynomial());
  CHECK(((batch - 1) * 64).dividedBy(batch - 1) == Polynomial(64));
  CHECK(((batch + seq) * (seq - 3)).dividedBy(seq - 3) == batch + seq);
  CHECK_FALSE((batch * batch + 1).dividedBy(batch + 1));
}

TEST_CASE("substitution replaces the symbols that have values") {
  Polynomial p = batch * seq * seq * 2 + seq;
  CHECK(p.substitute({{"seq", 3}}) == batch * 18 + 3);
  CHECK(p.substitute({{"seq", 3}, {"batch", 2}, {"other", 9}}).constant() == 39);
  CHECK(p.symbols() == std::vector<std::string>{"batch", "seq"});
}

TEST_CASE("overflow stays at the limits") {
  Polynomial huge(std::numeric_limits<int64_t>::max());
  CHECK(huge + 1 == huge);
  CHECK(huge * huge == huge);
  CHECK(huge * -2 == Polynomial(std::numeric_limits<int64_t>::min()));
  CHECK(Polynomial::parse("99999999999999999999999") == huge);
  CHECK(Polynomial::parse((huge * -2).str()) == huge * -2);
  CHECK(Polynomial(std::numeric_limits<int64_t>::min()).dividedBy(-1) == huge);
}

TEST_CASE("a floor keeps only what does not divide") {
  Polynomial height = Polynomial::symbol("height");
  CHECK(Polynomial(-7).floorDividedBy(2) == Polynomial(-4));
  CHECK((height * 4 + 2).floorDividedBy(2) == height * 2 + 1);
  CHECK((height * 5 + 7).floorDividedBy(2).str() == "floor((height + 1)/2) + 2*height + 3");
  CHECK((height * 2 + 1).floorDividedBy(4) == height.floorDividedBy(2));
  CHECK((height - 1).floorDividedBy(2) + 1 == (height + 1).floorDividedBy(2));
  CHECK(height.ceilDividedBy(2) == (height + 1).floorDividedBy(2));
}

TEST_CASE("a floor of a floor is one floor") {
  Polynomial height = Polynomial::symbol("height");
  Polynomial halved = (height - 1).floorDividedBy(2) + 1;
  CHECK(((halved - 1).floorDividedBy(2) + 1).str() == "floor((height + 3)/4)");
}

TEST_CASE(
    "a floor that joins only after whole parts are taken out is the same as when it is read") {
  Polynomial h = Polynomial::symbol("h"), w = Polynomial::symbol("w");
  Polynomial inner = (h + 1).floorDividedBy(2);
  Polynomial difference = (w - inner + 1).floorDividedBy(2);
  CHECK(Polynomial::parse(difference.str()) == difference);
  CHECK(difference == (w + inner + 1).floorDividedBy(2) - inner);
  for (int64_t size = 0; size < 9; ++size)
    CHECK(difference.substitute({{"h", size}, {"w", 20}}) == Polynomial((21 - (size + 1) / 2) / 2));
}

TEST_CASE("floors are evaluated when their symbols get values, and survive as text") {
  Polynomial height = Polynomial::symbol("height"), width = Polynomial::symbol("width");
  Polynomial floors = (height * width + 2).floorDividedBy(3);
  Polynomial p = floors * floors * batch - (width + 1).floorDividedBy(2);
  CHECK(Polynomial::parse(p.str()) == p);
  CHECK(p.symbols() == std::vector<std::string>{"batch", "height", "width"});
  for (int64_t h : {2, 3, 7, 16})
    for (int64_t w : {2, 5, 9}) {
      int64_t expected = ((h * w + 2) / 3) * ((h * w + 2) / 3) * 4 - (w + 1) / 2;
      CHECK(p.substitute({{"height", h}, {"width", w}, {"batch", 4}}).constant() == expected);
      CHECK(p.substitute({{"height", h}}).substitute({{"width", w}, {"batch", 4}}).constant() ==
            expected);
    }
  for (const char *text : {"floor(a/0)", "floor(a)", "floor((a/2)", "floor((a + 1)/b)", "floor("})
    CHECK_FALSE(Polynomial::parse(text));
}

TEST_CASE("products and floors that are longer than any size saturate") {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  Polynomial sum;
  for (int i = 0; i < 30; ++i)
    sum += Polynomial::symbol("s" + std::to_string(i));
  CHECK_FALSE((sum * sum).isConstant());
  CHECK((sum * sum * sum).constant() == most);
  Polynomial power = batch, nested = batch;
  for (int i = 0; i < 40; ++i) {
    power *= power;
    nested = (nested * 2 + 1).floorDividedBy(3);
  }
  CHECK(power.constant() == most);
  CHECK(nested.constant().has_value()); // from the saturated size on
  CHECK(Polynomial::parse("s^64")->str() == "s^64");
}

TEST_CASE("bounds follow from the least value of the symbols") {
  CHECK((batch * seq - 1).atLeast(2) == 3);
  CHECK((batch * seq - seq).atLeast(2) == 2);
  CHECK_FALSE((batch - seq).atLeast(2));
  CHECK((Polynomial(1) - batch).atMost(2) == -1);
  CHECK_FALSE(batch.atMost(2));
  CHECK(((batch + 1).floorDividedBy(2) + 1).atLeast(2) == 2);
  // x - floor(x/2) is not negative.
  CHECK((seq - (seq + 1).floorDividedBy(2)).atLeast(2) == 1);
  CHECK((seq - seq.floorDividedBy(2) * 2).atLeast(2) == 0);
  CHECK(((seq * 3 + 1).floorDividedBy(4) * batch - batch).atLeast(2) == 0);
  CHECK((seq.floorDividedBy(3) * 3 - seq).atLeast(2) == -2);
  CHECK((seq.floorDividedBy(3) * 3 - seq).atMost(2) == 0);
  CHECK_FALSE((seq.floorDividedBy(2) - batch).atLeast(2));
}

TEST_CASE("a symbol's name has letters, digits, underscores and dots") {
  CHECK(symbolName("batch") == "batch");
  CHECK(symbolName("past-seq + 1") == "past_seq___1");
  CHECK(symbolName("2d/x:0") == "_2d_x_0");
  CHECK(symbolName("") == "_");
}
