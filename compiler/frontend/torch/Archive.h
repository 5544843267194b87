// Archive: the zip file that PyTorch writes programs and weights into, mapped into memory. Its
// directory is read and checked once; entries are views of the map, or decompressed copies.
#pragma once

#include "llvm/Support/MemoryBuffer.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cleave::torch {

// One file of the archive.
struct Entry {
  std::string name;          // without the folder that all entries are in
  uint64_t offset = 0;       // of its first byte in the archive's file
  uint64_t storedBytes = 0;  // there
  uint64_t bytes = 0;        // when decompressed
  uint32_t checksum = 0;     // CRC-32 of the decompressed bytes
  bool isCompressed = false; // by deflate; otherwise stored as it is
};

class Archive {
public:
  // Maps the file; fails if it is no zip file, is cut off, or its directory contradicts itself.
  explicit Archive(const std::string &path);
  // The same of bytes that lie at `base` of a larger file; they outlive the archive.
  Archive(std::string_view bytes, uint64_t base);

  // Whether these first bytes of a file are a zip file's.
  static bool recognises(std::string_view begin);

  // The entry of this name; null if there is none.
  const Entry *find(const std::string &name) const;
  // Names that begin with `prefix`, sorted.
  std::vector<std::string> namesWith(const std::string &prefix) const;

  // The entry's bytes, decompressed where necessary, checksum verified. Fails if there is no such
  // entry, or it is damaged or larger than `maxBytes`, or spend() fails.
  std::string contents(const std::string &name, uint64_t maxBytes = uint64_t(1) << 30) const;
  // The same of a text that is parsed: what it is parsed into counts, too (spend).
  std::string source(const std::string &name, uint64_t maxBytes = uint64_t(1) << 30) const;
  // A stored entry's bytes, mapped; fails if the entry is compressed.
  std::string_view mapped(const Entry &entry) const;
  // Counts bytes of memory that are made from the file's; fails where all of them together are out of
  // proportion to it, as only a file that means harm has them.
  void spend(uint64_t bytes) const;

private:
  void readDirectory();
  void readEntry(std::string_view &rest);
  void checkLocalHeader(Entry &entry, uint64_t headerOffset) const;
  void dropCommonFolder();
  void checkDisjoint() const;

  std::unique_ptr<llvm::MemoryBuffer> file_;
  std::string_view bytes_;
  uint64_t base_ = 0;
  std::map<std::string, Entry> entries_;
  mutable uint64_t spent_ = 0;
};

} // namespace cleave::torch
