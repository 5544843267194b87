// JPEG files, by libjpeg. See Decoders.h.
//
// libjpeg reports errors by a call that must not return, which jumps back to the function that
// called setjmp. Such functions keep everything in JpegReader, and have no objects with
// destructors.
#include "runtime/image/Decoders.h"

#include <csetjmp>
#include <cstdio> // jpeglib.h needs it
#include <jerror.h>
#include <jpeglib.h>

namespace cleave::image {
namespace {

// A progressive file may repeat the whole image in every scan: more than this is an attack.
constexpr int kMostScans = 500;
// A block of 8 x 8 pixels takes a bit at least, without arithmetic coding.
constexpr int64_t kMostPixelsPerByte = 1024;

struct JpegReader {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  jmp_buf failed;
  char message[JMSG_LENGTH_MAX] = "";
  Status status;            // of checks of our own
  std::vector<uint8_t> row; // of CMYK
};

JpegReader &readerOf(j_common_ptr info) { return *static_cast<JpegReader *>(info->client_data); }

void onError(j_common_ptr info) {
  JpegReader &reader = readerOf(info);
  info->err->format_message(info, reader.message);
  longjmp(reader.failed, 1);
}

// Warnings are damage that the decoder passes over; the end of the file is an error.
void onMessage(j_common_ptr info, int level) {
  if (level < 0 && info->err->msg_code == JWRN_JPEG_EOF)
    onError(info);
}

void onProgress(j_common_ptr info) {
  JpegReader &reader = readerOf(info);
  if (reader.info.input_scan_number <= kMostScans)
    return;
  std::snprintf(reader.message, sizeof reader.message, "more than %d scans", kMostScans);
  longjmp(reader.failed, 1);
}

uint8_t scaled(int value, int by) { // value * by / 255, rounded as PIL does
  const int product = value * by + 128;
  return uint8_t(((product >> 8) + product) >> 8);
}

// A row of inverted CMYK, as Adobe's programs store it, to RGB.
void cmykToRgb(const uint8_t *cmyk, int64_t width, uint8_t *rgb) {
  for (int64_t x = 0; x < width; ++x, cmyk += 4, rgb += 3)
    for (int c = 0; c < 3; ++c)
      rgb[c] = uint8_t(cmyk[3] - scaled(255 - cmyk[c], cmyk[3]));
}

// Reads the header, and chooses the colours of the result. False with a message or a status.
bool readHeader(JpegReader &reader, std::string_view file, Image &image) {
  if (setjmp(reader.failed))
    return false;
  jpeg_create_decompress(&reader.info);
  jpeg_mem_src(&reader.info, reinterpret_cast<const unsigned char *>(file.data()), file.size());
  jpeg_read_header(&reader.info, TRUE);
  image.size = {reader.info.image_height, reader.info.image_width};
  const bool isGrey = reader.info.num_components == 1, isCmyk = reader.info.num_components == 4;
  image.channels = isGrey ? 1 : 3;
  reader.info.out_color_space = isGrey ? JCS_GRAYSCALE : isCmyk ? JCS_CMYK : JCS_RGB;
  reader.status = checkSize(image.size);
  if (reader.status &&
      image.size.height * image.size.width / kMostPixelsPerByte > int64_t(file.size()))
    reader.status =
        Status::userError("found a damaged JPEG image (", file.size(), " bytes cannot hold ",
                          image.size.width, " x ", image.size.height, " pixels)");
  return reader.status.isOk();
}

bool readPixels(JpegReader &reader, Image &image) {
  if (setjmp(reader.failed))
    return false;
  jpeg_start_decompress(&reader.info);
  const bool isCmyk = reader.info.output_components == 4;
  while (reader.info.output_scanline < reader.info.output_height) {
    uint8_t *to = &image.pixels[size_t(reader.info.output_scanline) * size_t(image.size.width) *
                                size_t(image.channels)];
    JSAMPROW row = isCmyk ? reader.row.data() : to;
    jpeg_read_scanlines(&reader.info, &row, 1);
    if (isCmyk)
      cmykToRgb(reader.row.data(), image.size.width, to);
  }
  jpeg_finish_decompress(&reader.info);
  return true;
}

} // namespace

Result<Image> decodeJpeg(std::string_view file, bool pixels) {
  JpegReader reader;
  reader.info.err = jpeg_std_error(&reader.errors);
  reader.info.client_data = &reader;
  reader.errors.error_exit = onError;
  reader.errors.emit_message = onMessage;
  Image image;
  bool isRead = readHeader(reader, file, image);
  if (isRead && pixels) {
    reader.progress.progress_monitor = onProgress;
    reader.info.progress = &reader.progress;
    image.pixels.resize(size_t(image.size.height * image.size.width * image.channels));
    reader.row.resize(size_t(image.size.width) * 4);
    isRead = readPixels(reader, image);
  }
  jpeg_destroy_decompress(&reader.info);
  if (isRead)
    return image;
  return reader.status.isOk()
             ? Status::userError("found a damaged JPEG image (", reader.message, ")")
             : reader.status;
}

} // namespace cleave::image
