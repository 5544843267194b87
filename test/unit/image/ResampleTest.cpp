// Resizing beside what PIL 13.0 gives: Image.resize(size, Image.BILINEAR) of the image below.
#include "runtime/image/Resample.h"

#include <catch2/catch.hpp>

using namespace cleave::image;

// 13 x 9 pixels; channel c is the image of c = 0, plus 50 c.
static Image sample(int64_t channels) {
  Image image{{9, 13}, channels, {}};
  for (int64_t y = 0; y < 9; ++y)
    for (int64_t x = 0; x < 13; ++x)
      for (int64_t c = 0; c < channels; ++c)
        image.pixels.push_back(uint8_t(x * 37 + y * 59 + x * y * 7 + 50 * c));
  return image;
}

static Rect all(Size size) { return {0, 0, size}; }

TEST_CASE("images are resized as PIL resizes them") {
  const Image image = sample(1);
  CHECK(resample(image, all(image.size), {4, 5}, all({4, 5})).pixels ==
        std::vector<uint8_t>{91,  136, 120, 116, 133, 147, 126, 117, 137, 144,
                             120, 149, 137, 141, 141, 145, 149, 129, 137, 137});
  CHECK(resample(image, all(image.size), {12, 6}, all({12, 6})).pixels ==
        std::vector<uint8_t>{29,  100, 177, 70,  88,  159, 70,  149, 128, 99,  151, 114,
                             118, 149, 104, 127, 148, 121, 161, 101, 116, 136, 93,  168,
                             174, 101, 138, 90,  168, 115, 148, 135, 130, 138, 144, 162,
                             118, 167, 131, 145, 141, 169, 98,  171, 147, 106, 166, 124,
                             112, 92,  163, 133, 121, 117, 154, 128, 154, 161, 146, 134,
                             161, 159, 133, 147, 143, 141, 133, 162, 110, 100, 106, 135});
}

TEST_CASE("a window is a part of the resized image, with black outside of it") {
  for (int64_t channels : {1, 3}) {
    const Image image = sample(channels);
    for (Size to : {Size{4, 5}, {12, 20}, {9, 20}, {4, 13}, {9, 13}}) {
      const Image whole = resample(image, all(image.size), to, all(to));
      const Rect window{-2, 1, {to.height + 1, to.width + 3}};
      const Image part = resample(image, all(image.size), to, window);
      REQUIRE(part.size == window.size);
      for (int64_t y = 0; y < part.size.height; ++y)
        for (int64_t x = 0; x < part.size.width * channels; ++x) {
          const int64_t row = y + window.top, column = x + window.left * channels;
          const bool isInside = row >= 0 && row < to.height && column < to.width * channels;
          REQUIRE(part.pixels[size_t(y * part.size.width * channels + x)] ==
                  (isInside ? whole.pixels[size_t(row * to.width * channels + column)] : 0));
        }
    }
  }
}

TEST_CASE("a part is resized as the image that it would be alone") {
  const Image image = sample(3);
  const Rect part{2, 3, {5, 7}};
  const Image alone = resample(image, all(image.size), image.size, part);
  CHECK(resample(image, part, {8, 4}, all({8, 4})).pixels ==
        resample(alone, all(alone.size), {8, 4}, all({8, 4})).pixels);
}

TEST_CASE("a window beside the image is black") {
  const Image image = sample(3);
  CHECK(resample(image, all(image.size), image.size, {20, 20, {2, 2}}).pixels ==
        std::vector<uint8_t>(12, 0));
}
