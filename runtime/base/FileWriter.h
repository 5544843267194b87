// FileWriter: writes a file as a whole or not at all. It writes a temporary file in the same folder
// and renames it at the end, so that a failure leaves the previous file unchanged.
#pragma once

#include "runtime/base/Status.h"

#include <string>

namespace cleave {

class FileWriter {
public:
  // Opens nothing before the first write. An existing `path` that is not a regular file (a pipe,
  // /dev/null) is written directly.
  explicit FileWriter(std::string path);
  ~FileWriter(); // removes the temporary file if publish() was not called
  FileWriter(const FileWriter &) = delete;

  // Appends bytes. User errors, here and below, have the path and the system's reason.
  Status write(const void *data, size_t bytes);
  Status write(const std::string &bytes) { return write(bytes.data(), bytes.size()); }

  // Flushes the file to disk and renames it to `path`.
  Status publish();

private:
  Status fail() const;

  std::string path_, written_; // the target, and the temporary file (or the target itself)
  int descriptor_ = -1;
};

} // namespace cleave
