// Common parts of the targets. See Targets.h.
#include "test/fuzz/Targets.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace cleave::fuzz {

void mustBeTheirs(const Status &status) {
  if (status.isOk() || status.kind() != StatusKind::Defect)
    return;
  std::fprintf(stderr, "a defect was reported: %s\n", status.message().c_str());
  std::abort();
}

namespace {
struct Folder {
  std::filesystem::path path;

  Folder() {
    std::filesystem::path memory = "/dev/shm";
    if (!std::filesystem::exists(memory))
      memory = std::filesystem::temp_directory_path();
    path = memory / ("cleave-fuzz-" + std::to_string(::getpid()));
    std::filesystem::create_directories(path);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};
} // namespace

std::string asFile(const std::string &name, std::string_view bytes) {
  static Folder folder;
  std::filesystem::path path = folder.path / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path.string();
}

} // namespace cleave::fuzz
