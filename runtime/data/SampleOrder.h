// The order in which samples are taken: as stored, or a permutation per pass that is computed, not
// kept.
#pragma once

#include <cstdint>
#include <optional>

namespace cleave::data {

class SampleOrder {
public:
  SampleOrder(int64_t samples, std::optional<uint64_t> seed) : samples(samples), seed(seed) {
    while ((int64_t(1) << (2 * halfBits)) < samples)
      ++halfBits;
  }

  // The sample that comes as number `number`, counted from the first step on.
  int64_t at(int64_t number) const {
    int64_t pass = number / samples, index = number % samples;
    if (!seed || samples < 2)
      return index;
    uint64_t shuffled = index;
    do // the permutation of the next power of four, until it falls into the samples
      shuffled = permute(shuffled, pass);
    while (shuffled >= static_cast<uint64_t>(samples));
    return static_cast<int64_t>(shuffled);
  }

private:
  static uint64_t mix(uint64_t x) { // splitmix64's finisher
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
  }
  // A Feistel network: a bijection on 2 * halfBits bits whatever `mix` is.
  uint64_t permute(uint64_t value, uint64_t pass) const {
    uint64_t mask = (uint64_t(1) << halfBits) - 1, left = value >> halfBits, right = value & mask;
    for (uint64_t round = 0; round < 6; ++round) {
      uint64_t key = mix(*seed + 0x9e3779b97f4a7c15ull * (pass * 6 + round + 1));
      uint64_t next = left ^ (mix(right ^ key) & mask);
      left = right;
      right = next;
    }
    return left << halfBits | right;
  }

  int64_t samples;
  std::optional<uint64_t> seed;
  int halfBits = 1;
};

} // namespace cleave::data
