// See Scratch.h.
#include "runtime/device/cpu/Scratch.h"

#include <algorithm>
#include <string>
#include <sys/mman.h>

namespace cleave::device {

Scratch::~Scratch() {
  if (memory_)
    ::munmap(memory_, bytes_);
}

void Scratch::reserve(uint64_t bytes, std::function<void(void *)> use) {
  bytes_ = std::max(bytes_, bytes);
  users_.push_back(std::move(use));
}

Status Scratch::allocate() {
  if (bytes_ == 0)
    return Status::ok();
  void *memory =
      ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return Status::userError("cannot allocate ", bytes_, " bytes of oneDNN's scratch space");
  memory_ = memory;
  for (auto &use : users_)
    use(memory_);
  users_.clear();
  return Status::ok();
}

} // namespace cleave::device
