// One shadow per byte: the last write, and the reads since.
#include "CheckedMemory.h"

#include <cstring>

namespace cleave::test {

CheckedMemory::CheckedMemory(std::string name, std::vector<char> bytes, bool defined)
    : name_(std::move(name)), bytes_(std::move(bytes)), shadows_(bytes_.size()) {
  for (Shadow &shadow : shadows_)
    shadow.defined = defined;
}

void CheckedMemory::fail(const std::string &what, const Access &by, int64_t offset) {
  throw Fault("thread " + std::to_string(by.thread) + " of block " + std::to_string(by.block) +
              " " + what + " byte " + std::to_string(offset) + " of " + name_ + ", which has " +
              std::to_string(bytes_.size()));
}

void CheckedMemory::check(const char *what, const Access &by, int64_t offset, int64_t size,
                          int64_t alignment) {
  if (offset < 0 || offset + size > static_cast<int64_t>(bytes_.size()))
    fail(std::string(what) + " outside of the array", by, offset);
  if (offset % alignment != 0)
    fail(std::string(what) + " not aligned to " + std::to_string(alignment) + " bytes", by, offset);
}

// Whether nothing orders the two accesses.
static bool areConcurrent(const Access &a, const Access &b) {
  return a.block >= 0 && (a.block != b.block || (a.epoch == b.epoch && a.thread != b.thread));
}

void CheckedMemory::load(const Access &by, int64_t offset, int64_t size, int64_t alignment,
                         char *to) {
  check("reads", by, offset, size, alignment);
  for (int64_t i = offset; i < offset + size; ++i) {
    Shadow &shadow = shadows_[i];
    if (!shadow.defined)
      fail("reads uninitialised", by, i);
    if (areConcurrent(shadow.writer, by))
      fail("races with a write of thread " + std::to_string(shadow.writer.thread) + ": reads", by,
           i);
    shadow.severalReaders = areConcurrent(shadow.reader, by) ||
                            (shadow.severalReaders && shadow.reader.block == by.block &&
                             shadow.reader.epoch == by.epoch);
    shadow.reader = by;
  }
  std::memcpy(to, bytes_.data() + offset, size);
}

void CheckedMemory::store(const Access &by, int64_t offset, int64_t size, int64_t alignment,
                          const char *from) {
  check("writes", by, offset, size, alignment);
  for (int64_t i = offset; i < offset + size; ++i) {
    Shadow &shadow = shadows_[i];
    bool othersRead = shadow.severalReaders &&
                      (shadow.reader.block != by.block || shadow.reader.epoch == by.epoch);
    if (areConcurrent(shadow.writer, by))
      fail("races with a write of thread " + std::to_string(shadow.writer.thread) + ": writes", by,
           i);
    if (areConcurrent(shadow.reader, by) || othersRead)
      fail("races with a read of thread " + std::to_string(shadow.reader.thread) + ": writes", by,
           i);
    shadow.writer = by;
    shadow.defined = true;
  }
  std::memcpy(bytes_.data() + offset, from, size);
}

} // namespace cleave::test
