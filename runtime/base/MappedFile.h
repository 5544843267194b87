// A file, mapped read-only as a whole.
//
// If a mapped file is truncated while it is in use, or its disk fails, an access of the lost bytes
// raises SIGBUS. The first mapping therefore installs a handler of that signal, which prints a
// message with the file's name and ends the process with exit code 1: the user's mistake, not a
// defect of Cleave. Other causes of SIGBUS are left to the previous handler.
#pragma once

#include "runtime/base/Status.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace cleave {

class MappedFile {
public:
  // Maps a regular file (see RegularFile.h for what else is a user error). data() of an empty file
  // is null.
  static Result<std::shared_ptr<const MappedFile>> open(const std::string &path);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  const unsigned char *data() const { return data_; }
  size_t size() const { return size_; }
  // The same bytes as text.
  std::string_view text() const { return {reinterpret_cast<const char *>(data_), size_}; }

private:
  MappedFile() = default;
  const unsigned char *data_ = nullptr;
  size_t size_ = 0;
};

// Releases the resident pages of a part of a mapped file, so that they do not count as memory of
// this process. The next access reads them again.
void releasePages(const void *begin, size_t bytes);

} // namespace cleave
