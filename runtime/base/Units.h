// Numbers for people, as three digits and a unit: `12.4 MiB`, `3.21 ms`, `47.0 GFLOP`, `3.1 %`.
// Tools and messages use these forms for sizes, times and amounts of work; files contain plain
// numbers.
#pragma once

#include "runtime/base/Status.h"

#include <cstdint>
#include <string>

namespace cleave {

// `0 B`, `512 B`, `1.50 KiB`, … in powers of 1024.
std::string bytesText(uint64_t bytes);

// The inverse, for options, with the units of GNU's tools: K, M, G, T and KiB, MiB, … are powers of
// 1024; KB, MB, … are powers of 1000; without a unit the number is in bytes. Upper and lower case
// mean the same. A user error for other text and for less than `least` bytes.
//
// A budget below kLeastBudget is taken for a number whose unit was forgotten.
inline constexpr uint64_t kLeastBudget = 1024;
Result<uint64_t> parseBytes(const std::string &text, uint64_t least = 0);

// `850 ns`, `12.3 us`, `4.00 ms`, `1.50 s`, `2 min 05 s`; negative times begin with `-`.
std::string secondsText(double seconds);

// A count in powers of 1000, with a prefix and the unit's name: countText(4.7e10, "FLOP") is
// `47.0 GFLOP`; before a word in lower case, `12.5k samples/s`.
std::string countText(double count, const std::string &unit);

// The fraction 0.031 as `3.1 %`; what is less than 0.05 % as `<0.1 %`, and 0 as `0 %`.
std::string percentText(double fraction);

} // namespace cleave
