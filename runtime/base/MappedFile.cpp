// Mapping, and the registry of mapped ranges that the handler of SIGBUS reads. See MappedFile.h.
#include "runtime/base/MappedFile.h"

#include "runtime/base/RegularFile.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

namespace cleave {
namespace {

// A mapped range and its file's path. Entries are never freed, since the handler may read them at
// any time; an unused one has end 0 and is used again.
struct MappedRange {
  std::atomic<uintptr_t> begin{0}, end{0};
  char path[512]; // longer paths are cut off
  MappedRange *next = nullptr;
};

std::atomic<MappedRange *> ranges{nullptr};
std::mutex registering;
struct sigaction previousAction;

// Async-signal-safe: calls nothing but write, sigaction and _exit.
void onBusError(int, siginfo_t *info, void *) {
  uintptr_t at = reinterpret_cast<uintptr_t>(info->si_addr);
  for (const MappedRange *range = ranges; range; range = range->next) {
    if (at < range->begin || at >= range->end)
      continue;
    const char *parts[] = {
        program_invocation_short_name, ": error: '", range->path,
        "' has become shorter, or cannot be read any more, while it was in use; restore the file, "
        "and replace files by renaming instead of writing into them\n"};
    for (const char *part : parts)
      if (::write(STDERR_FILENO, part, std::strlen(part)) < 0)
        break;
    ::_exit(static_cast<int>(StatusKind::UserError));
  }
  ::sigaction(SIGBUS, &previousAction, nullptr); // the access repeats
}

void registerRange(const void *data, size_t size, const std::string &path) {
  std::lock_guard lock(registering);
  static bool isInstalled = false;
  if (!isInstalled) {
    struct sigaction action{};
    action.sa_sigaction = onBusError;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGBUS, &action, &previousAction);
    isInstalled = true;
  }
  MappedRange *range = ranges;
  while (range && range->end)
    range = range->next;
  bool isNew = !range;
  if (isNew)
    range = new MappedRange;
  std::strncpy(range->path, path.c_str(), sizeof range->path - 1);
  range->path[sizeof range->path - 1] = '\0';
  range->begin = reinterpret_cast<uintptr_t>(data);
  range->end = range->begin + size;
  if (isNew) {
    range->next = ranges;
    ranges = range;
  }
}

void unregisterRange(const void *data) {
  std::lock_guard lock(registering);
  for (MappedRange *range = ranges; range; range = range->next)
    if (range->end && range->begin == reinterpret_cast<uintptr_t>(data))
      range->end = 0;
}

} // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string &path) {
  CLEAVE_TRY_ASSIGN(RegularFile opened, RegularFile::open(path));
  std::shared_ptr<MappedFile> file(new MappedFile);
  if (opened.bytes() > 0) {
    void *memory = ::mmap(nullptr, opened.bytes(), PROT_READ, MAP_SHARED, opened.descriptor(), 0);
    if (memory == MAP_FAILED)
      return Status::userError("could not map the ", opened.bytes(), " bytes of '", path,
                               "': ", std::strerror(errno));
    file->data_ = static_cast<const unsigned char *>(memory);
    file->size_ = opened.bytes();
    registerRange(memory, file->size_, path);
  }
  return std::shared_ptr<const MappedFile>(file);
}

MappedFile::~MappedFile() {
  if (!data_)
    return;
  unregisterRange(data_);
  ::munmap(const_cast<unsigned char *>(data_), size_);
}

void releasePages(const void *begin, size_t bytes) {
  constexpr uintptr_t kPage = 4096;
  uintptr_t first = reinterpret_cast<uintptr_t>(begin) / kPage * kPage;
  uintptr_t last = (reinterpret_cast<uintptr_t>(begin) + bytes + kPage - 1) / kPage * kPage;
  ::madvise(reinterpret_cast<void *>(first), last - first, MADV_DONTNEED);
}

} // namespace cleave
