// Regular files, mapped files that become shorter, and the place of external files.
#include "runtime/base/ExternalFile.h"
#include "runtime/base/MappedFile.h"
#include "runtime/base/RegularFile.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace cleave;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

struct Folder {
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "cleave-reading-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~Folder() { fs::remove_all(path); }
  fs::path write(const std::string &name, const std::string &content) const {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name, std::ios::binary) << content;
    return path / name;
  }
  fs::path path;
};

// What a child process that runs `work` prints to standard error, and how it ends.
struct Ended {
  int status;
  std::string text;
};

template <typename Work> Ended inChild(const fs::path &output, Work work) {
  pid_t child = ::fork();
  if (child == 0) {
    if (!std::freopen(output.c_str(), "w", stderr))
      ::_exit(99);
    work();
    ::_exit(0);
  }
  Ended ended;
  ::waitpid(child, &ended.status, 0);
  ended.text = *readRegularFile(output);
  return ended;
}

} // namespace

TEST_CASE("a regular file is read whole; pipes, devices and folders are refused at once") {
  Folder folder;
  CHECK(*readRegularFile(folder.write("a", "text")) == "text");
  CHECK(readRegularFile(folder.write("empty", ""))->empty());
  CHECK_THAT(readRegularFile(folder.write("a", "text"), 3).status().message(),
             Contains("it has 4 bytes, expected at most 3"));
  CHECK_THAT(readRegularFile(folder.path / "none").status().message(),
             Contains("No such file or directory"));
  REQUIRE(::mkfifo((folder.path / "pipe").c_str(), 0600) == 0);
  for (const auto &[path, kind] :
       {std::pair(folder.path / "pipe", "a pipe"), std::pair(fs::path("/dev/zero"), "a device"),
        std::pair(folder.path, "a folder")}) {
    Status status = MappedFile::open(path).status();
    CHECK(status.kind() == StatusKind::UserError);
    CHECK_THAT(status.message(), Contains(path.string()) && Contains(kind));
    CHECK(readRegularFile(path).status().message() == status.message());
  }
}

TEST_CASE("a file that is truncated while it is mapped ends the process with a message") {
  Folder folder;
  fs::path path = folder.write("weights.bin", std::string(1 << 20, 'x'));
  Ended ended = inChild(folder.path / "stderr", [&] {
    std::signal(SIGBUS, SIG_DFL); // instead of the handler of the test framework
    auto file = MappedFile::open(path);
    fs::resize_file(path, 4096);
    volatile unsigned char lost = (*file)->data()[500'000];
    (void)lost;
  });
  REQUIRE(WIFEXITED(ended.status));
  CHECK(WEXITSTATUS(ended.status) == 1);
  CHECK_THAT(ended.text, Contains("error: '" + path.string() + "' has become shorter"));
}

TEST_CASE("a SIGBUS with another cause keeps its meaning, also at the place of an old mapping") {
  Folder folder;
  fs::path path = folder.write("weights.bin", std::string(1 << 16, 'x'));
  Ended ended = inChild(folder.path / "stderr", [&] {
    std::signal(SIGBUS, SIG_DFL);
    REQUIRE(MappedFile::open(path)); // mapped and unmapped again
    ::raise(SIGBUS);
    ::raise(SIGBUS); // the first only restores the previous handler
  });
  REQUIRE(WIFSIGNALED(ended.status));
  CHECK(WTERMSIG(ended.status) == SIGBUS);
}

TEST_CASE("external files lie in the model's folder") {
  Folder folder;
  fs::path model = folder.write("model/m.onnx", "m"), data = folder.write("model/sub/w", "w");
  folder.write("secret", "s");
  CHECK(*findExternalFile(model, "sub/w") == data.string());
  CHECK(findExternalFile(model, "does-not-exist")); // reading it reports that
  for (const char *outside : {"../secret", "sub/../../secret", "/etc/passwd"})
    CHECK_THAT(findExternalFile(model, outside).status().message(),
               Contains("lies outside the model's folder"));
  fs::create_symlink("../secret", folder.path / "model/link");
  CHECK_THAT(findExternalFile(model, "link").status().message(),
             Contains("is a link to") && Contains("secret") && Contains("replace the link"));
  fs::create_directory_symlink("..", folder.path / "model/up");
  CHECK_FALSE(findExternalFile(model, "up/secret"));
  fs::create_symlink("sub/w", folder.path / "model/inside");
  CHECK(findExternalFile(model, "inside"));
}

TEST_CASE("a cache that links model and data into one folder is understood") {
  Folder folder;
  folder.write("blobs/1a", "model");
  folder.write("blobs/2b", "data");
  fs::path snapshot = folder.path / "snapshots/7";
  fs::create_directories(snapshot);
  fs::create_symlink("../../blobs/1a", snapshot / "model.onnx");
  fs::create_symlink("../../blobs/2b", snapshot / "model.onnx.data");
  CHECK(findExternalFile(snapshot / "model.onnx", "model.onnx.data"));
  folder.write("elsewhere", "x");
  fs::create_symlink("../../elsewhere", snapshot / "other.data");
  CHECK_FALSE(findExternalFile(snapshot / "model.onnx", "other.data"));
}
