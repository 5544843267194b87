// Maxima: of many amounts with symbols, all those that are the largest for some values of the
// symbols.
#pragma once

#include "dialects/interfaces/Polynomial.h"

#include <map>
#include <string>
#include <vector>

namespace cleave::profile {

// Represents amounts as rows of coefficients, one per product of symbols that occurs, so that
// thousands of them can be added and compared. All symbols are at least 1.
class AmountSpace {
public:
  // The coefficients of an amount, in an order that only AmountSpace interprets.
  using Row = std::vector<int64_t>;

  // `amounts` are all summands of the amounts to represent.
  explicit AmountSpace(const std::vector<Polynomial> &amounts);

  // The row of one of them or of a sum of them, and the inverse.
  Row row(const Polynomial &amount) const;
  Polynomial amount(const Row &row) const;

  // Whether `a` <= `b` for all values of the symbols. False if that is not provable.
  bool neverExceeds(const Row &a, const Row &b) const;
  // Whether `row` is at most some weighted mean of `a` and `b`, and so never the only largest.
  bool isBelowMean(const Row &row, const Row &a, const Row &b) const;

private:
  // Columns by the text of their products of symbols. A row begins with the coefficients of the
  // amount (`columns_`). The coefficients that are compared follow (`compared_`): those of the
  // amount written in (symbol - 1), where a larger coefficient means a larger amount. Terms without
  // a known least value (`unknown_`) are there twice, with both signs.
  std::map<std::string, size_t> columns_, compared_, unknown_;
  size_t width_ = 0;
};

// Collects rows and keeps the candidates for the largest.
class Maxima {
public:
  explicit Maxima(const AmountSpace &space) : space_(space) {}

  // An amount that can be the largest.
  struct Candidate {
    AmountSpace::Row row;
    size_t moment; // as given to add()
  };

  // Adds the amount at a moment; moments identify amounts for the caller.
  void add(const AmountSpace::Row &row, size_t moment);
  // The candidates, in the order of their moments.
  std::vector<Candidate> take();

private:
  // Drops candidates that are at most a mean of two others.
  void prune();

  const AmountSpace &space_;
  std::vector<Candidate> candidates_;
  size_t limit_ = 32; // prune() at this size
};

} // namespace cleave::profile
