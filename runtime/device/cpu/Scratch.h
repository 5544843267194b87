// Memory that oneDNN's primitives use while they run. Primitives of one device run one after the
// other, so they share one piece as large as the largest needs.
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

  // Asks for `bytes`; `use` is told once, by allocate(), where they begin (64-aligned).
  void reserve(uint64_t bytes, std::function<void(void *)> use);
  // Allocates the most that was asked for and tells everyone.
  Status allocate();
  uint64_t bytes() const { return bytes_; }

private:
  uint64_t bytes_ = 0;
  void *memory_ = nullptr;
  std::vector<std::function<void(void *)>> users_;
};

} // namespace cleave::device
