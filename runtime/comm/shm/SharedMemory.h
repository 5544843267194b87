// Memory without a name that several processes of one machine map: its maker hands out a ticket
// (process and descriptor), by which others find it under /proc. Nothing is left behind, however a
// process ends.
#pragma once

#include "runtime/base/Status.h"

#include <cstddef>
#include <memory>
#include <string>

namespace cleave::comm {

class SharedMemory {
public:
  // Makes zeroed memory.
  static Result<std::unique_ptr<SharedMemory>> create(size_t bytes);
  // Maps another process's by its ticket; it must still live.
  static Result<std::unique_ptr<SharedMemory>> open(const std::string &ticket);
  ~SharedMemory();

  unsigned char *data() const { return data_; }
  size_t bytes() const { return bytes_; }
  // `1234/5`; good as long as the maker keeps this object.
  std::string ticket() const;

  // Holds a lock on a byte of the memory until this object or the process ends.
  Status holdByte(size_t byte);
  // Whether anyone else holds it.
  bool isHeld(size_t byte) const;

private:
  SharedMemory(int descriptor, size_t bytes) : descriptor(descriptor), bytes_(bytes) {}
  Status map();
  int descriptor;
  size_t bytes_;
  unsigned char *data_ = nullptr;
};

} // namespace cleave::comm
