// PNG files, by libpng. See Decoders.h.
//
// As in Jpeg.cpp, functions that libpng may leave by a jump keep everything in PngReader.
#include "runtime/image/Decoders.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <png.h>

namespace cleave::image {
namespace {

// zlib's deflate makes data shorter by this factor at most.
constexpr uint64_t kMostCompression = 1032;

struct PngReader {
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::string_view rest; // of the file
  std::string_view file;
  std::vector<png_bytep> rows;
  char message[128] = "";
  Status status; // of checks of our own
};

void onError(png_structp png, png_const_charp message) {
  auto &reader = *static_cast<PngReader *>(png_get_error_ptr(png));
  std::snprintf(reader.message, sizeof reader.message, "%s", message);
  png_longjmp(png, 1);
}

void onWarning(png_structp, png_const_charp) {}

void readBytes(png_structp png, png_bytep to, size_t count) {
  auto &reader = *static_cast<PngReader *>(png_get_io_ptr(png));
  if (count > reader.rest.size())
    png_error(png, "it ends too early");
  std::memcpy(to, reader.rest.data(), count);
  reader.rest.remove_prefix(count);
}

// 8 bits per channel without transparency, grey or red, green and blue.
void chooseFormat(PngReader &reader) {
  png_set_strip_16(reader.png);
  png_set_packing(reader.png);
  const int type = png_get_color_type(reader.png, reader.info);
  if (type == PNG_COLOR_TYPE_PALETTE)
    png_set_palette_to_rgb(reader.png);
  if (type == PNG_COLOR_TYPE_GRAY && png_get_bit_depth(reader.png, reader.info) < 8)
    png_set_expand_gray_1_2_4_to_8(reader.png);
  png_set_strip_alpha(reader.png);
}

bool readHeader(PngReader &reader, Image &image) {
  if (setjmp(png_jmpbuf(reader.png)))
    return false;
  png_set_read_fn(reader.png, &reader, readBytes);
  png_set_user_limits(reader.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX); // checkSize() has the limit
  png_set_chunk_malloc_max(reader.png, 8 << 20);
  png_read_info(reader.png, reader.info);
  image.size = {png_get_image_height(reader.png, reader.info),
                png_get_image_width(reader.png, reader.info)};
  image.channels = png_get_color_type(reader.png, reader.info) & PNG_COLOR_MASK_COLOR ? 3 : 1;
  reader.status = checkSize(image.size);
  return reader.status.isOk();
}

// Before memory is allocated: whether so many bytes can come out of the file.
Status checkCompression(const PngReader &reader, const Image &image) {
  const uint64_t bits = uint64_t(image.size.height * image.size.width) *
                        png_get_bit_depth(reader.png, reader.info) *
                        png_get_channels(reader.png, reader.info);
  if (bits / 8 <= (reader.file.size() + 1) * kMostCompression)
    return Status::ok();
  return Status::userError("found a damaged PNG image (", reader.file.size(), " bytes cannot hold ",
                           image.size.width, " x ", image.size.height, " pixels)");
}

bool prepare(PngReader &reader, Image &image) {
  if (setjmp(png_jmpbuf(reader.png)))
    return false;
  chooseFormat(reader);
  png_set_interlace_handling(reader.png);
  png_read_update_info(reader.png, reader.info);
  return png_get_rowbytes(reader.png, reader.info) == size_t(image.size.width * image.channels);
}

bool readPixels(PngReader &reader) {
  if (setjmp(png_jmpbuf(reader.png)))
    return false;
  png_read_image(reader.png, reader.rows.data());
  png_read_end(reader.png, nullptr);
  return true;
}

bool read(PngReader &reader, Image &image, bool pixels) {
  if (!readHeader(reader, image))
    return false;
  if (!pixels)
    return true;
  reader.status = checkCompression(reader, image);
  if (!reader.status || !prepare(reader, image))
    return false;
  const size_t row = size_t(image.size.width * image.channels);
  image.pixels.resize(row * size_t(image.size.height));
  for (int64_t y = 0; y < image.size.height; ++y)
    reader.rows.push_back(&image.pixels[row * size_t(y)]);
  return readPixels(reader);
}

} // namespace

Result<Image> decodePng(std::string_view file, bool pixels) {
  PngReader reader;
  reader.file = reader.rest = file;
  reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, onError, onWarning);
  reader.info = reader.png ? png_create_info_struct(reader.png) : nullptr;
  if (!reader.info) {
    png_destroy_read_struct(&reader.png, nullptr, nullptr);
    return Status::userError("no memory for decoding a PNG image");
  }
  Image image;
  const bool isRead = read(reader, image, pixels);
  png_destroy_read_struct(&reader.png, &reader.info, nullptr);
  if (isRead)
    return image;
  return reader.status.isOk()
             ? Status::userError("found a damaged PNG image (", reader.message, ")")
             : reader.status;
}

} // namespace cleave::image
