// See Maxima.h.
#include "compiler/profile/Maxima.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace cleave::profile {

namespace {

// The position of the first of `marks` outside parentheses, from `begin` on; the text's end if
// none.
size_t findOutside(const std::string &text, const char *marks, size_t begin) {
  int depth = 0;
  for (size_t i = begin; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0 && std::strchr(marks, text[i]))
      return i;
  }
  return text.size();
}

// The coefficients of a polynomial by the texts of their products (`batch*seq^2`; empty for the
// constant), taken from its text, which is a sum of such products.
std::map<std::string, int64_t> termsOf(const Polynomial &amount) {
  std::string text = amount.str();
  std::map<std::string, int64_t> terms;
  for (size_t begin = 0; begin < text.size();) {
    bool isNegative = text[begin] == '-';
    begin = text.find_first_not_of("+- ", begin);
    size_t end = findOutside(text, "+-", begin);
    std::string term = text.substr(begin, end - begin);
    term.erase(term.find_last_not_of(' ') + 1);
    begin = end;
    size_t digits = std::min(term.find_first_not_of("0123456789"), term.size());
    int64_t coefficient = digits ? *Polynomial::parse(term.substr(0, digits))->constant() : 1;
    std::string product = term.substr(std::min(term.size(), digits ? digits + 1 : 0));
    if (coefficient)
      terms[product] = isNegative ? -coefficient : coefficient;
  }
  return terms;
}

// The amount written in the excess of each symbol (or floor) over its least value, which is 1 for
// symbols: without negative coefficients it is never negative. Nothing if a least value is unknown.
std::optional<Polynomial> aboveLeast(const Polynomial &amount) {
  Polynomial sum;
  for (const auto &[product, coefficient] : termsOf(amount)) {
    Polynomial term(coefficient);
    for (size_t begin = 0; begin < product.size();) {
      size_t end = findOutside(product, "*", begin);
      std::string factor = product.substr(begin, end - begin);
      size_t power = findOutside(factor, "^", 0);
      Polynomial atom = *Polynomial::parse(factor.substr(0, power));
      std::optional<int64_t> least = atom.atLeast(1);
      if (!least)
        return std::nullopt;
      int times = power < factor.size() ? std::stoi(factor.substr(power + 1)) : 1;
      for (int i = 0; i < times; ++i)
        term *= atom + Polynomial(*least);
      begin = end + 1;
    }
    sum += term;
  }
  return sum;
}

} // namespace

AmountSpace::AmountSpace(const std::vector<Polynomial> &amounts) {
  auto add = [&](auto &columns, const Polynomial &amount, size_t each) {
    for (const auto &[product, coefficient] : termsOf(amount))
      if (columns.try_emplace(product, width_).second)
        width_ += each;
  };
  for (const Polynomial &amount : amounts)
    add(columns_, amount, 1);
  for (const Polynomial &amount : amounts)
    if (std::optional<Polynomial> above = aboveLeast(amount))
      add(compared_, *above, 1);
    else
      add(unknown_, amount, 2);
}

AmountSpace::Row AmountSpace::row(const Polynomial &amount) const {
  Row row(width_);
  for (const auto &[product, coefficient] : termsOf(amount))
    row[columns_.at(product)] = coefficient;
  if (std::optional<Polynomial> above = aboveLeast(amount)) {
    for (const auto &[product, coefficient] : termsOf(*above))
      row[compared_.at(product)] = coefficient;
    return row;
  }
  for (const auto &[product, coefficient] : termsOf(amount)) {
    row[unknown_.at(product)] = coefficient;
    row[unknown_.at(product) + 1] = -coefficient;
  }
  return row;
}

Polynomial AmountSpace::amount(const Row &row) const {
  Polynomial sum;
  for (const auto &[product, column] : columns_)
    sum +=
        Polynomial(row[column]) * (product.empty() ? Polynomial(1) : *Polynomial::parse(product));
  return sum;
}

bool AmountSpace::neverExceeds(const Row &a, const Row &b) const {
  for (size_t i = columns_.size(); i < width_; ++i)
    if (a[i] > b[i])
      return false;
  return true;
}

// With t of `a` and 1 - t of `b`: t (a - b) >= row - b must hold in every column, for one t between
// 0 and 1. The bounds of t are kept as fractions.
bool AmountSpace::isBelowMean(const Row &row, const Row &a, const Row &b) const {
  using Wide = __int128;
  Wide leastNumerator = 0, leastDenominator = 1, mostNumerator = 1, mostDenominator = 1;
  for (size_t i = columns_.size(); i < width_; ++i) {
    Wide slope = Wide(a[i]) - b[i], needed = Wide(row[i]) - b[i];
    if (slope == 0 && needed > 0)
      return false;
    if (slope > 0 && needed * leastDenominator > leastNumerator * slope) {
      leastNumerator = needed;
      leastDenominator = slope;
    } else if (slope < 0 && needed * mostDenominator > mostNumerator * slope) {
      mostNumerator = -needed;
      mostDenominator = -slope;
    }
  }
  return leastNumerator * mostDenominator <= mostNumerator * leastDenominator;
}

void Maxima::add(const AmountSpace::Row &row, size_t moment) {
  for (size_t i = candidates_.size(); i-- > 0;)
    if (space_.neverExceeds(row, candidates_[i].row))
      return;
  std::erase_if(candidates_,
                [&](const Candidate &known) { return space_.neverExceeds(known.row, row); });
  candidates_.push_back({row, moment});
  if (candidates_.size() >= limit_) {
    prune();
    limit_ = std::max<size_t>(32, 2 * candidates_.size());
  }
}

void Maxima::prune() {
  auto isNeeded = [&](size_t at) {
    for (size_t a = 0; a < candidates_.size(); ++a)
      for (size_t b = a + 1; b < candidates_.size(); ++b)
        if (a != at && b != at &&
            space_.isBelowMean(candidates_[at].row, candidates_[a].row, candidates_[b].row))
          return false;
    return true;
  };
  for (size_t at = candidates_.size(); at-- > 0;)
    if (!isNeeded(at))
      candidates_.erase(candidates_.begin() + static_cast<ptrdiff_t>(at));
}

std::vector<Maxima::Candidate> Maxima::take() {
  prune();
  return std::move(candidates_);
}

} // namespace cleave::profile
