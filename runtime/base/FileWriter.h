// FileWriter: a file that is there whole or not at all. It is written beside its place and put there at
// the end, so that what was there before stays if something fails on the way.
#pragma once

#include "runtime/base/Status.h"

#include <string>

namespace cleave {

class FileWriter {
public:
  // Nothing is opened before the first write. What exists and is no regular file (a pipe, /dev/null) is written in
  // its place.
  explicit FileWriter(std::string path);
  ~FileWriter(); // removes what was not published
  FileWriter(const FileWriter &) = delete;

  // User errors, here and below, name the file and the system's reason.
  Status write(const void *data, size_t bytes);
  Status write(const std::string &bytes) { return write(bytes.data(), bytes.size()); }

  // Puts the file in its place, on disk.
  Status publish();

private:
  Status fail() const;

  std::string path_, written_; // the latter is beside the former, or the same
  int descriptor_ = -1;
};

} // namespace cleave
