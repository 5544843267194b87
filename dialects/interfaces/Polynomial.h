// Polynomial: a size, FLOP count or byte count as an expression in the named symbols of a model
// (`batch`, `seq`), with integer coefficients. A plain number is the polynomial without symbols.
//
// Plain C++: no MLIR. Overflow of 64 bits saturates at the limits and is therefore visible.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cleave {

class Polynomial {
public:
  // A product of symbols, each with its power; sorted by name, so equal products compare equal.
  using Monomial = std::map<std::string, int>;
  // The values of symbols.
  using Binding = std::map<std::string, int64_t>;

  Polynomial() = default;
  Polynomial(int64_t constant);
  static Polynomial symbol(const std::string &name);

  // The number, if no symbol occurs.
  std::optional<int64_t> constant() const;
  bool isConstant() const { return constant().has_value(); }
  bool operator==(const Polynomial &) const = default;

  Polynomial &operator+=(const Polynomial &other);
  Polynomial &operator-=(const Polynomial &other);
  Polynomial &operator*=(const Polynomial &other);

  // This divided by `other`, if that leaves no remainder; `other` has one term or equals this.
  std::optional<Polynomial> dividedBy(const Polynomial &other) const;

  // Replaces the symbols that `binding` names.
  Polynomial substitute(const Binding &binding) const;

  // The names of the symbols that occur, sorted.
  std::vector<std::string> symbols() const;

  // Sum of products, highest power first: `2*batch*seq + 3`. parse() reads it back.
  std::string str() const;
  static std::optional<Polynomial> parse(const std::string &text);

private:
  std::map<Monomial, int64_t> terms_; // monomial -> coefficient, never zero
};

inline Polynomial operator+(Polynomial a, const Polynomial &b) { return a += b; }
inline Polynomial operator-(Polynomial a, const Polynomial &b) { return a -= b; }
inline Polynomial operator*(Polynomial a, const Polynomial &b) { return a *= b; }

} // namespace cleave
