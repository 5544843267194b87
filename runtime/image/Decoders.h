// The decoders of the formats. Private to this folder.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/image/Image.h"

#include <string_view>

namespace cleave::image {

// Each reads a whole file of one format; with `pixels` false only its size. The image is grey if
// the file is, else it has three channels. A user error without the file's name.
Result<Image> decodeJpeg(std::string_view file, bool pixels);
Result<Image> decodePng(std::string_view file, bool pixels);

// A user error if an image of this size is not to be decoded.
Status checkSize(Size size);

} // namespace cleave::image
