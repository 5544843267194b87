// Polynomial: a size, FLOP count or byte count as an expression in the named symbols of a model
// (`batch`, `seq`), with integer coefficients. A plain number is the polynomial without symbols.
// A division that leaves a remainder stays in it as an atom, written `floor((height + 1)/2)`.
//
// Plain C++: no MLIR. Overflow of 64 bits saturates at the limits and is therefore visible.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cleave {

// A value type; sizes and counts are added, multiplied and compared like numbers.
class Polynomial {
public:
  // A product of atoms, each with its power; sorted by name, so equal products compare equal. An
  // atom is a symbol or the text of a floor.
  using Monomial = std::map<std::string, int>;
  // The values of symbols.
  using Binding = std::map<std::string, int64_t>;

  Polynomial() = default;
  Polynomial(int64_t constant);
  // The polynomial that is this symbol.
  static Polynomial symbol(const std::string &name);

  // The number, if no symbol occurs.
  std::optional<int64_t> constant() const;
  bool isConstant() const { return constant().has_value(); }
  bool operator==(const Polynomial &) const = default;

  Polynomial &operator+=(const Polynomial &other);
  Polynomial &operator-=(const Polynomial &other);
  Polynomial &operator*=(const Polynomial &other);

  // This divided by `other`, if that leaves no remainder.
  std::optional<Polynomial> dividedBy(const Polynomial &other) const;

  // floor(this / divisor) for divisor >= 1. Multiples of the divisor are moved out of the floor and
  // nested floors become one, so that equal sizes compare equal: floor((height - 1)/2) + 1 is
  // floor((height + 1)/2).
  Polynomial floorDividedBy(int64_t divisor) const;
  // The same, rounded up.
  Polynomial ceilDividedBy(int64_t divisor) const;

  // Replaces the symbols that `binding` names.
  Polynomial substitute(const Binding &binding) const;

  // A lower (upper) bound of the value when every symbol is at least `leastSymbol`; none if no
  // bound is known.
  std::optional<int64_t> atLeast(int64_t leastSymbol) const;
  std::optional<int64_t> atMost(int64_t leastSymbol) const;

  // The summands with positive coefficients: this is positivePart() - (0 - *this).positivePart().
  Polynomial positivePart() const;

  // The names of the symbols that occur, sorted.
  std::vector<std::string> symbols() const;

  // A sum of products, highest power first: `2*batch*seq + 3`. parse() is its inverse; none if the
  // text is not a polynomial.
  std::string str() const;
  static std::optional<Polynomial> parse(const std::string &text);

private:
  template <typename Value> Polynomial replaceAtoms(Value valueOf) const;

  std::map<Monomial, int64_t> terms_; // monomial -> coefficient, never zero
};

inline Polynomial operator+(Polynomial a, const Polynomial &b) { return a += b; }
inline Polynomial operator-(Polynomial a, const Polynomial &b) { return a -= b; }
inline Polynomial operator*(Polynomial a, const Polynomial &b) { return a *= b; }

// `text` as the name of a symbol: letters, digits, _ and dots, not beginning with a digit. Other
// characters are replaced.
std::string symbolName(const std::string &text);

} // namespace cleave
