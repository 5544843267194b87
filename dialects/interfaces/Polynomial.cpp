// Arithmetic on polynomials, their text form and its reader.
#include "dialects/interfaces/Polynomial.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <set>

namespace cleave {

static int64_t saturated(bool negative) {
  return negative ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

static int64_t addSaturating(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? saturated(a < 0) : sum;
}

static int64_t multiplySaturating(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? saturated((a < 0) != (b < 0)) : product;
}

static int degree(const Polynomial::Monomial &monomial) {
  int sum = 0;
  for (const auto &[name, power] : monomial)
    sum += power;
  return sum;
}

Polynomial::Polynomial(int64_t constant) {
  if (constant != 0)
    terms_.emplace(Monomial(), constant);
}

Polynomial Polynomial::symbol(const std::string &name) {
  Polynomial result;
  result.terms_[Monomial{{name, 1}}] = 1;
  return result;
}

std::optional<int64_t> Polynomial::constant() const {
  if (terms_.empty())
    return 0;
  if (terms_.size() == 1 && terms_.begin()->first.empty())
    return terms_.begin()->second;
  return std::nullopt;
}

Polynomial &Polynomial::operator+=(const Polynomial &other) {
  if (this == &other)
    return *this *= 2;
  for (const auto &[monomial, coefficient] : other.terms_) {
    int64_t &mine = terms_[monomial];
    mine = addSaturating(mine, coefficient);
    if (mine == 0)
      terms_.erase(monomial);
  }
  return *this;
}

Polynomial &Polynomial::operator-=(const Polynomial &other) { return *this += other * -1; }

Polynomial &Polynomial::operator*=(const Polynomial &other) {
  std::map<Monomial, int64_t> product;
  for (const auto &[left, leftCoefficient] : terms_) {
    for (const auto &[right, rightCoefficient] : other.terms_) {
      Monomial monomial = left;
      for (const auto &[name, power] : right)
        monomial[name] += power;
      int64_t &sum = product[std::move(monomial)];
      sum = addSaturating(sum, multiplySaturating(leftCoefficient, rightCoefficient));
    }
  }
  std::erase_if(product, [](const auto &term) { return term.second == 0; });
  terms_ = std::move(product);
  return *this;
}

// `monomial` without the powers of `divisor`, if it has them all.
static std::optional<Polynomial::Monomial> divide(Polynomial::Monomial monomial,
                                                  const Polynomial::Monomial &divisor) {
  for (const auto &[name, power] : divisor) {
    auto found = monomial.find(name);
    if (found == monomial.end() || found->second < power)
      return std::nullopt;
    if ((found->second -= power) == 0)
      monomial.erase(found);
  }
  return monomial;
}

std::optional<Polynomial> Polynomial::dividedBy(const Polynomial &other) const {
  if (other.terms_.size() != 1) {
    if (!other.terms_.empty() && *this == other)
      return Polynomial(1);
    return std::nullopt;
  }
  const auto &[divisor, divisorCoefficient] = *other.terms_.begin();
  Polynomial quotient;
  for (const auto &[monomial, coefficient] : terms_) {
    std::optional<Monomial> rest = divide(monomial, divisor);
    if (!rest)
      return std::nullopt;
    if (divisorCoefficient == -1) // by itself: the smallest number has no quotient by -1
      quotient.terms_[*rest] = multiplySaturating(coefficient, -1);
    else if (coefficient % divisorCoefficient == 0)
      quotient.terms_[*rest] = coefficient / divisorCoefficient;
    else
      return std::nullopt;
  }
  return quotient;
}

Polynomial Polynomial::substitute(const Binding &binding) const {
  Polynomial result;
  for (const auto &[monomial, coefficient] : terms_) {
    Polynomial term(coefficient);
    for (const auto &[name, power] : monomial) {
      auto value = binding.find(name);
      Polynomial base = value == binding.end() ? symbol(name) : Polynomial(value->second);
      for (int i = 0; i < power; ++i)
        term *= base;
    }
    result += term;
  }
  return result;
}

std::vector<std::string> Polynomial::symbols() const {
  std::set<std::string> names;
  for (const auto &[monomial, coefficient] : terms_)
    for (const auto &[name, power] : monomial)
      names.insert(name);
  return {names.begin(), names.end()};
}

// One term without its sign: `2*batch*seq^2`.
static std::string termText(const Polynomial::Monomial &monomial, uint64_t magnitude) {
  std::string text;
  if (magnitude != 1 || monomial.empty())
    text = std::to_string(magnitude);
  for (const auto &[name, power] : monomial) {
    text += (text.empty() ? "" : "*") + name;
    if (power != 1)
      text += "^" + std::to_string(power);
  }
  return text;
}

std::string Polynomial::str() const {
  if (terms_.empty())
    return "0";
  std::vector<std::pair<Monomial, int64_t>> sorted(terms_.begin(), terms_.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto &a, const auto &b) { return degree(a.first) > degree(b.first); });
  std::string text;
  for (const auto &[monomial, coefficient] : sorted) {
    bool negative = coefficient < 0;
    if (text.empty())
      text = negative ? "-" : "";
    else
      text += negative ? " - " : " + ";
    uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(coefficient) : coefficient;
    text += termText(monomial, magnitude);
  }
  return text;
}

namespace {

// Reads what str() writes, with any spacing and any order of terms.
class Reader {
public:
  explicit Reader(const std::string &text) : text_(text) {}

  std::optional<Polynomial> sum() {
    Polynomial result;
    bool negative = take('-');
    while (true) {
      std::optional<Polynomial> next = product(negative);
      if (!next)
        return std::nullopt;
      result += *next;
      if (atEnd())
        return result;
      negative = take('-');
      if (!negative && !take('+'))
        return std::nullopt;
    }
  }

private:
  std::optional<Polynomial> product(bool negative) {
    Polynomial result(negative ? -1 : 1);
    do {
      std::optional<Polynomial> next = factor();
      if (!next)
        return std::nullopt;
      result *= *next;
    } while (take('*'));
    return result;
  }

  std::optional<Polynomial> factor() {
    skipSpace();
    if (at_ < text_.size() && std::isdigit(byte()))
      return number();
    size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(byte()) || byte() == '_' || byte() == '.'))
      ++at_;
    if (begin == at_)
      return std::nullopt;
    Polynomial base = Polynomial::symbol(text_.substr(begin, at_ - begin));
    if (!take('^'))
      return base;
    skipSpace();
    std::optional<int64_t> power = number();
    if (!power || *power > 64)
      return std::nullopt;
    Polynomial result(1);
    for (int64_t i = 0; i < *power; ++i)
      result *= base;
    return result;
  }

  std::optional<int64_t> number() {
    uint64_t value = 0;
    auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error == std::errc::invalid_argument)
      return std::nullopt;
    at_ = end - text_.data();
    if (error == std::errc::result_out_of_range || value > static_cast<uint64_t>(saturated(false)))
      return saturated(false);
    return static_cast<int64_t>(value);
  }

  bool take(char wanted) {
    skipSpace();
    if (at_ >= text_.size() || text_[at_] != wanted)
      return false;
    ++at_;
    return true;
  }
  bool atEnd() {
    skipSpace();
    return at_ == text_.size();
  }
  void skipSpace() {
    while (at_ < text_.size() && std::isspace(byte()))
      ++at_;
  }
  unsigned char byte() const { return text_[at_]; }

  const std::string &text_;
  size_t at_ = 0;
};

} // namespace

std::optional<Polynomial> Polynomial::parse(const std::string &text) { return Reader(text).sum(); }

} // namespace cleave
