// Arithmetic on polynomials, their printer and their parser.
#include "dialects/interfaces/Polynomial.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <set>
#include <string_view>

namespace cleave {

// The limits are symmetric, so that every number has a negative.
static constexpr int64_t kLimit = std::numeric_limits<int64_t>::max();
static int64_t saturated(bool negative) { return negative ? -kLimit : kLimit; }

static int64_t addSaturating(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? saturated(a < 0) : std::max(sum, -kLimit);
}

static int64_t multiplySaturating(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? saturated((a < 0) != (b < 0))
                                                : std::max(product, -kLimit);
}

static int degree(const Polynomial::Monomial &monomial) {
  int sum = 0;
  for (const auto &[name, power] : monomial)
    sum += power;
  return sum;
}

Polynomial::Polynomial(int64_t constant) {
  if (constant != 0)
    terms_.emplace(Monomial(), std::max(constant, -kLimit));
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

// Limits far above the sizes of models: the number of terms of a product, powers, and the depth and
// length of floors. Beyond them results saturate, as they do beyond 64 bits.
static constexpr size_t kMaxPairs = 1 << 10;
static constexpr int kMaxPower = 255, kMaxFloors = 24;
static constexpr size_t kMaxFloorText = 1 << 14;

Polynomial &Polynomial::operator*=(const Polynomial &other) {
  std::map<Monomial, int64_t> product;
  bool isScaled = terms_.size() < 2 || other.terms_.size() < 2;
  if (!isScaled && terms_.size() * other.terms_.size() > kMaxPairs)
    return *this = Polynomial(saturated(false));
  for (const auto &[left, leftCoefficient] : terms_) {
    for (const auto &[right, rightCoefficient] : other.terms_) {
      Monomial monomial = left;
      for (const auto &[name, power] : right)
        if ((monomial[name] += power) > kMaxPower)
          return *this = Polynomial(saturated(false));
      int64_t &sum = product[std::move(monomial)];
      sum = addSaturating(sum, multiplySaturating(leftCoefficient, rightCoefficient));
    }
  }
  std::erase_if(product, [](const auto &term) { return term.second == 0; });
  terms_ = std::move(product);
  return *this;
}

// -- division -------------------------------------------------------------------------------------

// `monomial` divided by `divisor`, if it is divisible.
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

// Graded lexicographic order: by degree, then by the powers of the names in turn.
static bool leads(const Polynomial::Monomial &a, const Polynomial::Monomial &b) {
  if (int difference = degree(a) - degree(b))
    return difference > 0;
  auto x = a.begin(), y = b.begin();
  for (; x != a.end() && y != b.end(); ++x, ++y) {
    if (x->first != y->first)
      return x->first < y->first;
    if (x->second != y->second)
      return x->second > y->second;
  }
  return x != a.end();
}

static auto leadingTerm(const std::map<Polynomial::Monomial, int64_t> &terms) {
  auto leading = terms.begin();
  for (auto term = terms.begin(); term != terms.end(); ++term)
    if (leads(term->first, leading->first))
      leading = term;
  return leading;
}

// Divides the leading term of the remainder by that of the divisor until no remainder is left.
std::optional<Polynomial> Polynomial::dividedBy(const Polynomial &other) const {
  if (other.terms_.empty())
    return std::nullopt;
  auto [divisor, divisorCoefficient] = *leadingTerm(other.terms_);
  Polynomial quotient, rest = *this;
  for (size_t left = 256; !rest.terms_.empty(); --left) {
    auto [monomial, coefficient] = *leadingTerm(rest.terms_);
    std::optional<Monomial> ratio = divide(monomial, divisor);
    if (!ratio || left == 0)
      return std::nullopt;
    Polynomial step;
    if (coefficient % divisorCoefficient != 0)
      return std::nullopt;
    step.terms_[*ratio] = coefficient / divisorCoefficient;
    quotient += step;
    if (other.terms_.size() == 1) // exact even if products saturate
      rest.terms_.erase(monomial);
    else
      rest -= step * other;
  }
  return quotient;
}

static constexpr std::string_view kFloor = "floor(";
static bool isFloor(const std::string &atom) { return atom.starts_with(kFloor); }

namespace {
// The parts of a floor atom.
struct Floor {
  Polynomial numerator;
  int64_t divisor = 1;
};
} // namespace

// The divisor alone: parsing the numerator would parse all floors in it.
static int64_t divisorOf(const std::string &atom) {
  return std::stoll(atom.substr(atom.rfind('/') + 1));
}

// The text between `floor(` and `)` is `sum/number`; a sum of several terms is in parentheses.
static Floor partsOf(const std::string &atom) {
  std::string inside = atom.substr(kFloor.size(), atom.size() - kFloor.size() - 1);
  size_t slash = inside.rfind('/');
  std::string numerator = inside.substr(0, slash);
  if (numerator.starts_with('('))
    numerator = numerator.substr(1, numerator.size() - 2);
  return {Polynomial::parse(numerator).value_or(Polynomial()),
          std::stoll(inside.substr(slash + 1))};
}

// The depth of nested floors in a text.
static int floorsIn(const std::string &text) {
  int open = 0, most = 0;
  std::vector<bool> isFloorAt; // per open parenthesis
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') {
      isFloorAt.push_back(i >= 5 && text.compare(i - 5, 6, kFloor) == 0);
      most = std::max(most, open += isFloorAt.back());
    } else if (text[i] == ')' && !isFloorAt.empty()) {
      open -= isFloorAt.back();
      isFloorAt.pop_back();
    }
  }
  return most;
}

static int64_t floorDivide(int64_t value, int64_t divisor) {
  return value / divisor - (value % divisor < 0);
}

Polynomial Polynomial::floorDividedBy(int64_t divisor) const {
  if (divisor == 1)
    return *this;
  // floor((floor(p/a) + q) / b) = floor((p + a q) / (a b)), for whole p and q.
  std::optional<Monomial> inner;
  int floors = 0;
  for (const auto &[monomial, coefficient] : terms_) {
    bool has = std::any_of(monomial.begin(), monomial.end(),
                           [](const auto &atom) { return isFloor(atom.first); });
    floors += has;
    if (has && degree(monomial) == 1 && coefficient == 1)
      inner = monomial;
  }
  if (inner && floors == 1) {
    int64_t product = multiplySaturating(divisorOf(inner->begin()->first), divisor);
    if (product != saturated(false)) {
      Floor parts = partsOf(inner->begin()->first);
      Polynomial rest = *this;
      rest.terms_.erase(*inner);
      return (parts.numerator + rest * parts.divisor).floorDividedBy(product);
    }
  }
  // Multiples of the divisor move in front of the floor; coefficients from 0 to divisor - 1 stay in
  // it.
  Polynomial whole, rest;
  int64_t common = divisor, offset = 0;
  for (const auto &[monomial, coefficient] : terms_) {
    int64_t quotient = floorDivide(coefficient, divisor);
    int64_t remainder = coefficient % divisor;
    remainder += remainder < 0 ? divisor : 0;
    if (quotient)
      whole.terms_[monomial] = quotient;
    if (monomial.empty())
      offset = remainder;
    else if (remainder)
      common = std::gcd(common, rest.terms_[monomial] = remainder);
  }
  if (rest.terms_.empty())
    return whole;
  for (auto &[monomial, coefficient] : rest.terms_)
    coefficient /= common;
  rest += Polynomial(offset / common);
  divisor /= common;
  if (rest != *this) // it may be divisible further, or contain a floor to merge
    return whole + rest.floorDividedBy(divisor);
  std::string numerator = rest.str();
  if (numerator.size() > kMaxFloorText || floorsIn(numerator) >= kMaxFloors)
    return saturated(false);
  if (rest.terms_.size() > 1)
    numerator = "(" + numerator + ")";
  return symbol(std::string(kFloor) + numerator + "/" + std::to_string(divisor) + ")");
}

Polynomial Polynomial::ceilDividedBy(int64_t divisor) const {
  return (*this + Polynomial(divisor - 1)).floorDividedBy(divisor);
}

// -- symbols --------------------------------------------------------------------------------------

// The polynomial with every atom replaced by valueOf(atom).
template <typename Value> Polynomial Polynomial::replaceAtoms(Value valueOf) const {
  Polynomial result;
  for (const auto &[monomial, coefficient] : terms_) {
    Polynomial term(coefficient);
    for (const auto &[name, power] : monomial) {
      Polynomial base = valueOf(name);
      for (int i = 0; i < power; ++i)
        term *= base;
    }
    result += term;
  }
  return result;
}

Polynomial Polynomial::substitute(const Binding &binding) const {
  return replaceAtoms([&](const std::string &atom) {
    if (isFloor(atom)) {
      Floor parts = partsOf(atom);
      return parts.numerator.substitute(binding).floorDividedBy(parts.divisor);
    }
    auto value = binding.find(atom);
    return value == binding.end() ? symbol(atom) : Polynomial(value->second);
  });
}

Polynomial Polynomial::positivePart() const {
  Polynomial out;
  for (const auto &[monomial, coefficient] : terms_)
    if (coefficient > 0)
      out.terms_[monomial] = coefficient;
  return out;
}

std::vector<std::string> Polynomial::symbols() const {
  std::set<std::string> names;
  for (const auto &[monomial, coefficient] : terms_)
    for (const auto &[name, power] : monomial) {
      if (!isFloor(name)) {
        names.insert(name);
        continue;
      }
      for (const std::string &inner : partsOf(name).numerator.symbols())
        names.insert(inner);
    }
  return {names.begin(), names.end()};
}

// Substitutes every atom by its least value plus a new non-negative atom. If no coefficient is
// negative then, the constant is the least value. A lower bound of a sum from the bounds of its
// floors, (p - d + 1)/d <= floor(p/d) <= p/d. For small divisors and floors that are not nested, at
// most one per term.
static std::optional<int64_t> leastByFloors(const std::map<Polynomial::Monomial, int64_t> &terms,
                                            int64_t leastSymbol) {
  constexpr int64_t most = 1 << 20;
  int64_t common = 1;
  for (const auto &[monomial, coefficient] : terms) {
    int floors = 0;
    for (const auto &[name, power] : monomial)
      if (isFloor(name)) {
        int64_t divisor = partsOf(name).divisor;
        if ((floors += power) > 1 || floorsIn(name) > 1 || divisor > most)
          return std::nullopt;
        common = std::lcm(common, divisor);
      }
    if (std::abs(coefficient) > most || common > most)
      return std::nullopt;
  }
  if (common == 1) // no floors
    return std::nullopt;
  Polynomial scaled;
  for (const auto &[monomial, coefficient] : terms) {
    Polynomial term(coefficient);
    int64_t divisor = 1;
    for (const auto &[name, power] : monomial) {
      Polynomial factor = Polynomial::symbol(name);
      if (isFloor(name)) {
        Floor parts = partsOf(name);
        divisor = parts.divisor;
        factor = coefficient < 0 ? parts.numerator : parts.numerator - (divisor - 1);
      }
      for (int i = 0; i < power; ++i)
        term *= factor;
    }
    scaled += term * (common / divisor);
  }
  std::optional<int64_t> least = scaled.atLeast(leastSymbol);
  // Rounded up: the value is an integer.
  return least ? std::optional(-floorDivide(-*least, common)) : std::nullopt;
}

std::optional<int64_t> Polynomial::atLeast(int64_t leastSymbol) const {
  bool known = true;
  Polynomial shifted = replaceAtoms([&](const std::string &atom) {
    if (!isFloor(atom))
      return symbol(atom) + Polynomial(leastSymbol);
    Floor parts = partsOf(atom);
    std::optional<int64_t> least = parts.numerator.atLeast(leastSymbol);
    known &= least.has_value();
    return symbol(atom) + Polynomial(floorDivide(least.value_or(0), parts.divisor));
  });
  if (!known || (shifted == Polynomial(saturated(false)) && !isConstant()))
    return std::nullopt;
  for (const auto &[monomial, coefficient] : shifted.terms_)
    if (coefficient < 0 && !monomial.empty())
      return leastByFloors(terms_, leastSymbol);
  auto constant = shifted.terms_.find({});
  return constant == shifted.terms_.end() ? 0 : constant->second;
}

std::optional<int64_t> Polynomial::atMost(int64_t leastSymbol) const {
  std::optional<int64_t> least = (*this * -1).atLeast(leastSymbol);
  return least ? std::optional(multiplySaturating(*least, -1)) : std::nullopt;
}

std::string symbolName(const std::string &text) {
  std::string name = text;
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '.')
      c = '_';
  return name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) ? "_" + name : name;
}

// One term without its sign: `2*batch*seq^2`.
static std::string termText(const Polynomial::Monomial &monomial, int64_t magnitude) {
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
    text += termText(monomial, std::abs(coefficient));
  }
  return text;
}

namespace {

// Parses the output of str(), with any spacing and any order of terms.
class Reader {
public:
  explicit Reader(const std::string &text) : text_(text) {}

  // Parses the whole text.
  std::optional<Polynomial> whole() {
    std::optional<Polynomial> result = sum();
    return atEnd() ? result : std::nullopt;
  }

private:
  std::optional<Polynomial> sum() {
    Polynomial result;
    bool negative = take('-');
    while (true) {
      std::optional<Polynomial> next = product(negative);
      if (!next)
        return std::nullopt;
      result += *next;
      negative = take('-');
      if (!negative && !take('+'))
        return result;
    }
  }

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
    std::string name = text_.substr(begin, at_ - begin);
    Polynomial base = Polynomial::symbol(name);
    if (name == "floor" && take('(')) {
      std::optional<Polynomial> quotient = floor();
      if (!quotient)
        return std::nullopt;
      base = *quotient;
    }
    if (!take('^'))
      return base;
    skipSpace();
    std::optional<int64_t> power = number();
    if (!power || *power > kMaxPower)
      return std::nullopt;
    Polynomial result(1);
    for (int64_t left = *power; left > 0; left /= 2, base *= Polynomial(base))
      if (left % 2)
        result *= base;
    return result;
  }

  // Parses the part after `floor(`: `(sum)/number)` or `product/number)`.
  std::optional<Polynomial> floor() {
    if (++depth_ > kMaxDepth)
      return std::nullopt;
    bool inParentheses = take('(');
    std::optional<Polynomial> numerator = inParentheses ? sum() : product(take('-'));
    if (!numerator || (inParentheses && !take(')')) || !take('/'))
      return std::nullopt;
    skipSpace();
    std::optional<int64_t> divisor = number();
    if (!divisor || *divisor < 1 || !take(')'))
      return std::nullopt;
    --depth_;
    return numerator->floorDividedBy(*divisor);
  }

  std::optional<int64_t> number() {
    uint64_t value = 0;
    auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error == std::errc::invalid_argument)
      return std::nullopt;
    at_ = end - text_.data();
    if (error == std::errc::result_out_of_range || value > static_cast<uint64_t>(kLimit))
      return kLimit;
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

  static constexpr int kMaxDepth = 32; // of floors in floors

  const std::string &text_;
  size_t at_ = 0;
  int depth_ = 0;
};

} // namespace

std::optional<Polynomial> Polynomial::parse(const std::string &text) {
  return Reader(text).whole();
}

} // namespace cleave
