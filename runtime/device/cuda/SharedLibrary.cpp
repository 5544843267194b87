// See SharedLibrary.h.
#include "runtime/device/cuda/SharedLibrary.h"

#include <dlfcn.h>

namespace cleave::device {

Result<SharedLibrary> SharedLibrary::open(std::initializer_list<const char *> names) {
  SharedLibrary library;
  std::string tried;
  for (const char *name : names) {
    library.handle_ = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    library.name_ = name;
    if (library.handle_)
      return library;
    tried += concat(tried.empty() ? "" : " or ", name);
  }
  const char *reason = ::dlerror();
  return Status::userError("no ", tried, " on this machine", reason ? " (" : "",
                           reason ? reason : "", reason ? ")" : "");
}

void *SharedLibrary::address(const char *name) {
  void *found = ::dlsym(handle_, name);
  if (!found && missing_.empty())
    missing_ = name;
  return found;
}

Status SharedLibrary::complete() const {
  return missing_.empty()
             ? Status::ok()
             : Status::userError(name_, " has no function ", missing_, "; it is too old");
}

} // namespace cleave::device
