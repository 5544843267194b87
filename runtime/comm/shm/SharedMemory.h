// Anonymous memory that several processes of one machine map. Its creator passes a ticket (process,
// descriptor, inode, bytes) to the others, which open it under /proc and check that it is such
// memory. It disappears with its processes, however they end.
#pragma once

#include "runtime/base/Status.h"

#include <cstddef>
#include <memory>
#include <string>
#include <sys/types.h>

namespace cleave::comm {

class SharedMemory {
public:
  // Creates zeroed memory. Status::lost, here and below, if the system refuses.
  static Result<std::unique_ptr<SharedMemory>> create(size_t bytes);
  // Maps the memory of another process by its ticket; that process must be alive. Opens nothing but
  // memory that a process of the same user made by create(), with exactly `bytes` bytes.
  static Result<std::unique_ptr<SharedMemory>> open(const std::string &ticket, size_t bytes);
  ~SharedMemory();

  unsigned char *data() const { return data_; } // mapped until this object is destroyed
  size_t bytes() const { return bytes_; }
  // `1234/5/678/4096`; valid while the creator keeps this object.
  std::string ticket() const;

  // The device number that the system gives to anonymous memory.
  dev_t device() const;

  // Holds a lock on a byte of the memory until this object or the process ends.
  Status holdByte(size_t byte);
  // Whether another process or object holds the lock.
  bool isHeld(size_t byte) const;

private:
  SharedMemory(int descriptor, size_t bytes) : descriptor_(descriptor), bytes_(bytes) {}
  Status map();
  int descriptor_;
  size_t bytes_;
  unsigned char *data_ = nullptr;
};

} // namespace cleave::comm
