// The spaces in which values are kept, with the numbers of runtime/artifact/program.proto.
#pragma once

#include <optional>
#include <string_view>

namespace cleave {

enum class Space : int {
  Device = 0, // memory of the device, the only one that kernels access
  Host = 1,   // memory of the rank's host
  File = 2,   // a file of the rank's own
};

inline constexpr Space kSpaces[] = {Space::Device, Space::Host, Space::File};

// `device`, `host`, `file`.
constexpr std::string_view name(Space space) {
  return space == Space::Device ? "device" : space == Space::Host ? "host" : "file";
}
constexpr std::optional<Space> findSpace(std::string_view text) {
  for (Space space : kSpaces)
    if (name(space) == text)
      return space;
  return std::nullopt;
}

} // namespace cleave
