// CheckedMemory: the memory of interpreted GPU threads. Every access is checked: inside of its
// array, aligned, of bytes that were written before, and free of races.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace cleave::test {

// The first wrong thing that a kernel did; it ends the interpretation.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Who accesses memory. Two accesses to a byte, one of them a write, are a race if they are by
// different blocks, or by different threads of one block with no barrier between them.
struct Access {
  int64_t block = -1; // -1: nobody
  int64_t epoch = 0;  // number of barriers that the block has passed
  int64_t thread = 0; // in the block
};

// One array: a buffer of the kernel, or shared memory of a block.
class CheckedMemory {
public:
  // `defined`: whether the bytes may be read before the kernel writes them.
  CheckedMemory(std::string name, std::vector<char> bytes, bool defined);

  // Copy `size` bytes at `offset`, which must be a multiple of `alignment`.
  void load(const Access &by, int64_t offset, int64_t size, int64_t alignment, char *to);
  void store(const Access &by, int64_t offset, int64_t size, int64_t alignment, const char *from);

  const std::string &name() const { return name_; }
  const std::vector<char> &bytes() const { return bytes_; }

private:
  struct Shadow {
    bool defined = false;
    bool severalReaders = false; // since the last write, of those that `reader` may race with
    Access writer, reader;
  };

  void check(const char *what, const Access &by, int64_t offset, int64_t size, int64_t alignment);
  [[noreturn]] void fail(const std::string &what, const Access &by, int64_t offset);

  std::string name_;
  std::vector<char> bytes_;
  std::vector<Shadow> shadows_; // per byte
};

} // namespace cleave::test
