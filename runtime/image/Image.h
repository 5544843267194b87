// An image in memory.
#pragma once

#include <cstdint>
#include <vector>

namespace cleave::image {

// The size of an image or of a part of it, in pixels.
struct Size {
  int64_t height = 0, width = 0;

  bool operator==(const Size &) const = default;
};

// Rows of pixels from the top, each with its channels side by side: `pixels[(y * width + x) *
// channels + c]`.
struct Image {
  Size size;
  int64_t channels = 0; // 1: grey; 3: red, green, blue
  std::vector<uint8_t> pixels;
};

} // namespace cleave::image
