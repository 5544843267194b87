// The order of samples: as stored, or shuffled by a permutation per pass, which is computed per
// sample and takes no memory.
#pragma once

#include <cstdint>
#include <optional>

namespace cleave::data {

class SampleOrder {
public:
  // `samples` per pass, at least 1; without a seed in stored order.
  SampleOrder(int64_t samples, std::optional<uint64_t> seed) : samples_(samples), seed_(seed) {
    while ((int64_t(1) << (2 * halfBits_)) < samples_)
      ++halfBits_;
  }

  // The index of the sample at position `number` of the sequence that begins with the first step.
  int64_t at(int64_t number) const {
    int64_t pass = number / samples_, index = number % samples_;
    if (!seed_ || samples_ < 2)
      return index;
    uint64_t shuffled = index;
    do // applies the permutation of the next power of four until the result is a sample
      shuffled = permute(shuffled, pass);
    while (shuffled >= static_cast<uint64_t>(samples_));
    return static_cast<int64_t>(shuffled);
  }

private:
  static uint64_t mix(uint64_t x) { // splitmix64's finisher
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
  }
  // A Feistel network: a bijection on 2 * halfBits_ bits for every function `mix`.
  uint64_t permute(uint64_t value, uint64_t pass) const {
    uint64_t mask = (uint64_t(1) << halfBits_) - 1, left = value >> halfBits_, right = value & mask;
    for (uint64_t round = 0; round < 6; ++round) {
      uint64_t key = mix(*seed_ + 0x9e3779b97f4a7c15ull * (pass * 6 + round + 1));
      uint64_t next = left ^ (mix(right ^ key) & mask);
      left = right;
      right = next;
    }
    return left << halfBits_ | right;
  }

  int64_t samples_;
  std::optional<uint64_t> seed_;
  int halfBits_ = 1;
};

} // namespace cleave::data
