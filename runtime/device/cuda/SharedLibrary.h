// SharedLibrary: a library that is loaded while the program runs, if the machine has it.
#pragma once

#include "runtime/base/Status.h"

#include <initializer_list>
#include <string>
#include <vector>

namespace cleave::device {

class SharedLibrary {
public:
  // Loads the first of `names` that exists; it stays loaded. A user error lists what was tried:
  // `no libcuda.so.1 on this machine`.
  static Result<SharedLibrary> open(std::initializer_list<const char *> names);

  // Sets `function` to the library's function of that name. Missing ones are noted for complete().
  template <typename Function> void find(const char *name, Function *&function) {
    function = reinterpret_cast<Function *>(address(name));
  }
  // A user error if a function was not found; it names the first one.
  Status complete() const;

private:
  void *address(const char *name);

  void *handle_ = nullptr;
  std::string name_, missing_;
};

} // namespace cleave::device
