// Choices: the random decisions of one generated case as a list of numbers.
//
// A generator requests one number after the other. The numbers are drawn from a seed and recorded,
// or replayed from a list, which continues with zeros. Every list yields a valid case, and 0 is
// always the simplest choice. Any case can therefore be made smaller by removing and decreasing
// numbers (`shrink`).
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace cleave::fuzz {

class Choices {
public:
  explicit Choices(uint64_t seed) : random_(seed), draws_(true) {}
  explicit Choices(std::vector<uint32_t> fixed) : numbers_(std::move(fixed)) {}

  // A number in [0, n); n is at least 1.
  uint32_t below(uint32_t n);
  // True with a probability of `percent` percent.
  bool chance(uint32_t percent) { return below(100) >= 100 - percent; }
  template <typename T> const T &pick(const std::vector<T> &list) {
    return list[below(static_cast<uint32_t>(list.size()))];
  }
  // The numbers requested so far.
  std::vector<uint32_t> made() const { return {numbers_.begin(), numbers_.begin() + next_}; }

private:
  std::mt19937_64 random_;
  bool draws_ = false;
  std::vector<uint32_t> numbers_;
  std::ptrdiff_t next_ = 0;
};

// A list with fewer or smaller numbers for which `fails` holds, found with at most `attempts`
// calls. fails(numbers) must hold.
std::vector<uint32_t> shrink(std::vector<uint32_t> numbers,
                             const std::function<bool(const std::vector<uint32_t> &)> &fails,
                             int attempts);

} // namespace cleave::fuzz
