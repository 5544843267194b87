// What reading and writing of .npz files share: the parts of a zip archive. Private to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <zlib.h>

namespace cleave::data {

// The numbers with which the parts of an archive begin.
constexpr uint32_t kLocalHeader = 0x04034b50, kDirectoryEntry = 0x02014b50, kEnd = 0x06054b50,
                   kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;

// One file of an archive.
struct ZipEntry {
  std::string name;
  uint16_t method = 0; // 0: stored, 8: deflated
  uint16_t flags = 0;
  uint32_t crc = 0;
  uint64_t storedBytes = 0;
  uint64_t bytes = 0;
  uint64_t headerAt = 0;
  uint64_t dataAt = 0; // of the first byte behind its header
};

// The CRC-32 of bytes.
inline uint32_t checksum(const unsigned char *data, size_t bytes) {
  return static_cast<uint32_t>(crc32_z(crc32(0, nullptr, 0), data, bytes));
}

} // namespace cleave::data
