// FileSpace: an arena in a file. Its bytes have addresses like those of memory, but only read() and
// write() access them: they go to the file by direct I/O where its file system allows that, so that
// the arena takes no memory.
#pragma once

#include "runtime/base/Status.h"

#include <cstdint>
#include <memory>
#include <string>

namespace cleave::memory {

class FileSpace {
public:
  // Creates a file of zeros in the folder that only this process can open and that vanishes with
  // the process, however it ends. A user error if the folder does not exist or its disk lacks the
  // space.
  static Result<std::shared_ptr<FileSpace>> create(const std::string &folder, uint64_t bytes);
  ~FileSpace();
  FileSpace(const FileSpace &) = delete;
  FileSpace &operator=(const FileSpace &) = delete;

  // The address of the first byte, a multiple of the size of a page.
  void *begin() const { return begin_; }
  bool contains(const void *address) const {
    return address >= begin_ && address < static_cast<const char *>(begin_) + bytes_;
  }

  // Copies between memory of this process and addresses of the file. A user error if the disk
  // fails.
  Status write(void *to, const void *from, uint64_t bytes);
  Status read(const void *from, void *to, uint64_t bytes);

private:
  FileSpace() = default;
  // Calls copy(piece, memory, bytes) for each piece of the range [first, first + bytes) of the file
  // with the piece in memory, which is written to the file afterwards if `writes`.
  template <typename Copy> Status forPieces(uint64_t first, uint64_t bytes, bool writes, Copy copy);

  std::string folder_;
  int file_ = -1;
  void *begin_ = nullptr; // of addresses without memory
  uint64_t bytes_ = 0;    // of the file: a multiple of kFileAlignment
  void *piece_ = nullptr; // memory for direct I/O
};

} // namespace cleave::memory
