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
    SaveOptions options{directory, 0, 1, [&](const Status &own) {
                          if (++barriers == atBarrier)
                            raise(SIGKILL);
                          return own;
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
  other.replace(other.find("\"format_version\": 2"), 19, "\"format_version\": 9");
  std::ofstream(path) << other;
  CHECK(Checkpoint::open(folder / "run")
            .status()
            .message()
            .find("found checkpoint format 9, expected 1 or 2") != std::string::npos);
}

// A saved checkpoint's index.json, and what opening it says after a change.
class SavedIndex {
public:
  SavedIndex() {
    REQUIRE(saveAll(folder_ / "run", {2}, {{"w", {10}, {{0}}}}, 1));
    std::ostringstream whole;
    whole << std::ifstream(path()).rdbuf();
    text = whole.str();
  }
  std::string messageFor(const std::string &changed) {
    std::ofstream(path()) << changed;
    return Checkpoint::open(folder_ / "run").status().message();
  }
  // The text in the format before checksums, with `from` replaced by `to`.
  std::string older(const std::string &from = "", const std::string &to = "") {
    std::string old = text;
    size_t comma = old.rfind(",\n \"sha256\""), end = old.rfind("\n}");
    old.erase(comma, end - comma);
    old.replace(old.find("\"format_version\": 2"), 19, "\"format_version\": 1");
    for (size_t at = 0; !from.empty() && (at = old.find(from, at)) != old.npos; at += to.size())
      old.replace(at, from.size(), to);
    return old;
  }
  std::string text;

private:
  std::string path() { return folder_ / "run/step-00000001/index.json"; }
  Folder folder_;
};

TEST_CASE("every changed bit of the index is detected") {
  SavedIndex index;
  for (size_t at = 0; at + 1 < index.text.size(); ++at)
    for (int bit : {0, 1, 4}) {
      std::string changed = index.text;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      std::string message = index.messageFor(changed);
      INFO("byte " << at << " of " << changed << ": " << message);
      REQUIRE((message.find("index.json is damaged") != std::string::npos ||
               message.find("found checkpoint format") != std::string::npos));
    }
  CHECK(index.messageFor(index.text).empty());
}

TEST_CASE("an index of the format before checksums is read, and its values are checked") {
  SavedIndex index;
  CHECK(index.messageFor(index.older()).empty());
  auto refused = [&](const char *from, const char *to, const char *reason) {
    std::string message = index.messageFor(index.older(from, to));
    INFO(message);
    CHECK(message.find("index.json is damaged (" + std::string(reason)) != std::string::npos);
  };
  refused("\"step\": 1", "\"step\": -5", "found step -5, expected 0 to 1000000000000");
  refused("\"step\": 1", "\"step\": 9223372036854775807", "found step 9223372036854775807, expe");
  for (std::string name : {"../x", "/etc/passwd", "..", "a/b", ""})
    refused("rank-00000.safetensors", name.c_str(),
            ("found the file name '" + name + "', expected a plain name").c_str());
  refused("\"shape\": [\n    10", "\"shape\": [\n    -10", "the shape [-10]");
  CHECK(index.messageFor(index.older("\"step\": 1", "\"step\": 2"))
            .find("is damaged: index.json is that of step 2, expected 1") != std::string::npos);
  CHECK(index.messageFor(std::string(100'000, '[')).find("index.json is damaged") !=
        std::string::npos);
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
