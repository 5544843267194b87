// The plan's generated kernels: an ELF shared object in the plan file, which is loaded from memory.
#pragma once

#include "runtime/base/Status.h"

#include <cstdint>
#include <string>

namespace cleave::device {

// A generated kernel, void symbol(void *const *buffers, int64_t begin, int64_t end): see Kernel in
// program.proto.
using KernelFunction = void (*)(void *const *, int64_t, int64_t);

class KernelLibrary {
public:
  KernelLibrary() = default;
  ~KernelLibrary();
  KernelLibrary(const KernelLibrary &) = delete;
  KernelLibrary &operator=(const KernelLibrary &) = delete;

  // Loads the object. `target` is Module.machine. A user error if this CPU lacks features of the
  // target or the object cannot be loaded.
  Status load(const std::string &object, const std::string &target);
  // The function of that symbol; a user error if there is none, as when a plan's table of kernels
  // is not that of its library.
  Result<KernelFunction> find(const std::string &symbol) const;

private:
  void *handle_ = nullptr;
};

// The features of `target` (`NAME +avx2,+fma,-sha…`, separated by commas or spaces) that this CPU
// does not have, separated by commas; empty if it has all.
std::string missingFeatures(const std::string &target);

} // namespace cleave::device
