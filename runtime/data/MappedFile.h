// A whole file, mapped read-only.
#pragma once

#include "runtime/base/Status.h"

#include <cstddef>
#include <memory>
#include <string>

namespace cleave::data {

class MappedFile {
public:
  // Fails with the path and the system's reason. An empty file has no data.
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

// Forgets the resident pages of a part of a mapped file, which would only count as memory of this
// process; they are read again when touched.
void releasePages(const void *begin, size_t bytes);

} // namespace cleave::data
