// See Content.h.
#include "compiler/frontend/step/Content.h"

#include "runtime/base/Concat.h"

#include <algorithm>

namespace cleave::frontend {
namespace {

using namespace std::string_view_literals;

struct Signature {
  size_t offset;
  std::string_view bytes;
  const char *what;
};

constexpr Signature kSignatures[] = {
    {0, "CLEAVE"sv, "a plan of Cleave's, which is what compiling a model makes"},
    {0, "\x93NUMPY"sv, "a NumPy array"},
    {0, "\x89HDF"sv, "an HDF5 file (of Keras, say)"},
    {0, "\x80\x02"sv, "a pickle (of torch.save, say), which has no program in it"},
    {0, "\x80\x03"sv, "a pickle, which has no program in it"},
    {0, "\x80\x04"sv, "a pickle, which has no program in it"},
    {0, "\x80\x05"sv, "a pickle, which has no program in it"},
    {0, "GGUF"sv, "a GGUF file, which has no program in it"},
    {4, "TFL3"sv, "a TensorFlow Lite model"},
    {0, "\x1f\x8b"sv, "a gzip archive; unpack it"},
    {0, "BZh"sv, "a bzip2 archive; unpack it"},
    {0, "\xfd\x37zXZ"sv, "an xz archive; unpack it"},
    {0, "\x28\xb5\x2f\xfd"sv, "a zstd archive; unpack it"},
    {257, "ustar"sv, "a tar archive; unpack it"},
    {0, "\x7f\x45LF"sv, "a program or library (ELF)"},
    {0, "\x89PNG"sv, "a PNG image"},
    {0, "\xff\xd8\xff"sv, "a JPEG image"},
    {0, "%PDF"sv, "a PDF document"},
    {0, "version https://git-lfs"sv, "a pointer to a file in Git LFS; fetch it (git lfs pull)"},
};

// safetensors files begin with the length of a JSON header in 8 bytes.
bool isSafetensors(std::string_view bytes) {
  return bytes.size() > 9 && bytes.substr(5, 3) == "\0\0\0"sv && bytes[8] == '{' &&
         (bytes[9] == '"' || bytes[9] == '}');
}

bool isTextPart(char c) {
  auto byte = static_cast<unsigned char>(c);
  return (byte >= ' ' && byte != 0x7f) || c == '\n' || c == '\r' || c == '\t';
}

// Whether the first byte is the Protobuf tag of a field of ModelProto.
bool canBeginModel(std::string_view bytes) {
  constexpr std::string_view tags = "\x08\x12\x1a\x22\x28\x32\x3a\x42\x72\xa2\xca\xd2"sv;
  return tags.find(bytes[0]) != tags.npos;
}

std::string hex(std::string_view bytes) {
  constexpr const char *digits = "0123456789abcdef";
  std::string out;
  for (char c : bytes) {
    auto byte = static_cast<unsigned char>(c);
    out += (out.empty() ? "" : " ") + std::string{digits[byte >> 4], digits[byte & 15]};
  }
  return out;
}

} // namespace

std::optional<std::string> otherContent(std::string_view bytes) {
  if (bytes.empty())
    return "an empty file";
  for (const Signature &signature : kSignatures)
    if (bytes.size() >= signature.offset &&
        bytes.substr(signature.offset).starts_with(signature.bytes))
      return signature.what;
  if (isSafetensors(bytes))
    return "a safetensors file, which has weights but no program";
  std::string_view begin = bytes.substr(0, 256);
  auto ascii = std::count_if(begin.begin(), begin.end(), [](char c) { return c > 0; });
  bool isText = std::all_of(begin.begin(), begin.end(), isTextPart);
  if (isText && ascii * 2 > static_cast<std::ptrdiff_t>(begin.size())) {
    std::string_view text =
        begin.substr(std::min(begin.find_first_not_of(" \t\r\n"), begin.size()));
    std::string_view line = text.substr(0, std::min(text.find_first_of("\r\n"), size_t(40)));
    return concat("text that begins with '", line, "'");
  }
  if (canBeginModel(bytes))
    return std::nullopt;
  return "bytes of another kind (" + hex(bytes.substr(0, 8)) + " ...)";
}

} // namespace cleave::frontend
