// Polynomials: arithmetic, division without remainder, text and back, overflow.
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

TEST_CASE("equal products compare equal, in whatever order they were made") {
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

TEST_CASE("text that is no polynomial is refused") {
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
  CHECK(Polynomial(std::numeric_limits<int64_t>::min()).dividedBy(-1) == huge);
}
