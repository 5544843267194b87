#include "runtime/base/FileWriter.h"

#include "runtime/base/FileLock.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace cleave {

namespace fs = std::filesystem;

FileWriter::FileWriter(std::string path) : path_(std::move(path)) {
  std::error_code error;
  bool isInPlace = fs::exists(path_, error) && !fs::is_regular_file(path_, error) &&
                   !fs::is_directory(path_, error);
  if (isInPlace)
    written_ = path_;
}

FileWriter::~FileWriter() {
  if (descriptor_ < 0)
    return;
  if (written_ != path_)
    ::unlink(written_.c_str());
  ::close(descriptor_);
}

Status FileWriter::fail() const {
  return Status::userError("cannot write '", path_, "': ", std::strerror(errno));
}

// The folder of a file, `.` for a plain name.
static fs::path folderOf(const std::string &path) {
  fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

// Removes the temporary files for `path` whose writers have died. Without locks on the file system,
// a file of a dead writer cannot be told from one in use, and stays.
static void sweepTemporaries(const std::string &path) {
  std::string prefix = fs::path(path).filename().string() + ".partial.";
  std::error_code ignored;
  for (const fs::directory_entry &entry : fs::directory_iterator(folderOf(path), ignored)) {
    std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix) || !entry.is_regular_file(ignored) ||
        !std::all_of(name.begin() + std::ptrdiff_t(prefix.size()), name.end(),
                     [](unsigned char c) { return std::isdigit(c) || c == '.'; }))
      continue;
    int descriptor = ::open(entry.path().c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0)
      continue;
    if (lockFile(descriptor) == FileLock::Held)
      ::unlink(entry.path().c_str());
    ::close(descriptor);
  }
}

// Creates `PATH.partial.PID`, or with a further number if a living writer has that name (of this
// process, or of one with the same number on another host). Returns its descriptor; -1 if it cannot
// be created.
int FileWriter::openTemporary() {
  for (int number = 0;; ++number) {
    written_ = concat(path_, ".partial.", ::getpid());
    if (number > 0)
      written_ += concat('.', number);
    int descriptor = ::open(written_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor < 0)
      return -1;
    FileLock lock = lockFile(descriptor);
    bool isMine = lock == FileLock::Unsupported ||
                  (lock == FileLock::Held && isFileAt(descriptor, written_.c_str()));
    if (isMine && ::ftruncate(descriptor, 0) == 0)
      return descriptor;
    int reason = errno;
    ::close(descriptor);
    errno = reason;
    if (isMine)
      return -1;
  }
}

Status FileWriter::open() {
  if (written_ == path_) {
    descriptor_ = ::open(written_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  } else {
    sweepTemporaries(path_);
    descriptor_ = openTemporary();
  }
  return descriptor_ < 0 ? fail() : Status::ok();
}

Status FileWriter::write(const void *data, size_t bytes) {
  if (descriptor_ < 0)
    CLEAVE_TRY(open());
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
  bool isRenamed = written_ != path_;
  if (isRenamed && std::rename(written_.c_str(), path_.c_str()) != 0)
    return fail();
  ::close(descriptor_);
  descriptor_ = -1;
  return isRenamed ? syncFolder(folderOf(path_).string()) : Status::ok();
}

Status writeFile(const std::string &path, const std::string &content) {
  if (path != "-") {
    FileWriter file(path);
    CLEAVE_TRY(file.write(content));
    return file.publish();
  }
  bool isWritten = std::fwrite(content.data(), 1, content.size(), stdout) == content.size() &&
                   std::fflush(stdout) == 0;
  return isWritten ? Status::ok()
                   : Status::userError("cannot write to standard output: ", std::strerror(errno));
}

Status syncFolder(const std::string &folder) {
  int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  bool isFlushed = descriptor < 0 ? errno == EACCES : ::fsync(descriptor) == 0 || errno == EINVAL;
  int reason = errno;
  if (descriptor >= 0)
    ::close(descriptor);
  return isFlushed
             ? Status::ok()
             : Status::userError("cannot flush the folder '", folder, "': ", std::strerror(reason));
}

} // namespace cleave
