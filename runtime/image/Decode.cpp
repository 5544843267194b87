// See Decode.h.
#include "runtime/image/Decode.h"

#include "runtime/image/Decoders.h"

namespace cleave::image {
namespace {

Result<Image> decodeAny(std::string_view file, bool pixels) {
  if (file.starts_with("\xff\xd8"))
    return decodeJpeg(file, pixels);
  if (file.starts_with("\x89PNG\r\n\x1a\n"))
    return decodePng(file, pixels);
  return Status::userError("found ", file.empty() ? "an empty file" : "other content",
                           ", expected a JPEG or PNG image: replace it or take it out");
}

// The luma of ITU-R 601 in the fixed point of PIL.
uint8_t luma(const uint8_t *rgb) {
  return uint8_t((19595 * rgb[0] + 38470 * rgb[1] + 7471 * rgb[2] + (1 << 15)) >> 16);
}

void toGrey(Image &image) {
  const size_t count = image.pixels.size() / 3;
  for (size_t i = 0; i < count; ++i)
    image.pixels[i] = luma(&image.pixels[3 * i]);
  image.pixels.resize(count);
  image.channels = 1;
}

void toColour(Image &image) {
  std::vector<uint8_t> colours(image.pixels.size() * 3);
  for (size_t i = 0; i < colours.size(); ++i)
    colours[i] = image.pixels[i / 3];
  image.pixels = std::move(colours);
  image.channels = 3;
}

} // namespace

Status checkSize(Size size) {
  if (size.height < 1 || size.width < 1)
    return Status::userError("found an image without pixels");
  if (size.height > kMostPixels / size.width)
    return Status::userError("found an image of ", size.width, " x ", size.height,
                             " pixels, expected at most ", kMostPixels, " in total");
  return Status::ok();
}

Result<Size> sizeOf(std::string_view file) {
  CLEAVE_TRY_ASSIGN(Image image, decodeAny(file, /*pixels=*/false));
  return image.size;
}

Result<Image> decode(std::string_view file, int64_t channels) {
  CLEAVE_TRY_ASSIGN(Image image, decodeAny(file, /*pixels=*/true));
  if (image.channels == 3 && channels == 1)
    toGrey(image);
  else if (image.channels == 1 && channels == 3)
    toColour(image);
  return image;
}

} // namespace cleave::image
