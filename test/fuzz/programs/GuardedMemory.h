// GuardedMemory: a buffer that is aligned to 64 bytes, as kernels may assume, and ends less than 64
// bytes before a guard page. Unwritten bytes are 0xff: NaN for all floats.
#pragma once

#include <cstring>
#include <sys/mman.h>
#include <utility>

namespace cleave::fuzz {

class GuardedMemory {
public:
  explicit GuardedMemory(size_t bytes) : bytes_((bytes + 63) / 64 * 64) {
    size_t inside = (bytes_ + kPage - 1) / kPage * kPage;
    mapped_ = inside + 2 * kPage;
    base_ =
        static_cast<char *>(mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base_ + kPage, inside, PROT_READ | PROT_WRITE);
    data_ = base_ + kPage + inside - bytes_;
    std::memset(data_, 0xff, bytes_);
  }
  GuardedMemory(GuardedMemory &&other)
      : bytes_(other.bytes_), mapped_(other.mapped_), base_(std::exchange(other.base_, nullptr)),
        data_(other.data_) {}
  ~GuardedMemory() {
    if (base_)
      munmap(base_, mapped_);
  }
  char *data() const { return data_; }
  size_t bytes() const { return bytes_; }

private:
  static constexpr size_t kPage = 4096;
  size_t bytes_, mapped_;
  char *base_, *data_;
};

} // namespace cleave::fuzz
