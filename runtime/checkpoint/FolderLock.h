// FolderLock: one job at a time saves into a folder.
#pragma once

#include "runtime/base/Status.h"

#include <chrono>
#include <memory>
#include <string>

namespace cleave::checkpoint {

// A lock of a save folder, held until destruction or the death of the process: a lock of the open
// file DIR/.lock, in which its owner's host and process are written. On NFS it works across hosts
// as reliably as the server's locks do.
class FolderLock {
public:
  // Locks the folder, and creates it if necessary. Waits for at most `patience`, because a job that
  // has just died may still hold it. User errors: another job holds it (named by host and process),
  // or the folder cannot be written. Removes the temporary folders of dead jobs.
  static Result<std::unique_ptr<FolderLock>> acquire(const std::string &directory,
                                                     std::chrono::milliseconds patience = {});
  ~FolderLock(); // removes the file
  FolderLock(const FolderLock &) = delete;
  FolderLock &operator=(const FolderLock &) = delete;

  // False if the file system has no locks: nothing then detects a second job.
  bool isHeld() const { return isHeld_; }

private:
  FolderLock(std::string path, int descriptor, bool isHeld)
      : path_(std::move(path)), descriptor_(descriptor), isHeld_(isHeld) {}

  std::string path_; // of the file
  int descriptor_;
  bool isHeld_;
};

} // namespace cleave::checkpoint
