// PNG files of given pixels, written by libpng.
#pragma once

#include <png.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cleave::test {

// A PNG file of rows of samples in libpng's order; 16 bits are big-endian.
inline std::string png(int64_t width, int64_t height, int type, int bits, bool interlaced,
                       std::vector<uint8_t> bytes) {
  std::string file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &file,
      [](png_structp png, png_bytep data, size_t size) {
        static_cast<std::string *>(png_get_io_ptr(png))
            ->append(reinterpret_cast<char *>(data), size);
      },
      nullptr);
  png_set_IHDR(png, info, png_uint_32(width), png_uint_32(height), bits, type,
               interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  const png_color palette[] = {{10, 20, 30}, {40, 50, 60}};
  const png_byte transparency[] = {0, 128};
  if (type == PNG_COLOR_TYPE_PALETTE) {
    png_set_PLTE(png, info, palette, 2);
    png_set_tRNS(png, info, transparency, 2, nullptr);
  }
  png_write_info(png, info);
  std::vector<png_bytep> rows;
  for (int64_t y = 0; y < height; ++y)
    rows.push_back(&bytes[bytes.size() / size_t(height) * size_t(y)]);
  png_write_image(png, rows.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return file;
}

} // namespace cleave::test
