// Json: JSON from files of other programs and people. nlohmann's library converts a number to any
// requested type; here, a conversion to an integer type that changes the value is an error.
#pragma once

#include "runtime/base/Concat.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace cleave {

// Conversion from JSON to T. Integers must be whole and fit into T, also if they are written like
// 1e9; other types are converted as in the library. Throws nlohmann's type_error.
template <typename T, typename = void> struct CheckedValues : nlohmann::adl_serializer<T> {
  template <typename J> static void from_json(const J &json, T &value) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      constexpr double most = 9007199254740992.0; // 2^53: all whole numbers up to it are doubles
      double real = json.is_number_float() ? json.template get<double>() : 0;
      bool fits = false;
      if (json.is_number_unsigned())
        fits = std::in_range<T>(json.template get_ref<const uint64_t &>());
      else if (json.is_number_integer())
        fits = std::in_range<T>(json.template get_ref<const int64_t &>());
      else if (json.is_number_float() && std::fabs(real) <= most && real == std::floor(real))
        fits = std::in_range<T>(static_cast<int64_t>(real));
      if (!fits)
        throw nlohmann::detail::type_error::create(
            302,
            concat("found ", json.dump(), ", expected a whole number of ", 8 * sizeof(T), " bits"),
            &json);
    }
    nlohmann::adl_serializer<T>::from_json(json, value);
  }
};

// JSON values; objects keep the order of their fields.
using Json = nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, int64_t,
                                  uint64_t, double, std::allocator, CheckedValues>;

// The library's message, without the kind and number at its beginning.
inline std::string jsonReason(const std::exception &error) {
  std::string_view text = error.what();
  if (size_t end = text.find("] "); text.starts_with("[json.exception.") && end != text.npos)
    text.remove_prefix(end + 2);
  return std::string(text);
}

} // namespace cleave
