// FileWriter: files are written as a whole or not at all.
#include "runtime/base/FileWriter.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
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

TEST_CASE("temporary files of dead writers are removed, those of living ones stay") {
  fs::path folder = fs::temp_directory_path() / ("file-writer-dead-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::string path = folder / "p.plan";
  pid_t child = ::fork();
  if (child == 0) {
    FileWriter file(path);
    ::_exit(file.write("half") ? 0 : 1); // without the destructor
  }
  ::waitpid(child, nullptr, 0);
  std::string dead = path + ".partial." + std::to_string(child);
  REQUIRE(fs::exists(dead));
  std::ofstream(path + ".partial.notes") << "the user's";
  {
    FileWriter first(path), second(path);
    REQUIRE(first.write("first"));
    CHECK_FALSE(fs::exists(dead));
    REQUIRE(second.write("second"));
    REQUIRE(first.publish());
    CHECK(contentOf(path) == "first");
    REQUIRE(second.publish());
    CHECK(contentOf(path) == "second");
  }
  CHECK(fs::exists(path + ".partial.notes"));
  CHECK(std::distance(fs::directory_iterator(folder), {}) == 2);
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
