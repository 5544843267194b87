// See SharedMemory.h.
#include "runtime/comm/shm/SharedMemory.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <optional>
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

// The size is fixed by seals, so that access to mapped memory never fails.
static constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

Result<std::unique_ptr<SharedMemory>> SharedMemory::create(size_t bytes) {
  int descriptor = memfd_create("cleave", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0)
    return failed("make");
  std::unique_ptr<SharedMemory> memory(new SharedMemory(descriptor, bytes ? bytes : 1));
  if (ftruncate(descriptor, static_cast<off_t>(memory->bytes_)) != 0 ||
      fcntl(descriptor, F_ADD_SEALS, kSeals) != 0)
    return failed("size");
  CLEAVE_TRY(memory->map());
  return memory;
}

namespace {

// `process/descriptor/inode/bytes`
struct Address {
  uint64_t process = 0, descriptor = 0, inode = 0, bytes = 0;
};

// Digits and three slashes, nothing else.
std::optional<Address> parse(const std::string &text) {
  Address address;
  const char *at = text.data(), *end = at + text.size();
  for (uint64_t *field : {&address.process, &address.descriptor, &address.inode, &address.bytes}) {
    auto [next, error] = std::from_chars(at, end, *field);
    bool isLast = field == &address.bytes;
    if (error != std::errc() || (isLast ? next != end : next == end || *next != '/'))
      return std::nullopt;
    at = next + 1;
  }
  return address;
}

// An open file, closed at the end of its scope.
struct Descriptor {
  explicit Descriptor(int number) : number(number) {}
  ~Descriptor() {
    if (number >= 0)
      close(number);
  }
  int number;
};

// The device number of all anonymous memory, which is that of memory made here.
Result<dev_t> deviceOfMemory() {
  CLEAVE_TRY_ASSIGN(auto own, SharedMemory::create(1));
  return own->device();
}

} // namespace

Result<std::unique_ptr<SharedMemory>> SharedMemory::open(const std::string &text, size_t bytes) {
  auto refuse = [&](const char *why) {
    return Status::lost("'", text, "' is not shared memory of this job: ", why);
  };
  std::optional<Address> address = parse(text);
  if (!address)
    return refuse("expected PROCESS/DESCRIPTOR/INODE/BYTES in digits");
  if (address->bytes != (bytes ? bytes : 1))
    return refuse("its size is not that of the group");
  // O_PATH opens nothing, so that a look at a foreign file has no effect on it.
  std::string path = concat("/proc/", address->process, "/fd/", address->descriptor);
  Descriptor seen(::open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat info{};
  if (seen.number < 0 || fstat(seen.number, &info) != 0)
    return failed("open");
  CLEAVE_TRY_ASSIGN(dev_t device, deviceOfMemory());
  if (!S_ISREG(info.st_mode) || info.st_dev != device || info.st_ino != address->inode)
    return refuse("there is something else");
  if (info.st_uid != geteuid())
    return refuse("it belongs to another user");
  if (static_cast<uint64_t>(info.st_size) != address->bytes)
    return refuse("it has another size");
  int descriptor = ::open(concat("/proc/self/fd/", seen.number).c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0)
    return failed("open");
  std::unique_ptr<SharedMemory> memory(new SharedMemory(descriptor, address->bytes));
  if ((fcntl(descriptor, F_GET_SEALS) & kSeals) != kSeals)
    return refuse("its size may change");
  CLEAVE_TRY(memory->map());
  return memory;
}

SharedMemory::~SharedMemory() {
  if (data_)
    munmap(data_, bytes_);
  close(descriptor_);
}

dev_t SharedMemory::device() const {
  struct stat info{};
  fstat(descriptor_, &info);
  return info.st_dev;
}

std::string SharedMemory::ticket() const {
  struct stat info{};
  fstat(descriptor_, &info);
  return concat(getpid(), "/", descriptor_, "/", info.st_ino, "/", bytes_);
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
