// See KernelLibrary.h.
#include "runtime/device/cpu/KernelLibrary.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <set>
#include <sstream>
#include <sys/mman.h>
#include <unistd.h>

namespace cleave::device {
namespace {

// LLVM writes `sse4.2` and `avx512bf16` where Linux writes `sse4_2` and `avx512_bf16`.
std::string plainName(std::string feature) {
  std::erase_if(feature, [](char c) { return c == '_' || c == '.' || c == '-'; });
  return feature;
}

std::set<std::string> cpuFlags() {
  std::set<std::string> flags;
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("flags"))
      continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    for (std::string word; words >> word;)
      flags.insert(plainName(word));
    break;
  }
  return flags;
}

// Whether compilers select vector instructions by this feature. Other features have several names
// and rarely matter.
bool isVectorFeature(const std::string &feature) {
  return feature.starts_with("avx") || feature.starts_with("amx") || feature.starts_with("sse4") ||
         feature == "fma" || feature == "f16c" || feature == "bmi" || feature == "bmi2";
}

} // namespace

std::string missingFeatures(const std::string &target) {
  std::set<std::string> flags = cpuFlags();
  if (flags.contains("bmi1"))
    flags.insert("bmi");
  std::string missing, separated = target;
  for (char &c : separated)
    if (c == ',')
      c = ' ';
  std::istringstream words(separated);
  for (std::string word; !flags.empty() && words >> word;)
    if (word[0] == '+' && isVectorFeature(plainName(word.substr(1))) &&
        !flags.contains(plainName(word.substr(1))))
      missing += (missing.empty() ? "" : ", ") + word.substr(1);
  return missing;
}

KernelLibrary::~KernelLibrary() {
  if (handle_)
    ::dlclose(handle_);
}

Status KernelLibrary::load(const std::string &object, const std::string &target) {
  std::string missing = missingFeatures(target);
  if (!missing.empty())
    return Status::userError("the plan's kernels were generated for '",
                             target.substr(0, target.find(' ')), "' and this CPU lacks ", missing,
                             "; compile the model on this kind of machine");
  int fd = ::memfd_create("cleave-kernels", MFD_CLOEXEC);
  if (fd < 0)
    return Status::defect("cannot allocate memory for the kernels: ", std::strerror(errno));
  for (size_t done = 0; done < object.size();) {
    ssize_t count = ::write(fd, object.data() + done, object.size() - done);
    if (count <= 0) {
      ::close(fd);
      return Status::defect("cannot write the kernels to memory: ", std::strerror(errno));
    }
    done += size_t(count);
  }
  handle_ = ::dlopen(("/proc/self/fd/" + std::to_string(fd)).c_str(), RTLD_NOW | RTLD_LOCAL);
  std::string reason = handle_ ? "" : ::dlerror();
  ::close(fd);
  return handle_ ? Status::ok()
                 : Status::userError("cannot load the plan's kernels: ", reason,
                                     "; compile the model again");
}

Result<KernelFunction> KernelLibrary::find(const std::string &symbol) const {
  void *found = handle_ ? ::dlsym(handle_, symbol.c_str()) : nullptr;
  if (!found)
    return Status::userError("the plan's library has no kernel '", symbol,
                             "'; compile the model again");
  return reinterpret_cast<KernelFunction>(found);
}

} // namespace cleave::device
