// Random numbers without a state: a hash of a counter and a key. The same number is drawn wherever
// its element is computed. The hash is the finaliser of SplitMix64 (Steele, Lea and Flood 2014).
#pragma once

#include <cstdint>

namespace cleave {

constexpr uint64_t kCounterStep = 0x9e3779b97f4a7c15, kFirstMixer = 0xbf58476d1ce4e5b9,
                   kSecondMixer = 0x94d049bb133111eb;

// A bijection of 64-bit numbers that makes neighbours look independent.
inline uint64_t mixBits(uint64_t z) {
  z = (z ^ (z >> 30)) * kFirstMixer;
  z = (z ^ (z >> 27)) * kSecondMixer;
  return z ^ (z >> 31);
}

// Makes a key ready for randomNumber.
inline uint64_t hashedKey(uint64_t key) { return mixBits(key + kCounterStep); }

// A multiple of 2^-24 in [0, 1).
inline float randomNumber(uint64_t counter, uint64_t hashed) {
  return float(mixBits(counter + hashed) >> 40) * 0x1p-24f;
}

} // namespace cleave
