// See RegularFile.h.
#include "runtime/base/RegularFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace cleave {

static const char *kindOf(mode_t mode) {
  return S_ISDIR(mode)    ? "a folder"
         : S_ISFIFO(mode) ? "a pipe"
         : S_ISSOCK(mode) ? "a socket"
                          : "a device";
}

Result<RegularFile> RegularFile::open(const std::string &path) {
  RegularFile file(path, ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info{};
  if (file.descriptor_ < 0 || ::fstat(file.descriptor_, &info) != 0)
    return Status::userError("cannot read '", path, "': ", std::strerror(errno));
  if (!S_ISREG(info.st_mode))
    return Status::userError("cannot read '", path, "': it is ", kindOf(info.st_mode),
                             ", expected a regular file",
                             S_ISDIR(info.st_mode) ? "" : "; write its content to one");
  file.bytes_ = static_cast<uint64_t>(info.st_size);
  return file;
}

RegularFile::RegularFile(RegularFile &&other) noexcept { *this = std::move(other); }

RegularFile &RegularFile::operator=(RegularFile &&other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

RegularFile::~RegularFile() {
  if (descriptor_ >= 0)
    ::close(descriptor_);
}

Result<size_t> RegularFile::read(void *to, size_t most) {
  ssize_t count;
  do
    count = ::read(descriptor_, to, most);
  while (count < 0 && errno == EINTR);
  if (count < 0)
    return Status::userError("cannot read '", path_, "': ", std::strerror(errno));
  return static_cast<size_t>(count);
}

Result<std::string> readRegularFile(const std::string &path, uint64_t most) {
  CLEAVE_TRY_ASSIGN(RegularFile file, RegularFile::open(path));
  if (file.bytes() > most)
    return Status::userError("cannot read '", path, "': it has ", file.bytes(),
                             " bytes, expected at most ", most);
  std::string content(file.bytes(), '\0');
  size_t done = 0;
  while (done < content.size()) {
    CLEAVE_TRY_ASSIGN(size_t count, file.read(content.data() + done, content.size() - done));
    if (count == 0)
      break; // it has become shorter
    done += count;
  }
  content.resize(done);
  return content;
}

} // namespace cleave
