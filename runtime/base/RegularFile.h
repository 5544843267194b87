// Opening and reading of regular files. Pipes, devices and sockets are refused: they have no size,
// may never end (/dev/zero), and may wait forever for a writer.
#pragma once

#include "runtime/base/Status.h"

#include <cstdint>
#include <string>

namespace cleave {

// A regular file that is open for reading. Movable; closed with the object.
class RegularFile {
public:
  // A user error has the path and the system's reason, or what the path is instead of a regular
  // file. Symbolic links are followed. Never waits, not even for the writer of a pipe.
  static Result<RegularFile> open(const std::string &path);
  ~RegularFile();
  RegularFile(RegularFile &&other) noexcept;
  RegularFile &operator=(RegularFile &&other) noexcept;

  const std::string &path() const { return path_; }
  int descriptor() const { return descriptor_; }
  // The size when the file was opened, in bytes.
  uint64_t bytes() const { return bytes_; }

  // Reads the next bytes, at most `most`, into `to`. Returns their number, 0 at the end.
  Result<size_t> read(void *to, size_t most);

private:
  RegularFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  std::string path_;
  int descriptor_ = -1;
  uint64_t bytes_ = 0;
};

// The content of a regular file. A user error, also, if the file has more than `most` bytes.
Result<std::string> readRegularFile(const std::string &path, uint64_t most = UINT64_MAX);

} // namespace cleave
