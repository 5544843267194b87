// See FileSpace.h.
#include "runtime/memory/FileSpace.h"

#include "runtime/base/Alignment.h"
#include "runtime/base/Units.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace cleave::memory {

constexpr uint64_t kPiece = 4 << 20;

static Status failure(const std::string &folder, int error, const char *deed) {
  return Status::userError("cannot ", deed, " a file in '", folder, "': ", std::strerror(error));
}

Result<std::shared_ptr<FileSpace>> FileSpace::create(const std::string &folder, uint64_t bytes) {
  std::shared_ptr<FileSpace> space(new FileSpace);
  space->folder_ = folder;
  std::string path = folder + "/cleave-XXXXXX";
  space->file_ = ::mkstemp(path.data()); // readable for this user alone
  if (space->file_ < 0)
    return failure(folder, errno, "create").withContext("file space");
  ::unlink(path.c_str());
  const auto size = uint64_t(alignedTo(kFileAlignment, int64_t(bytes)));
  if (const int error = ::posix_fallocate(space->file_, 0, off_t(size)))
    return failure(folder, error, "reserve bytes of")
        .withContext(concat("file space of ", bytesText(size)));
  // File systems in memory refuse it.
  ::fcntl(space->file_, F_SETFL, ::fcntl(space->file_, F_GETFL) | O_DIRECT);
  space->piece_ = std::aligned_alloc(kFileAlignment, kPiece);
  void *begin =
      ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (!space->piece_ || begin == MAP_FAILED)
    return Status::userError("no addresses are left for a file space of ", bytesText(size));
  space->begin_ = begin;
  space->bytes_ = size;
  return space;
}

FileSpace::~FileSpace() {
  if (begin_)
    ::munmap(begin_, bytes_);
  std::free(piece_);
  if (file_ >= 0)
    ::close(file_);
}

// Transfers whole pages.
template <typename Transfer>
static Status transferAll(const std::string &folder, const char *deed, uint64_t bytes,
                          Transfer transfer) {
  for (uint64_t done = 0; done < bytes;) {
    const ssize_t count = transfer(done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return failure(folder, count < 0 ? errno : EIO, deed).withContext("file space");
    done += uint64_t(count);
  }
  return Status::ok();
}

template <typename Copy>
Status FileSpace::forPieces(uint64_t first, uint64_t bytes, bool writes, Copy copy) {
  char *piece = static_cast<char *>(piece_);
  for (uint64_t at = first, end = first + bytes; at < end;) {
    const uint64_t begin = at / kFileAlignment * kFileAlignment;
    const uint64_t stop = std::min(end, begin + kPiece);
    const auto size = uint64_t(alignedTo(kFileAlignment, int64_t(stop - begin)));
    const bool isWhole = at == begin && stop - begin == size;
    if (!writes || !isWhole)
      CLEAVE_TRY(transferAll(folder_, "read", size, [&](uint64_t done) {
        return ::pread(file_, piece + done, size - done, off_t(begin + done));
      }));
    copy(at - first, piece + (at - begin), stop - at);
    if (writes)
      CLEAVE_TRY(transferAll(folder_, "write", size, [&](uint64_t done) {
        return ::pwrite(file_, piece + done, size - done, off_t(begin + done));
      }));
    at = stop;
  }
  return Status::ok();
}

Status FileSpace::write(void *to, const void *from, uint64_t bytes) {
  const auto first = uint64_t(static_cast<char *>(to) - static_cast<char *>(begin_));
  return forPieces(first, bytes, true, [&](uint64_t at, char *piece, uint64_t count) {
    std::memcpy(piece, static_cast<const char *>(from) + at, count);
  });
}

Status FileSpace::read(const void *from, void *to, uint64_t bytes) {
  const auto first = uint64_t(static_cast<const char *>(from) - static_cast<const char *>(begin_));
  return forPieces(first, bytes, false, [&](uint64_t at, const char *piece, uint64_t count) {
    std::memcpy(static_cast<char *>(to) + at, piece, count);
  });
}

} // namespace cleave::memory
