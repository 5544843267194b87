// See FileLock.h.
#include "runtime/base/FileLock.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cleave {

FileLock lockFile(int descriptor) {
  struct flock whole = {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  int result = 0;
  do
    result = ::fcntl(descriptor, F_OFD_SETLK, &whole);
  while (result != 0 && errno == EINTR);
  if (result == 0)
    return FileLock::Held;
  return errno == EAGAIN || errno == EACCES ? FileLock::Busy : FileLock::Unsupported;
}

bool isFileAt(int descriptor, const char *path) {
  struct stat open = {}, named = {};
  return ::fstat(descriptor, &open) == 0 && ::stat(path, &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

} // namespace cleave
