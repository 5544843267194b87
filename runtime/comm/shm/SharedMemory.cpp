// See SharedMemory.h.
#include "runtime/comm/shm/SharedMemory.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cleave::comm {

static Status failed(const std::string &what) {
  return Status::lost("could not ", what, " shared memory: ", strerror(errno));
}

Status SharedMemory::map() {
  void *memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (memory == MAP_FAILED)
    return failed("map");
  data_ = static_cast<unsigned char *>(memory);
  madvise(memory, bytes_, MADV_HUGEPAGE); // where the system allows it
  return Status::ok();
}

Result<std::unique_ptr<SharedMemory>> SharedMemory::create(size_t bytes) {
  int descriptor = memfd_create("cleave", MFD_CLOEXEC);
  if (descriptor < 0)
    return failed("make");
  std::unique_ptr<SharedMemory> memory(new SharedMemory(descriptor, bytes ? bytes : 1));
  if (ftruncate(descriptor, memory->bytes_) != 0)
    return failed("size");
  CLEAVE_TRY(memory->map());
  return memory;
}

Result<std::unique_ptr<SharedMemory>> SharedMemory::open(const std::string &ticket) {
  size_t slash = ticket.find('/');
  std::string path = "/proc/" + ticket.substr(0, slash) + "/fd/" + ticket.substr(slash + 1);
  int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0)
    return failed("open");
  struct stat info{};
  fstat(descriptor, &info);
  std::unique_ptr<SharedMemory> memory(new SharedMemory(descriptor, info.st_size));
  CLEAVE_TRY(memory->map());
  return memory;
}

SharedMemory::~SharedMemory() {
  if (data_)
    munmap(data_, bytes_);
  close(descriptor_);
}

std::string SharedMemory::ticket() const {
  return std::to_string(getpid()) + "/" + std::to_string(descriptor_);
}

// Locks of open file descriptions: released when the last descriptor is closed, also by the death
// of the process.
static struct flock lockOf(size_t byte) {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(byte);
  lock.l_len = 1;
  return lock;
}

Status SharedMemory::holdByte(size_t byte) {
  struct flock lock = lockOf(byte);
  return fcntl(descriptor_, F_OFD_SETLK, &lock) == 0 ? Status::ok() : failed("lock a byte of");
}

bool SharedMemory::isHeld(size_t byte) const {
  struct flock lock = lockOf(byte);
  return fcntl(descriptor_, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

} // namespace cleave::comm
