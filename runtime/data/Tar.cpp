// See Tar.h. The formats: POSIX.1-2017, pax; and GNU tar's manual, "Basic Tar Format".
#include "runtime/data/Tar.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace cleave::data {
namespace {

constexpr uint64_t kTarBlock = 512;
constexpr uint64_t kMostSize = uint64_t(1) << 62; // of a member
constexpr uint64_t kMostText = 1 << 20;           // of a name or of pax records

// A part of a header up to the first zero.
std::string_view textAt(std::string_view header, size_t at, size_t bytes) {
  const std::string_view field = header.substr(at, bytes);
  return field.substr(0, field.find('\0'));
}

// Octal digits between spaces, or GNU's binary form for large numbers.
std::optional<uint64_t> numberAt(std::string_view header, size_t at, size_t bytes) {
  uint64_t value = 0;
  if (header[at] & '\x80') {
    for (size_t i = at + bytes - 8; i < at + bytes; ++i)
      value = value << 8 | uint8_t(header[i]);
    const bool isSmall =
        std::all_of(&header[at + 1], &header[at + bytes - 8], [](char c) { return c == '\0'; });
    return uint8_t(header[at]) == 0x80 && isSmall && value <= kMostSize ? std::optional(value)
                                                                        : std::nullopt;
  }
  std::string_view text = textAt(header, at, bytes);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  text = text.substr(0, text.find(' '));
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 8);
  const bool isWhole = end == text.data() + text.size() && (error == std::errc() || text.empty());
  return isWhole && value <= kMostSize ? std::optional(value) : std::nullopt;
}

// The sum of the header's bytes, with spaces in place of the sum.
bool hasChecksum(std::string_view header) {
  uint64_t sum = 0;
  for (size_t i = 0; i < kTarBlock; ++i)
    sum += i >= 148 && i < 156 ? ' ' : uint8_t(header[i]);
  return numberAt(header, 148, 8) == sum;
}

std::string nameIn(std::string_view header) {
  const std::string_view prefix =
      header.substr(257, 6) == std::string_view("ustar\0", 6) ? textAt(header, 345, 155) : "";
  const std::string name(textAt(header, 0, 100));
  return prefix.empty() ? name : concat(prefix, '/', name);
}

// What headers before the one of a member say of it.
struct Extension {
  std::optional<std::string> name;
  std::optional<uint64_t> bytes;
  bool isSparse = false;
};

// Records `LENGTH KEY=VALUE\n`.
Status readPax(std::string_view records, Extension &extension) {
  while (!records.empty() && records[0] != '\0') {
    uint64_t length = 0;
    auto [end, error] = std::from_chars(records.data(), records.data() + records.size(), length);
    const size_t digits = size_t(end - records.data());
    if (error != std::errc() || length > records.size() || length < digits + 3)
      return Status::userError("found damaged pax records");
    const std::string_view record = records.substr(digits + 1, length - digits - 2);
    const size_t equals = record.find('=');
    const std::string_view key = record.substr(0, equals);
    const std::string_view value =
        equals == std::string_view::npos ? "" : record.substr(equals + 1);
    extension.isSparse |= key.starts_with("GNU.sparse.");
    if (key == "path")
      extension.name = value;
    if (key == "size") {
      uint64_t bytes = 0;
      auto [last, wrong] = std::from_chars(value.data(), value.data() + value.size(), bytes);
      if (wrong != std::errc() || last != value.data() + value.size() || bytes > kMostSize)
        return Status::userError("found damaged pax records");
      extension.bytes = bytes;
    }
    records.remove_prefix(length);
  }
  return Status::ok();
}

// Where reading is.
struct Reader {
  std::string_view archive;
  uint64_t at = 0;
  Extension extension; // of the next member
  const std::function<Status(TarMember)> &add;

  // Reads the header and the content at `at`, and moves behind them.
  Status readMember() {
    const std::string_view header = archive.substr(at, kTarBlock);
    if (header.size() < kTarBlock)
      return Status::userError("the archive ends in a header; it was cut, so copy it again");
    const std::optional<uint64_t> size = numberAt(header, 124, 12);
    if (!size || !hasChecksum(header))
      return Status::userError("found no header of a tar archive");
    const char type = header[156];
    const bool isLink = type >= '1' && type <= '6'; // links, folders, devices: no content
    const bool describesNext = type == 'L' || type == 'K' || type == 'x' || type == 'g';
    const uint64_t bytes = isLink ? 0 : describesNext ? *size : extension.bytes.value_or(*size);
    const uint64_t begin = at + kTarBlock;
    if (bytes > archive.size() - begin)
      return Status::userError("the archive ends in `", extension.name.value_or(nameIn(header)),
                               "`, of which ", archive.size() - begin, " of ", bytes,
                               " bytes are there; it was cut, so copy it again");
    at = begin + std::min((bytes + kTarBlock - 1) / kTarBlock * kTarBlock, archive.size() - begin);
    if (describesNext)
      return readDescription(type, archive.substr(begin, bytes));
    const Extension found = std::exchange(extension, {});
    TarMember member{found.name.value_or(nameIn(header)), begin, bytes};
    if (type == 'S' || found.isSparse)
      return Status::userError("found the sparse file `", member.name,
                               "`, expected files with all of their bytes; pack without --sparse");
    if ((type == '0' || type == '\0' || type == '7') && !member.name.ends_with('/'))
      return add(std::move(member));
    return Status::ok();
  }

  Status readDescription(char type, std::string_view content) {
    if (type == 'K' || type == 'g') // the name of a link; facts about all members
      return Status::ok();
    if (content.size() > kMostText)
      return Status::userError("found a name of ", content.size(), " bytes");
    if (type == 'x')
      return readPax(content, extension);
    extension.name = content.substr(0, content.find('\0'));
    return Status::ok();
  }
};

} // namespace

Status readTar(std::string_view archive, const std::function<Status(TarMember)> &add) {
  Reader reader{archive, 0, {}, add};
  while (reader.at < archive.size()) {
    const std::string_view header = archive.substr(reader.at, kTarBlock);
    if (header.find_first_not_of('\0') == std::string_view::npos) // the end
      return Status::ok();
    const uint64_t at = reader.at;
    CLEAVE_TRY(reader.readMember().withContext(concat("byte ", at)));
  }
  return Status::ok();
}

std::string tarNameBefore(std::string_view archive, uint64_t at) {
  return nameIn(archive.substr(at - kTarBlock, kTarBlock));
}

} // namespace cleave::data
