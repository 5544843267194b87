// fuzz-replay CORPUS: runs each file of CORPUS/TARGET/ through its target, with limits on memory
// and time, and prints the number of files.
#include "test/fuzz/Targets.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

using namespace cleave;

namespace {

struct Target {
  const char *name;
  void (*run)(std::string_view);
};
const Target kTargets[] = {
    {"archive", fuzz::archive}, {"checkpoint", fuzz::checkpoint},
    {"cluster", fuzz::cluster}, {"image", fuzz::image},
    {"npy", fuzz::npy},         {"npz", fuzz::npz},
    {"onnx", fuzz::onnx},       {"options", fuzz::options},
    {"pickle", fuzz::pickle},   {"pins", fuzz::pins},
    {"plan", fuzz::plan},       {"program", fuzz::program},
    {"pt2", fuzz::pt2},         {"safetensors", fuzz::safetensors},
    {"solver", fuzz::solver},   {"source", fuzz::source},
    {"tar", fuzz::tar},         {"torchscript", fuzz::torchscript},
    {"weights", fuzz::weights},
};

constexpr unsigned kSecondsPerInput = 300;
// Limit of the address space; libraries use most of it. The address sanitizer reserves terabytes.
#ifdef __SANITIZE_ADDRESS__
constexpr rlim_t kBytes = RLIM_INFINITY;
#else
constexpr rlim_t kBytes = rlim_t(4) << 30;
#endif

std::vector<std::filesystem::path> inputsOf(const std::filesystem::path &folder) {
  std::vector<std::filesystem::path> files;
  if (std::filesystem::is_directory(folder))
    for (const auto &entry : std::filesystem::directory_iterator(folder))
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fuzz-replay CORPUS\n");
    return 2;
  }
  rlimit limit{kBytes, kBytes};
  setrlimit(RLIMIT_AS, &limit);
  int failures = 0;
  for (const Target &target : kTargets) {
    std::vector<std::filesystem::path> files =
        inputsOf(std::filesystem::path(argv[1]) / target.name);
    for (const std::filesystem::path &path : files) {
      std::ifstream file(path, std::ios::binary);
      std::string bytes{std::istreambuf_iterator<char>(file), {}};
      std::printf("%s\n", path.c_str()); // the last line of a run that crashes
      std::fflush(stdout);
      alarm(kSecondsPerInput);
      target.run(bytes);
    }
    std::printf("%s: %zu inputs\n", target.name, files.size());
    failures += files.empty();
  }
  if (failures)
    std::fprintf(stderr, "%d targets have no inputs under %s\n", failures, argv[1]);
  return failures != 0;
}
