// A file, mapped read-only as a whole.
#pragma once

#include "runtime/base/Status.h"

#include <cstddef>
#include <memory>
#include <string>

namespace cleave::data {

class MappedFile {
public:
  // A user error has the path and the system's reason. data() of an empty file is null.
  static Result<std::shared_ptr<const MappedFile>> open(const std::string &path);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  const unsigned char *data() const { return data_; }
  size_t size() const { return size_; }

private:
  MappedFile() = default;
  const unsigned char *data_ = nullptr;
  size_t size_ = 0;
};

// Releases the resident pages of a part of a mapped file, so that they do not count as memory of
// this process. The next access reads them again.
void releasePages(const void *begin, size_t bytes);

} // namespace cleave::data
