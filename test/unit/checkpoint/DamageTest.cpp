// Interrupted saves and damaged files.
#include "Job.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace cleave;
using namespace cleave::checkpoint;
namespace fs = std::filesystem;

static const std::vector<Sharded> kOne{{"w", {1000}, {{}}}};

// Saves step 2 in a process that is killed when it enters its barrier number `atBarrier`.
static void saveAndDie(const std::string &directory, int atBarrier) {
  pid_t child = fork();
  if (child == 0) {
    int barriers = 0;
    std::vector<float> values = valuesOf(kOne[0], {{0}, {1000}}, 2);
    SaveOptions options{directory, 0, 1, [&] {
                          if (++barriers == atBarrier)
                            raise(SIGKILL);
                          return Status::ok();
                        }};
    Status status = save(options, {{"w", DType::F32, {1000}, {0}, {1000}, values.data()}}, {2, {}});
    _exit(status ? 0 : 1);
  }
  waitpid(child, nullptr, 0);
}

TEST_CASE("a save that is killed between its parts leaves the previous checkpoint, and the next "
          "one cleans up") {
  for (int barrier : {1, 2}) {
    Folder folder;
    REQUIRE(saveAll(folder / "run", {1}, kOne, 1));
    saveAndDie(folder / "run", barrier);
    CHECK(fs::exists(folder / "run/.step-00000002.tmp"));
    CHECK(loadAll(folder / "run", {1}, kOne, 1) == "");
    REQUIRE(saveAll(folder / "run", {1}, kOne, 3));
    CHECK_FALSE(fs::exists(folder / "run/.step-00000002.tmp"));
    CHECK(loadAll(folder / "run", {1}, kOne, 3) == "");
  }
}

TEST_CASE(
    "a process that saves all the time and is killed at any moment leaves a whole checkpoint") {
  Folder folder;
  const std::vector<Sharded> tensors{{"w", {300, 300}, {{}, {}}}, {"b", {100}, {{}}}};
  REQUIRE(saveAll(folder / "run", {1}, tensors, 1));
  for (int round = 0; round < 12; ++round) {
    pid_t child = fork();
    if (child == 0) {
      for (int64_t step = 2;; ++step) { // one process, so that no other rank outlives it
        std::vector<std::vector<float>> values;
        std::vector<Slice> slices;
        for (const Sharded &tensor : tensors) {
          std::vector<int64_t> origin(tensor.shape.size(), 0);
          values.push_back(valuesOf(tensor, {origin, tensor.shape}, step % 50));
          slices.push_back(
              {tensor.name, DType::F32, tensor.shape, origin, tensor.shape, values.back().data()});
        }
        if (!save({folder / "run", 0, 1}, slices, {step % 50, {}}))
          _exit(1);
      }
    }
    usleep(20'000 + round * 3'777);
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));
    auto checkpoint = Checkpoint::open(folder / "run");
    INFO(checkpoint.status().message());
    REQUIRE(checkpoint);
    CHECK(loadAll(folder / "run", {1}, tensors, (*checkpoint)->progress().step) == "");
  }
}

TEST_CASE("a missing, short or changed shard is named") {
  std::string shard = "run/step-00000001/rank-00001.safetensors";
  std::vector<Sharded> tensors{{"w", {1000}, {{0}}}};
  auto damaged = [&](const std::function<void(const std::string &)> &damage) {
    Folder folder;
    REQUIRE(saveAll(folder / "run", {2}, tensors, 1));
    damage(folder / shard);
    std::string message = loadAll(folder / "run", {1}, tensors, 1),
                prefix = "checkpoint " + (folder / "run/step-00000001");
    REQUIRE(message.rfind(prefix, 0) == 0);
    return message.substr(prefix.size());
  };
  CHECK(damaged([](const std::string &path) { fs::remove(path); }) ==
        " lacks rank-00001.safetensors: No such file or directory");
  std::string shorter = damaged([](const std::string &path) { fs::resize_file(path, 1000); });
  CHECK(shorter.rfind(" is damaged: rank-00001.safetensors has 1000 bytes, expected ", 0) == 0);
  CHECK(damaged([](const std::string &path) {
          std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
          file.seekp(-10, std::ios::end);
          file.put('!');
        }) == " is damaged: the data of `w` in rank-00001.safetensors have changed since they were "
              "written");
}

TEST_CASE("a damaged index is rejected") {
  Folder folder;
  REQUIRE(saveAll(folder / "run", {2}, {{"w", {10}, {{0}}}}, 1));
  std::string path = folder / "run/step-00000001/index.json";
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  std::string whole = text.str();
  for (size_t size = 0; size + 1 < whole.size(); size += 7) {
    std::ofstream(path) << whole.substr(0, size);
    auto checkpoint = Checkpoint::open(folder / "run");
    CHECK(checkpoint.status().message().find("index.json is damaged") != std::string::npos);
  }
  std::string other = whole;
  other.replace(other.find("\"format_version\": 1"), 19, "\"format_version\": 9");
  std::ofstream(path) << other;
  CHECK(Checkpoint::open(folder / "run")
            .status()
            .message()
            .find("found checkpoint format 9, expected 1") != std::string::npos);
}

TEST_CASE("a checkpoint whose slices leave a hole or overlap is rejected") {
  Folder folder;
  std::vector<float> values(10);
  auto slice = [&](int64_t offset, int64_t size) {
    return Slice{"w", DType::F32, {10}, {offset}, {size}, values.data()};
  };
  SaveOptions options{folder / "run"};
  CHECK(save(options, {slice(0, 6)}, {}).message().find("hold 6 of its 10 elements") !=
        std::string::npos);
  CHECK(Checkpoint::open(folder / "run").status().message() ==
        "found no complete checkpoint in " + (folder / "run"));
}

TEST_CASE("a folder that cannot be written is a user error") {
  Folder folder;
  std::ofstream(folder / "file") << "x";
  Status status = saveAll(folder / "file", {1}, kOne, 1);
  CHECK(status.kind() == StatusKind::UserError);
  CHECK(status.message().find("could not create the folder") != std::string::npos);
}
