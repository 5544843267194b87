// FileWriter: files are written as a whole or not at all.
#include "runtime/base/FileWriter.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace cleave;
namespace fs = std::filesystem;

static std::string contentOf(const fs::path &path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST_CASE("an unpublished file leaves the previous file unchanged and no temporary file") {
  fs::path folder = fs::temp_directory_path() / ("file-writer-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::string path = folder / "a";
  for (const char *text : {"first", "second"}) {
    FileWriter file(path);
    REQUIRE(file.write(text));
    REQUIRE(file.publish());
  }
  {
    FileWriter file(path);
    REQUIRE(file.write("third"));
  }
  CHECK(contentOf(path) == "second");
  CHECK(std::distance(fs::directory_iterator(folder), {}) == 1);
  FileWriter nowhere(folder / "none/a");
  CHECK_THAT(nowhere.write("x").message(), Catch::StartsWith("cannot write '"));
  FileWriter overFolder(folder);
  REQUIRE(overFolder.write("x"));
  CHECK_THAT(overFolder.publish().message(), Catch::StartsWith("cannot write '"));
  fs::remove_all(folder);
}

TEST_CASE("a path that is not a regular file is written directly") {
  FileWriter file("/dev/null");
  REQUIRE(file.write("x"));
  REQUIRE(file.publish());
  struct stat status;
  REQUIRE(::stat("/dev/null", &status) == 0);
  CHECK(S_ISCHR(status.st_mode));
}
