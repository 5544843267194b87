// Parses expressions of sizes, by recursive descent with a depth limit.
#include "compiler/frontend/pt2/Program.h"

#include <cctype>
#include <charconv>

namespace cleave::pt2 {
namespace {

constexpr int kMaxNesting = 64;

class Reader {
public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::optional<Polynomial> run() {
    std::optional<Polynomial> out = sum(0);
    skipSpace();
    return at_ == text_.size() ? out : std::nullopt;
  }

private:
  using Maybe = std::optional<Polynomial>;

  void skipSpace() {
    while (at_ < text_.size() && text_[at_] == ' ')
      ++at_;
  }
  bool take(char c) {
    skipSpace();
    if (at_ >= text_.size() || text_[at_] != c)
      return false;
    ++at_;
    return true;
  }

  Maybe sum(int depth) {
    Maybe left = product(depth);
    while (left) {
      bool plus = take('+');
      if (!plus && !take('-'))
        return left;
      Maybe right = product(depth);
      if (!right)
        return right;
      *left += plus ? *right : Polynomial(0) - *right; // in place: sums may be long
    }
    return left;
  }

  Maybe product(int depth) {
    Maybe left = power(depth);
    while (left && take('*')) {
      Maybe right = power(depth);
      if (!right)
        return right;
      *left = *left * *right;
    }
    return left;
  }

  Maybe power(int depth) {
    Maybe base = factor(depth);
    skipSpace();
    if (!base || text_.substr(at_, 2) != "**")
      return base;
    at_ += 2;
    return raised(*base, factor(depth));
  }

  static Maybe raised(const Polynomial &base, const Maybe &exponent) {
    std::optional<int64_t> times = exponent ? exponent->constant() : std::nullopt;
    if (!times || *times < 0 || *times > 16)
      return std::nullopt;
    Polynomial out(1);
    for (int64_t i = 0; i < *times; ++i)
      out *= base;
    return out;
  }

  Maybe factor(int depth) {
    skipSpace();
    if (depth > kMaxNesting || at_ >= text_.size())
      return std::nullopt;
    if (take('-')) {
      Maybe out = factor(depth + 1);
      return out ? Maybe(Polynomial(0) - *out) : out;
    }
    if (take('(')) {
      Maybe out = sum(depth + 1);
      return take(')') ? out : std::nullopt;
    }
    if (std::isdigit(static_cast<unsigned char>(text_[at_])))
      return integer();
    return named(depth);
  }

  Maybe integer() {
    int64_t value = 0;
    auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc())
      return std::nullopt;
    at_ = end - text_.data();
    return Polynomial(value);
  }

  // A symbol, or sympy's constructor of something.
  Maybe named(int depth) {
    size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      ++at_;
    std::string name(text_.substr(begin, at_ - begin));
    if (name.empty())
      return std::nullopt;
    if (!take('('))
      return Polynomial::symbol(name);
    if (name == "Symbol")
      return quotedSymbol();
    return constructed(name, depth);
  }

  // The rest of `Symbol('s0', positive=True, integer=True)`.
  Maybe quotedSymbol() {
    skipSpace();
    size_t end = at_ < text_.size() ? text_.find(text_[at_], at_ + 1) : std::string_view::npos;
    size_t close = text_.find(')', at_);
    if (end == std::string_view::npos || close == std::string_view::npos || close < end)
      return std::nullopt;
    std::string name(text_.substr(at_ + 1, end - at_ - 1));
    at_ = close + 1;
    return name == symbolName(name) ? Maybe(Polynomial::symbol(name)) : std::nullopt;
  }

  Maybe constructed(const std::string &name, int depth) {
    std::vector<Polynomial> arguments;
    do {
      Maybe argument = sum(depth + 1);
      if (!argument)
        return argument;
      arguments.push_back(*argument);
    } while (take(','));
    if (!take(')'))
      return std::nullopt;
    if (name == "Integer" && arguments.size() == 1)
      return arguments[0];
    if (name == "Pow" && arguments.size() == 2)
      return raised(arguments[0], arguments[1]);
    if (name != "Add" && name != "Mul")
      return std::nullopt;
    Polynomial out(name == "Mul" ? 1 : 0);
    for (const Polynomial &argument : arguments)
      out = name == "Mul" ? out * argument : out + argument;
    return out;
  }

  std::string_view text_;
  size_t at_ = 0;
};

} // namespace

std::optional<Polynomial> parseSize(const std::string &text) {
  constexpr size_t most = 1 << 12; // the work for products of sums is exponential in the length
  return text.size() <= most ? Reader(text).run() : std::nullopt;
}

} // namespace cleave::pt2
