// The inner loops against plain ones, bit for bit, for all numbers of entries up to two vectors.
#include "compiler/solver/MinPlus.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <random>

using namespace cleave::solver;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr size_t kMost = 19; // entries: two vectors of eight, and a rest

std::vector<double> randomEntries(size_t count, std::mt19937 &random, bool isFinite = false) {
  std::vector<double> entries(count);
  for (double &entry : entries)
    entry = !isFinite && random() % 7 == 0 ? kInfinity : static_cast<double>(random() % 1000) / 7;
  return entries;
}

} // namespace

TEST_CASE("sums of rows have the least entries that plain loops find") {
  std::mt19937 random(1);
  for (size_t choices = 0; choices <= kMost; ++choices)
    for (size_t tables = 0; tables <= 3; ++tables) {
      const int64_t count = 4;
      std::vector<std::vector<double>> entries;
      TableRows rows;
      rows.choices = choices;
      rows.rows = count;
      for (size_t k = 0; k < tables; ++k) {
        const int64_t stride = k == 1 ? 0 : static_cast<int64_t>(choices + k);
        entries.push_back(randomEntries(count * (choices + k), random));
        rows.strides.push_back(stride);
      }
      for (const std::vector<double> &table : entries)
        rows.tables.push_back(table.data());
      const std::vector<double> own = randomEntries(choices, random);
      std::vector<double> perChoice = randomEntries(choices, random);
      std::vector<double> expectedPerChoice = perChoice, out(count, -1), expected(count, kInfinity);
      for (int64_t row = 0; row < count; ++row)
        for (size_t i = 0; i < choices; ++i) {
          double sum = own[i], inputs = 0;
          for (size_t k = 0; k < tables; ++k) {
            sum += rows.tables[k][row * rows.strides[k] + static_cast<int64_t>(i)];
            inputs += rows.tables[k][row * rows.strides[k] + static_cast<int64_t>(i)];
          }
          expected[row] = std::min(expected[row], sum);
          expectedPerChoice[i] = std::min(expectedPerChoice[i], inputs);
        }
      INFO(choices << " choices, " << tables << " tables");
      leastPerRow(rows, own.data(), out.data());
      CHECK(out == expected);
      leastPerChoice(rows, perChoice.data());
      CHECK(perChoice == expectedPerChoice);
    }
}

TEST_CASE("columns have the least differences that plain loops find") {
  std::mt19937 random(2);
  for (size_t columns = 0; columns <= kMost; ++columns) {
    const size_t rows = 5;
    const std::vector<double> table = randomEntries(rows * columns, random);
    const std::vector<double> less = randomEntries(rows, random, /*isFinite=*/true);
    std::vector<double> least(columns, -1), expected(columns, kInfinity);
    for (size_t k = 0; k < table.size(); ++k)
      expected[k % columns] = std::min(expected[k % columns], table[k] - less[k / columns]);
    leastPerColumn(table.data(), less.data(), rows, columns, least.data());
    INFO(columns << " columns");
    CHECK(least == expected);
  }
}

TEST_CASE("sums, excesses and least values are those of plain loops") {
  std::mt19937 random(3);
  for (size_t count = 0; count <= kMost; ++count) {
    const std::vector<double> a = randomEntries(count, random), b = randomEntries(count, random);
    std::vector<double> sums = a, expected = a;
    double excess = -kInfinity, least = kInfinity;
    for (size_t i = 0; i < count; ++i) {
      expected[i] += b[i];
      least = std::min(least, a[i]);
      if (a[i] < kInfinity || b[i] < kInfinity)
        excess = std::max(excess, a[i] - b[i]);
    }
    INFO(count << " entries");
    addTo(sums.data(), b.data(), count);
    CHECK(sums == expected);
    CHECK(leastOf(a.data(), count) == least);
    CHECK(largestExcess(a.data(), b.data(), count) == excess);
  }
}
