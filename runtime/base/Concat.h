// concat: builds messages from strings, characters and numbers.
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <type_traits>

namespace cleave {

// Appends one part: text as it is, integers in decimal, floating-point numbers with the fewest
// digits that identify them.
template <typename Part> void appendPart(std::string &text, const Part &part) {
  if constexpr (std::is_same_v<Part, char>) {
    text += part;
  } else if constexpr (std::is_arithmetic_v<Part>) {
    static_assert(!std::is_same_v<Part, bool>, "write out what a flag means");
    char digits[32];
    auto [end, error] = std::to_chars(digits, digits + sizeof(digits), part);
    text.append(digits, end);
  } else {
    text += std::string_view(part);
  }
}

// The concatenation of the parts: concat("found ", 3, " inputs") is "found 3 inputs".
template <typename... Parts> std::string concat(const Parts &...parts) {
  std::string text;
  (appendPart(text, parts), ...);
  return text;
}

} // namespace cleave
