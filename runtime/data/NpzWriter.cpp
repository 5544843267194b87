// Writing of .npz files, without compression. See ArrayFile.h.
#include "runtime/data/ArrayFileBuilder.h"
#include "runtime/data/Zip.h"

namespace cleave::data {
namespace {

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
