// Archive: a zip file with programs and weights of PyTorch, mapped into memory. Its directory is
// read and checked once; the contents of entries are views of the mapping or decompressed copies.
#pragma once

#include "runtime/base/MappedFile.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cleave::torch {

// One file of the archive.
struct Entry {
  std::string name;          // without the folder that contains all entries
  uint64_t offset = 0;       // of its first byte in the archive's file, in bytes
  uint64_t storedBytes = 0;  // size in the file
  uint64_t bytes = 0;        // size after decompression
  uint32_t checksum = 0;     // CRC-32 of the decompressed bytes
  bool isCompressed = false; // by deflate; otherwise stored
};

class Archive {
public:
  // Maps the file; fails if it is not a zip file, is truncated, or its directory is inconsistent.
  explicit Archive(const std::string &path);
  // An archive in the bytes from offset `base` of a larger file; they must outlive it.
  Archive(std::string_view bytes, uint64_t base);

  // Whether a file with these first bytes is a zip file.
  static bool recognises(std::string_view begin);

  // The entry of this name; null if there is none.
  const Entry *find(const std::string &name) const;
  // Names that begin with `prefix`, sorted.
  std::vector<std::string> namesWith(const std::string &prefix) const;

  // The entry's bytes, decompressed, with verified checksum. Fails if there is no such entry, if it
  // is damaged or larger than `maxBytes`, and where spend() fails.
  std::string contents(const std::string &name, uint64_t maxBytes = uint64_t(1) << 30) const;
  // The same for text that will be parsed; also accounts for the memory of the parsed form (spend).
  std::string source(const std::string &name, uint64_t maxBytes = uint64_t(1) << 30) const;
  // The mapped bytes of a stored entry; fails if the entry is compressed.
  std::string_view mapped(const Entry &entry) const;
  // Accounts for memory (bytes) that holds data derived from the file; fails where the sum is out
  // of proportion to the file's size, which protects against decompression bombs.
  void spend(uint64_t bytes) const;

private:
  void readDirectory();
  void readEntry(std::string_view &rest);
  void checkLocalHeader(Entry &entry, uint64_t headerOffset) const;
  void dropCommonFolder();
  void checkDisjoint() const;

  std::shared_ptr<const MappedFile> file_;
  std::string_view bytes_;
  uint64_t base_ = 0;
  std::map<std::string, Entry> entries_;
  mutable uint64_t spent_ = 0;
};

} // namespace cleave::torch
