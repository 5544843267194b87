// Scratch memory of oneDNN's primitives. The primitives of one device run one after the other, so
// they share one memory of the largest size that any of them needs.
#pragma once

#include "runtime/base/Status.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace cleave::device {

class Scratch {
public:
  Scratch() = default;
  ~Scratch();
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;

  // Requests `bytes`; allocate() calls `use` once with their address, which is aligned to 64 bytes.
  void reserve(uint64_t bytes, std::function<void(void *)> use);
  // Allocates the largest request and calls all `use`. A user error if memory does not suffice.
  Status allocate();
  // Bytes of the largest request.
  uint64_t bytes() const { return bytes_; }

private:
  uint64_t bytes_ = 0;
  void *memory_ = nullptr;
  std::vector<std::function<void(void *)>> users_;
};

} // namespace cleave::device
