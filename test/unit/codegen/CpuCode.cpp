// Code for this machine's CPU, loaded into this process.
#include "test/unit/codegen/KernelHarness.h"

#include "compiler/artifact/ExportKernel.h"
#include "passes/codegen/cpu/CpuCodegen.h"

#include <cstdio>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

namespace cleave::test {

namespace {

void *load(const std::string &library) {
  int file = memfd_create("kernels", 0);
  if (::write(file, library.data(), library.size()) != static_cast<ssize_t>(library.size()))
    return nullptr;
  void *handle = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  close(file);
  if (!handle)
    std::fprintf(stderr, "%s\n", dlerror());
  return handle;
}

class CpuCode : public KernelCode {
public:
  CpuCode(void *library, program::KernelOp kernel)
      : library_(library), extent_(*kernel.getExtent()),
        function_(reinterpret_cast<Function>(
            dlsym(library, artifact::exportKernel(kernel).symbol().c_str()))) {}
  ~CpuCode() override { dlclose(library_); }
  std::string run(void *const *buffers, int64_t begin, int64_t end) const override {
    if (!function_)
      return "the library lacks the kernel's symbol";
    function_(buffers, begin, end);
    return "";
  }
  int64_t extent() const override { return extent_; }

private:
  using Function = void (*)(void *const *, int64_t, int64_t);
  void *library_;
  int64_t extent_;
  Function function_;
};

} // namespace

const bool kHasDoubleFunctions = true;

std::unique_ptr<KernelCode> compileCode(program::KernelOp kernel) {
  Result<codegen::CpuLibrary> library = codegen::compileKernels({kernel});
  if (!library) {
    std::fprintf(stderr, "%s\n", library.status().message().c_str());
    return nullptr;
  }
  void *loaded = load(library->bytes);
  return loaded ? std::make_unique<CpuCode>(loaded, kernel) : nullptr;
}

} // namespace cleave::test
