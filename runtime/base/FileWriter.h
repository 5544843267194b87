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

  // Appends bytes. The first call removes the temporary files for `path` that dead processes left:
  // a living writer holds a lock on its file. User errors, here and below, have the path and the
  // system's reason.
  Status write(const void *data, size_t bytes);
  Status write(const std::string &bytes) { return write(bytes.data(), bytes.size()); }

  // Flushes the file to disk, renames it to `path`, and flushes the folder.
  Status publish();

private:
  Status fail() const;
  Status open();
  int openTemporary();

  std::string path_, written_; // the target, and the temporary file (or the target itself)
  int descriptor_ = -1;
};

// Writes a whole file, or with the path `-` to standard output. User errors as above.
Status writeFile(const std::string &path, const std::string &content);

// Flushes a folder to disk, so that the names of the files in it outlast a crash of the machine. A
// user error with the system's reason; ok where the file system cannot flush folders or the folder
// cannot be read.
Status syncFolder(const std::string &folder);

} // namespace cleave
