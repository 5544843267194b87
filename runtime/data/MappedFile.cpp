// See MappedFile.h.
#include "runtime/data/MappedFile.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cleave::data {

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return Status::userError("could not open ", path, ": ", strerror(errno));
  struct stat info{};
  fstat(descriptor, &info);
  std::shared_ptr<MappedFile> file(new MappedFile);
  void *memory = nullptr;
  if (S_ISREG(info.st_mode) && info.st_size > 0)
    memory = mmap(nullptr, info.st_size, PROT_READ, MAP_SHARED, descriptor, 0);
  int error = errno;
  close(descriptor);
  if (!S_ISREG(info.st_mode))
    return Status::userError(path, " is not a file");
  if (memory == MAP_FAILED)
    return Status::userError("could not map ", path, ": ", strerror(error));
  file->data_ = static_cast<const unsigned char *>(memory);
  file->size_ = info.st_size;
  return std::shared_ptr<const MappedFile>(file);
}

void releasePages(const void *begin, size_t bytes) {
  constexpr uintptr_t kPage = 4096;
  uintptr_t first = reinterpret_cast<uintptr_t>(begin) / kPage * kPage;
  uintptr_t last = (reinterpret_cast<uintptr_t>(begin) + bytes + kPage - 1) / kPage * kPage;
  madvise(reinterpret_cast<void *>(first), last - first, MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (data_)
    munmap(const_cast<unsigned char *>(data_), size_);
}

} // namespace cleave::data
