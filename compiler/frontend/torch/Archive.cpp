// See Archive.h. The format is the public .ZIP specification (APPNOTE): the directory lies at the
// end, numbers are little-endian, sizes beyond 32 bits are in a "zip64" field.
#include "compiler/frontend/torch/Archive.h"

#include "compiler/frontend/emit/Failure.h"
#include "compiler/frontend/step/FileBytes.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include <zlib.h>

namespace cleave::torch {

using emit::fail;

namespace {

constexpr uint32_t kLocalHeader = 0x04034b50, kDirectoryEntry = 0x02014b50, kEnd = 0x06054b50,
                   kEnd64 = 0x06064b50, kEnd64Locator = 0x07064b50;
constexpr size_t kLocalHeaderBytes = 30, kDirectoryEntryBytes = 46, kEndBytes = 22,
                 kEnd64Bytes = 56, kLocatorBytes = 20;
constexpr size_t kMaxComment = 65535;
// The largest compression ratio of deflate.
constexpr uint64_t kMaxExpansion = 1040;
// Limit of the memory for data derived from a file: a constant part, plus a multiple of the file's
// size.
constexpr uint64_t kMinMemory = uint64_t(64) << 20, kMemoryPerByte = 64;

template <typename T> T number(std::string_view bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

template <typename... Parts> [[noreturn]] void damaged(const Parts &...what) {
  fail("the archive is damaged: ", what..., "; save or copy it again");
}

// `size` bytes at `offset`; fails beyond the end of the file.
std::string_view part(std::string_view bytes, uint64_t offset, uint64_t size, const char *what) {
  if (offset > bytes.size() || size > bytes.size() - offset)
    damaged(what, " would end at byte ", offset + size, " of ", bytes.size());
  return bytes.substr(offset, size);
}

// Position and size of the directory.
struct Directory {
  uint64_t offset = 0, size = 0, entries = 0;
};

// The offset of the record at the end of the file.
size_t findEnd(std::string_view bytes) {
  if (bytes.size() >= kEndBytes)
    for (size_t at = bytes.size() - kEndBytes;; --at) {
      if (number<uint32_t>(bytes, at) == kEnd &&
          at + kEndBytes + number<uint16_t>(bytes, at + 20) <= bytes.size())
        return at;
      if (at == 0 || bytes.size() - at > kEndBytes + kMaxComment)
        break;
    }
  damaged("its directory at the end is missing, so the file is cut off or was never finished");
}

Directory findDirectory(std::string_view bytes) {
  size_t end = findEnd(bytes);
  Directory out{number<uint32_t>(bytes, end + 16), number<uint32_t>(bytes, end + 12),
                number<uint16_t>(bytes, end + 10)};
  if (end >= kLocatorBytes && number<uint32_t>(bytes, end - kLocatorBytes) == kEnd64Locator) {
    uint64_t at = number<uint64_t>(bytes, end - kLocatorBytes + 8);
    std::string_view record = part(bytes, at, kEnd64Bytes, "the zip64 record");
    if (number<uint32_t>(record, 0) != kEnd64)
      damaged("no zip64 record where its locator points");
    out = {number<uint64_t>(record, 48), number<uint64_t>(record, 40),
           number<uint64_t>(record, 32)};
  }
  part(bytes, out.offset, out.size, "the directory");
  if (out.entries > out.size / kDirectoryEntryBytes)
    damaged("the directory counts ", out.entries, " entries in ", out.size, " bytes");
  return out;
}

// Numbers whose 32-bit field is all ones are in the zip64 field, in this order.
void readZip64(std::string_view extra, const std::vector<uint64_t *> &missing) {
  if (missing.empty())
    return;
  while (extra.size() >= 4) {
    uint16_t id = number<uint16_t>(extra, 0), size = number<uint16_t>(extra, 2);
    std::string_view field = part(extra, 4, size, "an extra field");
    extra.remove_prefix(4 + size);
    if (id != 1)
      continue;
    if (field.size() < 8 * missing.size())
      damaged("a zip64 field of ", field.size(), " bytes is too short");
    for (size_t i = 0; i < missing.size(); ++i)
      *missing[i] = number<uint64_t>(field, 8 * i);
    return;
  }
  damaged("a zip64 field is missing");
}

std::string inflated(std::string_view stored, const Entry &entry) {
  if (entry.bytes / kMaxExpansion > stored.size())
    damaged("'", entry.name, "' claims to have ", entry.bytes, " bytes, ", stored.size(),
            " compressed");
  std::string out(entry.bytes, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    throw emit::Failure{Status::defect("zlib cannot begin to decompress")};
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(stored.data()));
  stream.avail_in = static_cast<uInt>(stored.size());
  stream.next_out = reinterpret_cast<Bytef *>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  int result = inflate(&stream, Z_FINISH);
  bool isWhole = result == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  if (!isWhole)
    damaged("'", entry.name, "' does not decompress");
  return out;
}

} // namespace

bool Archive::recognises(std::string_view begin) {
  return begin.size() >= 4 &&
         (number<uint32_t>(begin, 0) == kLocalHeader || number<uint32_t>(begin, 0) == kEnd);
}

Archive::Archive(const std::string &path) : file_(frontend::mapFile(path, "the model file")) {
  bytes_ = file_->text();
  readDirectory();
}

Archive::Archive(std::string_view bytes, uint64_t base) : bytes_(bytes), base_(base) {
  readDirectory();
}

void Archive::readDirectory() {
  Directory directory = findDirectory(bytes_);
  std::string_view rest = bytes_.substr(directory.offset, directory.size);
  for (uint64_t i = 0; i < directory.entries; ++i)
    readEntry(rest);
  checkDisjoint();
  dropCommonFolder();
}

void Archive::readEntry(std::string_view &rest) {
  std::string_view fixed = part(rest, 0, kDirectoryEntryBytes, "a directory entry");
  if (number<uint32_t>(fixed, 0) != kDirectoryEntry)
    damaged("its directory has something else where an entry is expected");
  Entry entry;
  uint16_t flags = number<uint16_t>(fixed, 8), method = number<uint16_t>(fixed, 10);
  entry.checksum = number<uint32_t>(fixed, 16);
  entry.storedBytes = number<uint32_t>(fixed, 20);
  entry.bytes = number<uint32_t>(fixed, 24);
  uint64_t nameBytes = number<uint16_t>(fixed, 28), extraBytes = number<uint16_t>(fixed, 30),
           commentBytes = number<uint16_t>(fixed, 32), header = number<uint32_t>(fixed, 42);
  std::string_view tail =
      part(rest, kDirectoryEntryBytes, nameBytes + extraBytes + commentBytes, "a directory entry");
  entry.name = tail.substr(0, nameBytes);
  std::vector<uint64_t *> missing;
  for (uint64_t *value : {&entry.bytes, &entry.storedBytes, &header})
    if (*value == UINT32_MAX)
      missing.push_back(value);
  readZip64(tail.substr(nameBytes, extraBytes), missing);
  rest.remove_prefix(kDirectoryEntryBytes + tail.size());
  if (flags & 1)
    fail("'", entry.name, "' in the archive is encrypted; save it without a password");
  if (method != 0 && method != 8)
    fail("'", entry.name, "' in the archive is compressed by method ", method,
         ", expected none (0) or deflate (8)");
  entry.isCompressed = method == 8;
  if (!entry.isCompressed && entry.bytes != entry.storedBytes)
    damaged("'", entry.name, "' is stored with two sizes");
  checkLocalHeader(entry, header);
  if (!entry.name.empty() && entry.name.back() == '/')
    return; // a folder
  std::string name = entry.name;
  if (!entries_.emplace(name, std::move(entry)).second)
    damaged("'", name, "' is in it twice");
}

void Archive::checkLocalHeader(Entry &entry, uint64_t headerOffset) const {
  std::string_view header = part(bytes_, headerOffset, kLocalHeaderBytes, "an entry's header");
  if (number<uint32_t>(header, 0) != kLocalHeader)
    damaged("'", entry.name, "' is not where the directory says");
  uint64_t skipped =
      kLocalHeaderBytes + number<uint16_t>(header, 26) + number<uint16_t>(header, 28);
  entry.offset = headerOffset + skipped;
  part(bytes_, entry.offset, entry.storedBytes, ("'" + entry.name + "'").c_str());
  entry.offset += base_;
}

// Entries that share bytes would let a small file expand without bound.
void Archive::checkDisjoint() const {
  std::vector<const Entry *> sorted;
  for (const auto &[name, entry] : entries_)
    if (entry.storedBytes > 0)
      sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(),
            [](const Entry *a, const Entry *b) { return a->offset < b->offset; });
  for (size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i]->offset - sorted[i - 1]->offset < sorted[i - 1]->storedBytes)
      damaged("'", sorted[i - 1]->name, "' and '", sorted[i]->name, "' overlap");
}

void Archive::spend(uint64_t bytes) const {
  spent_ += bytes;
  if (spent_ > kMinMemory && spent_ / kMemoryPerByte > bytes_.size())
    fail("the archive of ", bytes_.size(), " bytes stands for more than ", spent_,
         "; save the model again");
}

void Archive::dropCommonFolder() {
  auto folderOf = [](const std::string &name) { return name.substr(0, name.find('/') + 1); };
  std::string folder = entries_.empty() ? "" : folderOf(entries_.begin()->first);
  for (const auto &[name, entry] : entries_)
    if (folderOf(name) != folder)
      return;
  std::map<std::string, Entry> inside;
  for (auto &[name, entry] : entries_) {
    entry.name = name.substr(folder.size());
    std::string key = entry.name;
    inside.emplace(key, std::move(entry));
  }
  entries_ = std::move(inside);
}

const Entry *Archive::find(const std::string &name) const {
  auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second;
}

std::vector<std::string> Archive::namesWith(const std::string &prefix) const {
  std::vector<std::string> names;
  for (auto at = entries_.lower_bound(prefix); at != entries_.end(); ++at) {
    if (at->first.compare(0, prefix.size(), prefix) != 0)
      break;
    names.push_back(at->first);
  }
  return names;
}

std::string Archive::contents(const std::string &name, uint64_t maxBytes) const {
  const Entry *entry = find(name);
  if (!entry)
    damaged("it has no '", name, "'");
  if (entry->bytes > maxBytes || entry->storedBytes > maxBytes)
    fail("'", name, "' in the archive has ", entry->bytes, " bytes, expected at most ", maxBytes);
  spend(entry->bytes);
  std::string_view stored = bytes_.substr(entry->offset - base_, entry->storedBytes);
  std::string out = entry->isCompressed ? inflated(stored, *entry) : std::string(stored);
  uLong checksum =
      crc32(0, reinterpret_cast<const Bytef *>(out.data()), static_cast<uInt>(out.size()));
  if (checksum != entry->checksum)
    damaged("the checksum of '", name, "' is wrong");
  return out;
}

std::string Archive::source(const std::string &name, uint64_t maxBytes) const {
  constexpr uint64_t treePerByte = 16;
  std::string text = contents(name, maxBytes);
  spend(treePerByte * text.size());
  return text;
}

std::string_view Archive::mapped(const Entry &entry) const {
  if (entry.isCompressed)
    fail("'", entry.name,
         "' in the archive is compressed, but weights are read from where they "
         "lie; save the model with PyTorch again, which stores them as they are");
  return bytes_.substr(entry.offset - base_, entry.storedBytes);
}

} // namespace cleave::torch
