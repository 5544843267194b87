// Decoding of the kinds of PNG and JPEG files, and of damaged ones. The files are written here.
#include "runtime/image/Decode.h"
#include "test/unit/image/PngFile.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <jpeglib.h>

using namespace cleave;
using namespace cleave::image;
using cleave::test::png;

// A JPEG file of best quality without subsampling.
static std::string jpeg(int64_t width, int64_t height, int components, J_COLOR_SPACE colours,
                        std::vector<uint8_t> bytes, bool progressive = false) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char *memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  info.image_width = JDIMENSION(width), info.image_height = JDIMENSION(height);
  info.input_components = components, info.in_color_space = colours;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 100, TRUE);
  if (progressive)
    jpeg_simple_progression(&info);
  info.comp_info[0].h_samp_factor = info.comp_info[0].v_samp_factor = 1;
  jpeg_start_compress(&info, TRUE);
  for (int64_t y = 0; y < height; ++y) {
    JSAMPROW row = &bytes[size_t(y * width * components)];
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  std::string file(reinterpret_cast<char *>(memory), size);
  jpeg_destroy_compress(&info);
  std::free(memory);
  return file;
}

static std::vector<uint8_t> pixelsOf(const std::string &file, int64_t channels) {
  auto image = decode(file, channels);
  INFO(image.status().message());
  REQUIRE(image);
  CHECK(image->channels == channels);
  auto size = sizeOf(file);
  REQUIRE(size);
  CHECK(*size == image->size);
  CHECK(int64_t(image->pixels.size()) == size->height * size->width * channels);
  return image->pixels;
}

TEST_CASE("every kind of PNG becomes grey or red, green and blue of 8 bits") {
  using Bytes = std::vector<uint8_t>;
  const Bytes rgb{1, 2, 3, 4, 5, 6, 250, 0, 9, 8, 7, 6};
  for (bool interlaced : {false, true}) {
    CHECK(pixelsOf(png(2, 2, PNG_COLOR_TYPE_RGB, 8, interlaced, rgb), 3) == rgb);
    CHECK(pixelsOf(png(2, 1, PNG_COLOR_TYPE_RGB_ALPHA, 8, interlaced, {1, 2, 3, 0, 4, 5, 6, 99}),
                   3) == Bytes{1, 2, 3, 4, 5, 6});
    CHECK(pixelsOf(png(2, 1, PNG_COLOR_TYPE_GRAY_ALPHA, 8, interlaced, {7, 0, 9, 255}), 3) ==
          Bytes{7, 7, 7, 9, 9, 9});
    CHECK(pixelsOf(png(2, 1, PNG_COLOR_TYPE_GRAY, 16, interlaced, {200, 255, 3, 1}), 1) ==
          Bytes{200, 3});
    CHECK(pixelsOf(png(4, 1, PNG_COLOR_TYPE_GRAY, 1, interlaced, {0xa0}), 1) ==
          Bytes{255, 0, 255, 0});
    CHECK(pixelsOf(png(4, 1, PNG_COLOR_TYPE_PALETTE, 1, interlaced, {0x40}), 3) ==
          Bytes{10, 20, 30, 40, 50, 60, 10, 20, 30, 10, 20, 30});
  }
}

TEST_CASE("colours become grey by their luma") {
  // (19595 * 200 + 38470 * 100 + 7471 * 50) / 65536 = 124.2
  CHECK(pixelsOf(png(1, 1, PNG_COLOR_TYPE_RGB, 8, false, {200, 100, 50}), 1) ==
        std::vector<uint8_t>{124});
}

TEST_CASE("grey, coloured, progressive and CMYK JPEGs are decoded") {
  auto allNear = [](const std::vector<uint8_t> &pixels, std::vector<int> wanted) {
    for (size_t i = 0; i < pixels.size(); ++i)
      if (std::abs(pixels[i] - wanted[i % wanted.size()]) > 2)
        return false;
    return true;
  };
  auto flat = [](const std::vector<uint8_t> &pixel) {
    std::vector<uint8_t> bytes;
    for (int i = 0; i < 9 * 10; ++i)
      bytes.insert(bytes.end(), pixel.begin(), pixel.end());
    return bytes;
  };
  CHECK(allNear(pixelsOf(jpeg(10, 9, 1, JCS_GRAYSCALE, flat({77})), 3), {77, 77, 77}));
  CHECK(allNear(pixelsOf(jpeg(10, 9, 1, JCS_GRAYSCALE, flat({77})), 1), {77}));
  CHECK(allNear(pixelsOf(jpeg(10, 9, 3, JCS_RGB, flat({200, 30, 90})), 3), {200, 30, 90}));
  CHECK(allNear(pixelsOf(jpeg(10, 9, 3, JCS_RGB, flat({200, 30, 90}), true), 3), {200, 30, 90}));
  // Stored inverted: no cyan, half magenta, all yellow, no black.
  CHECK(allNear(pixelsOf(jpeg(10, 9, 4, JCS_CMYK, flat({255, 128, 0, 255})), 3), {255, 128, 0}));
}

TEST_CASE("a file that ends early, or is changed anywhere, gives an image or a user error") {
  std::vector<uint8_t> noise(16 * 16 * 3);
  for (size_t i = 0; i < noise.size(); ++i)
    noise[i] = uint8_t(i * 2654435761u >> 13);
  const std::string files[] = {jpeg(16, 16, 3, JCS_RGB, noise),
                               jpeg(16, 16, 3, JCS_RGB, noise, true),
                               png(16, 16, PNG_COLOR_TYPE_RGB, 8, false, noise)};
  for (const std::string &file : files) {
    for (size_t bytes = 0; bytes < file.size(); ++bytes) {
      auto image = decode(std::string_view(file).substr(0, bytes), 3);
      // The last bytes of a JPEG only say that it ends.
      if (image)
        CHECK(file.size() - bytes <= 2);
      else
        CHECK(image.status().kind() == StatusKind::UserError);
    }
    for (size_t at = 0; at < file.size(); ++at) {
      std::string changed = file;
      changed[at] = char(changed[at] ^ (1 << at % 8));
      if (auto image = decode(changed, 3); !image)
        CHECK(image.status().kind() == StatusKind::UserError);
    }
  }
}

TEST_CASE("what is wrong with a file is said") {
  auto problem = [](const std::string &file) {
    auto image = decode(file, 3);
    REQUIRE(!image);
    return image.status().message();
  };
  CHECK(problem("") ==
        "found an empty file, expected a JPEG or PNG image: replace it or take it out");
  CHECK(problem("GIF89a") ==
        "found other content, expected a JPEG or PNG image: replace it or take it out");
  std::string file = png(2, 1, PNG_COLOR_TYPE_GRAY, 8, false, {1, 2});
  CHECK(problem(file.substr(0, 50)) == "found a damaged PNG image (it ends too early)");
  CHECK_THAT(problem(jpeg(8, 8, 1, JCS_GRAYSCALE, std::vector<uint8_t>(64, 3)).substr(0, 300)),
             Catch::StartsWith("found a damaged JPEG image ("));
}
