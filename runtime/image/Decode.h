// Decoding of JPEG and PNG files.
//
// The result is what PIL's `convert("RGB")`, or for one channel `convert("L")`, makes of the file:
// transparency is dropped, palettes are looked up, CMYK is converted as Adobe's programs store it
// (inverted), and an orientation in EXIF data is ignored. Of 16 bits per channel, the upper 8 count
// (for grey images, where PIL clips, too). Damage that JPEG decoders pass over is passed over here
// as well, but not the end of the file inside of an image.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/image/Image.h"

#include <string_view>

namespace cleave::image {

// The most pixels of an image: the number above which PIL, too, refuses one.
constexpr int64_t kMostPixels = 178'956'970;

// The size that the header of the file says. A user error: it is neither JPEG nor PNG, or damaged.
Result<Size> sizeOf(std::string_view file);

// The image with this number of channels, 1 or 3. User errors: as of sizeOf(), the data are damaged
// or incomplete, or the image is too large.
Result<Image> decode(std::string_view file, int64_t channels);

} // namespace cleave::image
