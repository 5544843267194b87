#include "runtime/base/FileWriter.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace cleave {

FileWriter::FileWriter(std::string path) : path_(std::move(path)) {
  std::error_code error;
  bool isInPlace = std::filesystem::exists(path_, error) &&
                   !std::filesystem::is_regular_file(path_, error) &&
                   !std::filesystem::is_directory(path_, error);
  written_ = isInPlace ? path_ : path_ + ".partial." + std::to_string(::getpid());
}

FileWriter::~FileWriter() {
  if (descriptor_ < 0)
    return;
  ::close(descriptor_);
  if (written_ != path_)
    ::unlink(written_.c_str());
}

Status FileWriter::fail() const {
  return Status::userError("cannot write '", path_, "': ", std::strerror(errno));
}

Status FileWriter::write(const void *data, size_t bytes) {
  if (descriptor_ < 0)
    descriptor_ = ::open(written_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0)
    return fail();
  for (size_t done = 0; done < bytes;) {
    ssize_t count = ::write(descriptor_, static_cast<const char *>(data) + done, bytes - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return fail();
    done += static_cast<size_t>(count);
  }
  return Status::ok();
}

Status FileWriter::publish() {
  CLEAVE_TRY(write(nullptr, 0)); // a file without content is a file, too
  bool isFlushed = ::fsync(descriptor_) == 0 || errno == EINVAL; // pipes have nothing to flush
  if (!isFlushed)
    return fail();
  if (written_ != path_ && std::rename(written_.c_str(), path_.c_str()) != 0)
    return fail();
  ::close(descriptor_);
  descriptor_ = -1;
  return Status::ok();
}

} // namespace cleave
