// Reading of NumPy's .npz format: a zip archive of .npy files, stored or deflated, with the 64-bit
// extension for large files.
#include "runtime/data/ArrayFileBuilder.h"
#include "runtime/data/Zip.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <zlib.h>

namespace cleave::data {
namespace {

// Deflate makes at most 1032 bytes of one.
constexpr uint64_t kMostExpansion = 1032;

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

// Inflates an entry's bytes into `bytes`; whether they are whole and undamaged.
bool inflateEntry(const ZipEntry &entry, const unsigned char *stored, unsigned char *bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return false;
  constexpr uint64_t kStep = 1u << 30; // zlib counts bytes in 32 bits
  uint64_t taken = 0, made = 0;
  int result = Z_OK;
  while (result == Z_OK) {
    stream.next_in = const_cast<unsigned char *>(stored + taken);
    stream.avail_in = static_cast<uInt>(std::min(kStep, entry.storedBytes - taken));
    stream.next_out = bytes + made;
    stream.avail_out = static_cast<uInt>(std::min(kStep, entry.bytes - made));
    uInt in = stream.avail_in, out = stream.avail_out;
    result = inflate(&stream, Z_NO_FLUSH);
    taken += in - stream.avail_in;
    made += out - stream.avail_out;
    if (result == Z_OK && in == stream.avail_in && out == stream.avail_out)
      break; // no progress
  }
  inflateEnd(&stream);
  return result == Z_STREAM_END && made == entry.bytes && checksum(bytes, made) == entry.crc;
}

// Sets `name` and `dataAt` of an entry; checks its header, its bounds and its method.
Status locateEntry(ZipBytes &file, ZipEntry &entry) {
  if (entry.name.ends_with(".npy"))
    entry.name.resize(entry.name.size() - 4);
  entry.dataAt =
      entry.headerAt + 30 + file.u16(entry.headerAt + 26) + file.u16(entry.headerAt + 28);
  if (file.outside || file.u32(entry.headerAt) != kLocalHeader || entry.dataAt > file.size ||
      file.size - entry.dataAt < entry.storedBytes)
    return Status::userError("the archive is damaged at entry `", entry.name, "`");
  if (entry.flags & 1)
    return Status::userError("entry `", entry.name, "` is encrypted");
  if (entry.method != 0 && entry.method != 8)
    return Status::userError("entry `", entry.name, "` uses compression method ", entry.method,
                             ", expected stored or deflated");
  if (entry.method == 8 && entry.bytes / kMostExpansion > entry.storedBytes)
    return Status::userError("the archive is damaged: entry `", entry.name, "` has ",
                             entry.storedBytes, " bytes, which cannot be inflated to ",
                             entry.bytes);
  return Status::ok();
}

// Entries that share bytes would let a small file stand for any amount of data, and two entries of
// one name would let readers disagree about the array.
Status checkDisjoint(std::vector<ZipEntry> entries) {
  auto byPlace = [](const ZipEntry &a, const ZipEntry &b) { return a.headerAt < b.headerAt; };
  std::sort(entries.begin(), entries.end(), byPlace);
  for (size_t i = 1; i < entries.size(); ++i)
    if (entries[i].headerAt < entries[i - 1].dataAt + entries[i - 1].storedBytes)
      return Status::userError("the archive is damaged: entries `", entries[i - 1].name, "` and `",
                               entries[i].name, "` overlap");
  auto byName = [](const ZipEntry &a, const ZipEntry &b) { return a.name < b.name; };
  std::sort(entries.begin(), entries.end(), byName);
  for (size_t i = 1; i < entries.size(); ++i)
    if (entries[i].name == entries[i - 1].name)
      return Status::userError("the archive has two entries `", entries[i].name, "`");
  return Status::ok();
}

Status addEntry(ArrayFileBuilder &builder, const ZipBytes &file, const ZipEntry &entry) {
  const unsigned char *stored = file.data + entry.dataAt;
  if (entry.method == 0)
    return addNpy(builder, entry.name, stored, entry.storedBytes);
  // Not cleared first, so that damaged data take no more memory than was inflated.
  std::shared_ptr<void> bytes(std::malloc(std::max<uint64_t>(1, entry.bytes)), std::free);
  if (!bytes)
    return Status::userError("could not allocate ", entry.bytes, " bytes for array `", entry.name,
                             "`; store it without compression (numpy.savez), so that it is mapped");
  auto *data = static_cast<unsigned char *>(bytes.get());
  if (!inflateEntry(entry, stored, data))
    return Status::userError("the compressed data of entry `", entry.name, "` are damaged");
  builder.keep(bytes);
  return addNpy(builder, entry.name, data, entry.bytes);
}

} // namespace

Status readNpz(ArrayFileBuilder &builder, const MappedFile &mapped, const ReadOptions &options) {
  ZipBytes file(mapped.data(), mapped.size());
  std::vector<ZipEntry> entries = readDirectory(file);
  if (file.outside)
    return Status::userError("is truncated or not a zip archive (", mapped.size(), " bytes)");
  for (ZipEntry &entry : entries)
    CLEAVE_TRY(locateEntry(file, entry));
  CLEAVE_TRY(checkDisjoint(entries));
  // The only array of a file may have any name (NAME=FILE).
  auto isSkipped = [&](const ZipEntry &entry) {
    return entry.method == 8 && options.isWanted && entries.size() > 1 &&
           !options.isWanted(entry.name);
  };
  uint64_t inflated = 0;
  for (const ZipEntry &entry : entries) {
    if (isSkipped(entry)) {
      builder.addSkipped(entry.name);
      continue;
    }
    inflated += entry.method == 8 ? entry.bytes : 0; // below the file's size times kMostExpansion
    if (inflated > options.mostInflated)
      return Status::userError(
          "its compressed arrays take more than the ", options.mostInflated,
          " bytes of memory that are left for them; store them without compression (numpy.savez), "
          "so that they are mapped");
    CLEAVE_TRY(addEntry(builder, file, entry));
  }
  builder.addInflated(inflated);
  return Status::ok();
}

} // namespace cleave::data
