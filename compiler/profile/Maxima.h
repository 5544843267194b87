// The largest of many amounts with symbols, where nobody can say which one it is: all that it can be.
#pragma once

#include "dialects/interfaces/Polynomial.h"

#include <map>
#include <string>
#include <vector>

namespace cleave::profile {

// Amounts as rows of numbers, one for each product of symbols that occurs, so that thousands of them
// can be added up and compared. All symbols are at least 1.
class AmountSpace {
public:
  using Row = std::vector<int64_t>;

  // Of all amounts that sums will be made of.
  explicit AmountSpace(const std::vector<Polynomial> &amounts);

  // The row of one of them, or of a sum of them.
  Row row(const Polynomial &amount) const;
  Polynomial amount(const Row &row) const;

  // Whether `a` is at most `b`, whatever the symbols are. False where it cannot be told.
  bool neverExceeds(const Row &a, const Row &b) const;
  // Whether `row` is at most a mean of `a` and `b` with some weights, and so never the only largest.
  bool isBelowMean(const Row &row, const Row &a, const Row &b) const;

private:
  // By the text of their products of symbols. A row begins with the coefficients of the amount itself
  // and goes on with those that are compared: of how far symbols exceed 1, where a larger coefficient
  // means a larger amount. What an amount has without a known least value stands there twice, with
  // both signs.
  std::map<std::string, size_t> columns_, compared_, unknown_;
  size_t width_ = 0;
};

// Collects rows and keeps those that can be the largest.
class Maxima {
public:
  explicit Maxima(const AmountSpace &space) : space_(space) {}

  struct Candidate {
    AmountSpace::Row row;
    size_t moment; // as it was given
  };

  void add(const AmountSpace::Row &row, size_t moment);
  // Those that can be the largest, in the order of their moments.
  std::vector<Candidate> take();

private:
  // Drops those that are below a mean of two others.
  void prune();

  const AmountSpace &space_;
  std::vector<Candidate> candidates_;
  size_t limit_ = 32; // prune() at this size
};

} // namespace cleave::profile
