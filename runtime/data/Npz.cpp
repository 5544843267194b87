// NumPy's .npz format: a zip archive of .npy files, stored or deflated, with the 64-bit extension
// for large files.
#include "runtime/data/ArrayFileBuilder.h"

#include <algorithm>
#include <cstring>
#include <zlib.h>

namespace cleave::data {
namespace {

constexpr uint32_t kLocalHeader = 0x04034b50, kDirectoryEntry = 0x02014b50, kEnd = 0x06054b50,
                   kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;

struct ZipEntry {
  std::string name;
  uint16_t method = 0; // 0: stored, 8: deflated
  uint16_t flags = 0;
  uint32_t crc = 0;
  uint64_t storedBytes = 0;
  uint64_t bytes = 0;
  uint64_t headerAt = 0;
};

// Reads little-endian numbers of the file. Reads out of bounds yield zero and set `outside`.
class ZipBytes {
public:
  ZipBytes(const unsigned char *data, size_t size) : data(data), size(size) {}
  uint64_t number(uint64_t at, int width) {
    if (at > size || size - at < static_cast<uint64_t>(width)) {
      outside = true;
      return 0;
    }
    uint64_t value = 0;
    std::memcpy(&value, data + at, width);
    return value;
  }
  uint16_t u16(uint64_t at) { return static_cast<uint16_t>(number(at, 2)); }
  uint32_t u32(uint64_t at) { return static_cast<uint32_t>(number(at, 4)); }
  uint64_t u64(uint64_t at) { return number(at, 8); }
  std::string text(uint64_t at, size_t length) {
    if (at > size || size - at < length) {
      outside = true;
      return "";
    }
    return std::string(reinterpret_cast<const char *>(data) + at, length);
  }

  const unsigned char *data;
  size_t size;
  bool outside = false;
};

// Sizes and offsets that do not fit into 32 bits are in an extra field, in a fixed order.
void readExtra64(ZipBytes &file, uint64_t at, uint64_t end, ZipEntry &entry) {
  while (at + 4 <= end && !file.outside) {
    uint16_t id = file.u16(at), length = file.u16(at + 2);
    uint64_t field = at + 4;
    if (id == 1)
      for (uint64_t *value : {&entry.bytes, &entry.storedBytes, &entry.headerAt})
        if (*value == 0xffffffffu) {
          *value = file.u64(field);
          field += 8;
        }
    at += 4 + length;
  }
}

std::vector<ZipEntry> readDirectory(ZipBytes &file) {
  std::vector<ZipEntry> entries;
  uint64_t end = file.size;
  uint64_t stop =
      file.size > 65557 ? file.size - 65557 : 0; // the end record may be followed by a comment
  for (uint64_t at = file.size >= 22 ? file.size - 22 + 1 : 0; at-- > stop && end == file.size;)
    if (file.u32(at) == kEnd)
      end = at;
  if (end == file.size) {
    file.outside = true;
    return entries;
  }
  uint64_t count = file.u16(end + 10), at = file.u32(end + 16);
  if ((count == 0xffff || at == 0xffffffffu) && end >= 20 && file.u32(end - 20) == kLocator64) {
    uint64_t end64 = file.u64(end - 20 + 8);
    file.outside |= file.u32(end64) != kEnd64;
    count = file.u64(end64 + 32);
    at = file.u64(end64 + 48);
  }
  for (uint64_t i = 0; i < count && !file.outside; ++i) {
    file.outside |= file.u32(at) != kDirectoryEntry;
    ZipEntry entry;
    uint16_t nameBytes = file.u16(at + 28), extraBytes = file.u16(at + 30),
             commentBytes = file.u16(at + 32);
    entry.flags = file.u16(at + 8);
    entry.method = file.u16(at + 10);
    entry.crc = file.u32(at + 16);
    entry.storedBytes = file.u32(at + 20);
    entry.bytes = file.u32(at + 24);
    entry.headerAt = file.u32(at + 42);
    entry.name = file.text(at + 46, nameBytes);
    readExtra64(file, at + 46 + nameBytes, at + 46 + nameBytes + extraBytes, entry);
    at += 46 + nameBytes + extraBytes + commentBytes;
    entries.push_back(std::move(entry));
  }
  return entries;
}

uint32_t checksum(const unsigned char *data, size_t bytes) {
  return static_cast<uint32_t>(crc32_z(crc32(0, nullptr, 0), data, bytes));
}

// Inflates an entry's bytes; null if they are damaged.
std::shared_ptr<std::vector<unsigned char>> inflateEntry(const ZipEntry &entry,
                                                         const unsigned char *stored) {
  auto bytes = std::make_shared<std::vector<unsigned char>>(entry.bytes);
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return nullptr;
  constexpr uint64_t kStep = 1u << 30; // zlib counts bytes in 32 bits
  uint64_t taken = 0, made = 0;
  int result = Z_OK;
  while (result == Z_OK) {
    stream.next_in = const_cast<unsigned char *>(stored + taken);
    stream.avail_in = static_cast<uInt>(std::min(kStep, entry.storedBytes - taken));
    stream.next_out = bytes->data() + made;
    stream.avail_out = static_cast<uInt>(std::min(kStep, entry.bytes - made));
    uInt in = stream.avail_in, out = stream.avail_out;
    result = inflate(&stream, Z_NO_FLUSH);
    taken += in - stream.avail_in;
    made += out - stream.avail_out;
    if (result == Z_OK && in == stream.avail_in && out == stream.avail_out)
      break; // no progress
  }
  inflateEnd(&stream);
  bool whole =
      result == Z_STREAM_END && made == entry.bytes && checksum(bytes->data(), made) == entry.crc;
  return whole ? bytes : nullptr;
}

Status addEntry(ArrayFileBuilder &builder, ZipBytes &file, const ZipEntry &entry) {
  std::string name =
      entry.name.ends_with(".npy") ? entry.name.substr(0, entry.name.size() - 4) : entry.name;
  uint64_t dataAt =
      entry.headerAt + 30 + file.u16(entry.headerAt + 26) + file.u16(entry.headerAt + 28);
  if (file.outside || file.u32(entry.headerAt) != kLocalHeader || dataAt > file.size ||
      file.size - dataAt < entry.storedBytes)
    return Status::userError("the archive is damaged at entry `", name, "`");
  if (entry.flags & 1)
    return Status::userError("entry `", name, "` is encrypted");
  const unsigned char *stored = file.data + dataAt;
  if (entry.method == 0)
    return addNpy(builder, name, stored, entry.storedBytes);
  if (entry.method != 8)
    return Status::userError("entry `", name, "` uses compression method ", entry.method,
                             ", expected stored or deflated");
  if (entry.bytes / 1100 > entry.storedBytes + 16) // beyond the ratio of deflate
    return Status::userError("the archive is damaged at entry `", name, "`");
  auto bytes = inflateEntry(entry, stored);
  if (!bytes)
    return Status::userError("the compressed data of entry `", name, "` are damaged");
  builder.keep(bytes);
  return addNpy(builder, name, bytes->data(), bytes->size());
}

void put(std::string &out, uint64_t value, int width) {
  out.append(reinterpret_cast<const char *>(&value), width);
}

// The common fields of local header and directory entry; sizes are always in the 64-bit extension.
void putCommon(std::string &out, const ZipEntry &entry) {
  put(out, 45, 2); // version 4.5: first with the 64-bit extension
  put(out, 0, 2);
  put(out, 0, 2); // stored
  put(out, 0, 2); // 1980-01-01: equal arrays give equal files
  put(out, 33, 2);
  put(out, entry.crc, 4);
  put(out, 0xffffffffu, 4);
  put(out, 0xffffffffu, 4);
  put(out, entry.name.size(), 2);
}

std::string localHeader(const ZipEntry &entry) {
  std::string out;
  put(out, kLocalHeader, 4);
  putCommon(out, entry);
  put(out, 20, 2);
  out += entry.name;
  put(out, 1, 2);
  put(out, 16, 2);
  put(out, entry.bytes, 8);
  put(out, entry.bytes, 8);
  return out;
}

std::string directoryOf(const std::vector<ZipEntry> &entries, uint64_t directoryAt) {
  std::string out;
  for (const ZipEntry &entry : entries) {
    put(out, kDirectoryEntry, 4);
    put(out, 45, 2);
    putCommon(out, entry);
    put(out, 28, 2);
    put(out, 0, 6); // comment, disk, attributes
    put(out, 0, 4);
    put(out, 0xffffffffu, 4);
    out += entry.name;
    put(out, 1, 2);
    put(out, 24, 2);
    put(out, entry.bytes, 8);
    put(out, entry.bytes, 8);
    put(out, entry.headerAt, 8);
  }
  uint64_t directoryBytes = out.size(), end64At = directoryAt + out.size();
  put(out, kEnd64, 4);
  put(out, 44, 8);
  put(out, 45, 2);
  put(out, 45, 2);
  put(out, 0, 8);
  put(out, entries.size(), 8);
  put(out, entries.size(), 8);
  put(out, directoryBytes, 8);
  put(out, directoryAt, 8);
  put(out, kLocator64, 4);
  put(out, 0, 4);
  put(out, end64At, 8);
  put(out, 1, 4);
  put(out, kEnd, 4);
  put(out, 0, 4);
  put(out, 0xffff, 2);
  put(out, 0xffff, 2);
  put(out, 0xffffffffu, 4);
  put(out, 0xffffffffu, 4);
  put(out, 0, 2);
  return out;
}

} // namespace

Status readNpz(ArrayFileBuilder &builder, const MappedFile &mapped) {
  ZipBytes file(mapped.data(), mapped.size());
  std::vector<ZipEntry> entries = readDirectory(file);
  if (file.outside)
    return Status::userError("is truncated or not a zip archive (", mapped.size(), " bytes)");
  for (const ZipEntry &entry : entries)
    CLEAVE_TRY(addEntry(builder, file, entry));
  return Status::ok();
}

Status writeNpz(const std::string &path, const std::vector<ArrayView> &arrays) {
  std::vector<ZipEntry> entries;
  std::vector<std::string> headers;
  std::vector<std::vector<float>> widened(arrays.size());
  std::vector<ArrayView> stored;
  uint64_t at = 0;
  for (size_t i = 0; i < arrays.size(); ++i) {
    const ArrayView &array = stored.emplace_back(asNpy(arrays[i], widened[i]));
    std::string header = npyHeader(array.dtype, array.shape);
    ZipEntry entry;
    entry.name = array.name + ".npy";
    entry.headerAt = at;
    entry.bytes = header.size() + array.bytes();
    uint32_t crc = checksum(reinterpret_cast<const unsigned char *>(header.data()), header.size());
    entry.crc = static_cast<uint32_t>(
        crc32_z(crc, static_cast<const unsigned char *>(array.data), array.bytes()));
    headers.push_back(localHeader(entry) + header);
    at += headers.back().size() + array.bytes();
    entries.push_back(std::move(entry));
  }
  std::string directory = directoryOf(entries, at);
  std::vector<std::pair<const void *, size_t>> parts;
  for (size_t i = 0; i < stored.size(); ++i) {
    parts.push_back({headers[i].data(), headers[i].size()});
    parts.push_back({stored[i].data, stored[i].bytes()});
  }
  parts.push_back({directory.data(), directory.size()});
  return writeParts(path, parts);
}

} // namespace cleave::data
