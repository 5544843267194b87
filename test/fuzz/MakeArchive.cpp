// See MakeArchive.h.
#include "test/fuzz/MakeArchive.h"

#include "test/unit/torch/ZipWriter.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace cleave::fuzz {
namespace {

constexpr std::string_view kBegin = "=== ", kZeros = " zeros=";
constexpr size_t kMostZeros = 65536;

// `NAME` or `NAME zeros=N`.
void addPart(std::string_view header, std::string_view content,
             std::map<std::string, std::string> &parts) {
  size_t zeros = header.find(kZeros), count = 0;
  std::string &part = parts[std::string(header.substr(0, std::min<size_t>(zeros, 1000)))];
  part = content;
  if (zeros == std::string_view::npos)
    return;
  std::string_view number = header.substr(zeros + kZeros.size());
  std::from_chars(number.data(), number.data() + number.size(), count);
  part = std::string(std::min(count, kMostZeros), '\0');
}

std::string zip(const std::map<std::string, std::string> &parts) {
  torch::ZipWriter out;
  for (const auto &[name, content] : parts)
    out.add("x/" + name, content);
  return out.finish();
}

} // namespace

std::string makeArchive(std::string_view text, const std::string &first) {
  std::map<std::string, std::string> parts;
  std::string_view header = first;
  bool isNamed = text.starts_with(kBegin);
  while (true) {
    if (isNamed) {
      text.remove_prefix(kBegin.size());
      size_t line = std::min(text.find('\n'), text.size());
      header = text.substr(0, line);
      text.remove_prefix(std::min(line + 1, text.size()));
    }
    size_t next = text.find("\n=== ");
    addPart(header, text.substr(0, next), parts);
    if (next == std::string_view::npos)
      return zip(parts);
    text.remove_prefix(next + 1);
    isNamed = true;
  }
}

} // namespace cleave::fuzz
