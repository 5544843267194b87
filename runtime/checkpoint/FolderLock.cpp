// See FolderLock.h.
#include "runtime/checkpoint/FolderLock.h"

#include "runtime/base/FileLock.h"
#include "runtime/checkpoint/SaveFolder.h"

#include <algorithm>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

namespace cleave::checkpoint {

namespace fs = std::filesystem;

static std::string hostName() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 && *name ? name : "unknown";
}

// The owner as it is written in the lock file; for people only.
static std::string ownerIn(const std::string &path) {
  char text[512] = {};
  int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ssize_t size = descriptor < 0 ? 0 : read(descriptor, text, sizeof text - 1);
  if (descriptor >= 0)
    close(descriptor);
  std::string owner(text, static_cast<size_t>(std::max<ssize_t>(0, size)));
  owner.erase(std::min(owner.size(), owner.find('\n')));
  for (char &c : owner)
    c = c < ' ' || c > '~' ? '?' : c;
  return owner.empty() ? "its host and process are unknown" : owner;
}

static Status writeOwner(int descriptor, const std::string &path) {
  std::string owner = concat("process ", getpid(), " on host ", hostName(), '\n');
  bool isWritten = ftruncate(descriptor, 0) == 0 && pwrite(descriptor, owner.data(), owner.size(),
                                                           0) == static_cast<ssize_t>(owner.size());
  return isWritten ? Status::ok() : systemError("write " + path);
}

Result<std::unique_ptr<FolderLock>> FolderLock::acquire(const std::string &directory,
                                                        std::chrono::milliseconds patience) {
  CLEAVE_TRY(createFolder(directory));
  std::string path = fs::path(directory) / ".lock";
  auto end = std::chrono::steady_clock::now() + patience;
  for (;;) {
    int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor < 0)
      return systemError("write into the folder " + directory);
    FileLock result = lockFile(descriptor);
    // The owner before may have removed the file after it was opened here.
    bool isCurrent = result != FileLock::Busy && isFileAt(descriptor, path.c_str());
    if (isCurrent) {
      std::unique_ptr<FolderLock> lock(new FolderLock(path, descriptor, result == FileLock::Held));
      CLEAVE_TRY(writeOwner(descriptor, path));
      if (lock->isHeld())
        sweepTemporaries(directory);
      return lock;
    }
    close(descriptor);
    if (result == FileLock::Busy && std::chrono::steady_clock::now() >= end)
      return Status::userError("another job saves into '", directory, "': ", ownerIn(path),
                               "; wait for its end, or save to another folder");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

FolderLock::~FolderLock() {
  if (isHeld_)
    unlink(path_.c_str());
  close(descriptor_);
}

} // namespace cleave::checkpoint
