// Three digits and a unit.
#include "runtime/base/Units.h"

#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>

namespace cleave {

// `1.50`, `15.0`, `150`: three digits of a number in [0, 1000).
static std::string threeDigits(double value) {
  int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string bytesText(uint64_t bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024)
    return concat(bytes, " B");
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1023.5 && unit + 1 < std::size(units); ++unit)
    value /= 1024;
  return threeDigits(value) + " " + units[unit];
}

std::string secondsText(double seconds) {
  if (!std::isfinite(seconds))
    return seconds != seconds ? "unknown" : seconds < 0 ? "-infinite" : "infinite";
  if (seconds < 0)
    return "-" + secondsText(-seconds);
  if (seconds == 0)
    return "0 s";
  if (seconds >= 99.95) {
    int64_t whole = std::llround(seconds);
    char text[32];
    std::snprintf(text, sizeof text, "%lld min %02lld s", static_cast<long long>(whole / 60),
                  static_cast<long long>(whole % 60));
    return text;
  }
  static const char *const units[] = {"s", "ms", "us", "ns"};
  size_t unit = 0;
  for (; seconds < 0.9995 && unit + 1 < std::size(units); ++unit)
    seconds *= 1000;
  return threeDigits(seconds) + " " + units[unit];
}

std::string countText(double count, const std::string &unit) {
  static const char *const prefixes[] = {"", "K", "M", "G", "T", "P", "E"};
  if (count < 0)
    return "-" + countText(-count, unit);
  size_t prefix = 0;
  for (; count >= 999.5 && prefix + 1 < std::size(prefixes); ++prefix)
    count /= 1000;
  std::string number = prefix == 0 && count == std::floor(count)
                           ? std::to_string(static_cast<int64_t>(count))
                           : threeDigits(count);
  if (!unit.empty() && std::islower(static_cast<unsigned char>(unit[0])))
    return number + (prefix == 1 ? "k" : prefixes[prefix]) + " " + unit;
  return number + " " + prefixes[prefix] + unit;
}

std::string percentText(double fraction) {
  if (fraction == 0)
    return "0 %";
  if (std::fabs(fraction) < 0.0005) // would be 0.0
    return fraction > 0 ? "<0.1 %" : ">-0.1 %";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", fraction * 100);
  return text;
}

// The number of bytes in a unit, given in lower case; none if it is not a unit.
static std::optional<double> bytesIn(std::string unit) {
  static const std::string prefixes = "kmgtp";
  if (unit.empty() || unit == "b")
    return 1;
  const size_t power = prefixes.find(unit[0]);
  unit.erase(0, 1);
  if (power == std::string::npos || (!unit.empty() && unit != "b" && unit != "ib"))
    return std::nullopt;
  return std::pow(unit == "b" ? 1000 : 1024, double(power + 1));
}

Result<uint64_t> parseBytes(const std::string &text, uint64_t least) {
  char *end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  std::string unit;
  for (const char *c = end; *c; ++c)
    if (*c != ' ')
      unit += static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
  const double bytes = number * bytesIn(unit).value_or(-1);
  if (end == text.c_str() || !(bytes >= 0) || bytes >= 0x1p63)
    return Status::userError("found '", text, "', expected an amount such as 2GiB, 800MB or 4096");
  if (bytes < static_cast<double>(least))
    return Status::userError("found '", text, "', which is ", bytesText(uint64_t(bytes)),
                             ", expected at least ", bytesText(least), ", such as 2GiB or 800MB");
  return static_cast<uint64_t>(bytes);
}

} // namespace cleave
