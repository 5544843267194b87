// Save folders: one job at a time, failed saves, and which checkpoints stay.
#include "Job.h"

#include "runtime/checkpoint/Best.h"
#include "runtime/checkpoint/FolderLock.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <csignal>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace cleave;
using namespace cleave::checkpoint;
namespace fs = std::filesystem;

static const std::vector<Sharded> kOneRank{{"w", {3}, {{0}}}};

// The names in a folder, in order.
static std::vector<std::string> namesIn(const std::string &folder) {
  std::vector<std::string> names;
  for (const auto &entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

// Saves as the only rank.
static Status saveStep(const std::string &folder, int64_t step, int keep, bool isFinite = true) {
  std::vector<float> values{1, 2, 3};
  SaveOptions options{.directory = folder, .keep = keep};
  return save(options, {{"w", DType::F32, {3}, {0}, {3}, values.data()}},
              {.step = step, .isFinite = isFinite});
}

TEST_CASE("a second job is refused with the folder, the host and the process of the first one") {
  Folder folder;
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  {
    auto first = FolderLock::acquire(folder / "run");
    REQUIRE(first);
    CHECK((*first)->isHeld());
    CHECK(FolderLock::acquire(folder / "run", std::chrono::milliseconds(50)).status().message() ==
          concat("another job saves into '", folder / "run", "': process ", getpid(), " on host ",
                 host, "; wait for its end, or save to another folder"));
    CHECK(FolderLock::acquire(folder / "other"));
  }
  CHECK(namesIn(folder / "run").empty());
  CHECK(FolderLock::acquire(folder / "run"));
}

TEST_CASE("the death of its owner releases a folder, and what it left is removed") {
  Folder folder;
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  pid_t child = fork();
  if (child == 0) {
    auto lock = FolderLock::acquire(folder / "run");
    bool isWritten = lock && write(ready[1], "x", 1) == 1;
    pause();
    _exit(isWritten ? 0 : 1);
  }
  char byte;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  fs::create_directories(folder / "run/.step-00000007.tmp/inside");
  CHECK(FolderLock::acquire(folder / "run")
            .status()
            .message()
            .find(concat("process ", child, " on host")) != std::string::npos);
  CHECK(fs::exists(folder / "run/.step-00000007.tmp"));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  auto lock = FolderLock::acquire(folder / "run");
  CHECK(lock);
  CHECK(namesIn(folder / "run") == std::vector<std::string>{".lock"});
}

TEST_CASE("a rank that cannot write is named on all ranks, and the folder stays as it was") {
  Folder folder;
  std::string run = folder / "run";
  REQUIRE(saveAll(run, {1}, kOneRank, 1));
  std::vector<std::unique_ptr<comm::World>> worlds = comm::makeLocalWorlds(2);
  std::vector<Status> statuses(2);
  std::vector<std::thread> threads;
  for (int rank : {0, 1})
    threads.emplace_back([&, rank] {
      auto group = worlds[size_t(rank)]->connect({0, 1});
      int calls = 0;
      SaveOptions options{.directory = run, .rank = rank, .size = 2};
      options.agree = [&](const Status &own) {
        Status status = agree(**group, own);
        if (++calls == 1 && rank == 1) // a folder in the place of its file
          fs::create_directories(run + "/.step-00000002.tmp/rank-00001.safetensors/x");
        return status;
      };
      float value = float(rank);
      statuses[size_t(rank)] =
          save(options, {{"w", DType::F32, {2}, {rank}, {1}, &value}}, {.step = 2});
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(statuses[0].message() == "checkpoint " + run + "/step-00000002: rank 1 failed");
  CHECK(statuses[1].message().find("rank-00001.safetensors': Is a directory") != std::string::npos);
  CHECK(namesIn(run) == std::vector<std::string>{"step-00000001"});
  CHECK(saveStep(run, 2, 1));
}

TEST_CASE("the newest finite checkpoint stays, and is the one to resume from") {
  Folder folder;
  std::string run = folder / "run";
  for (int64_t step : {1, 2, 3})
    REQUIRE(saveStep(run, step, 2, step < 3));
  CHECK(namesIn(run) == std::vector<std::string>{"step-00000002", "step-00000003"});
  for (int64_t step : {4, 5})
    REQUIRE(saveStep(run, step, 2, false));
  CHECK(namesIn(run) ==
        std::vector<std::string>{"step-00000002", "step-00000004", "step-00000005"});
  CHECK((*Checkpoint::open(run))->progress().step == 2);
  CHECK_FALSE((*Checkpoint::open(run + "/step-00000005"))->progress().isFinite);
  CHECK(checkSaveFolder(run, run + "/step-00000002"));
  CHECK_FALSE(checkSaveFolder(run, run + "/step-00000005"));
  REQUIRE(saveStep(run, 3, 2)); // the later steps are abandoned
  CHECK(namesIn(run) == std::vector<std::string>{"step-00000002", "step-00000003"});
}

TEST_CASE("a value that is not finite is refused, or marks the checkpoint") {
  Folder folder;
  std::string run = folder / "run";
  REQUIRE(saveStep(run, 1, 2));
  std::vector<float> values{1, INFINITY, 3}, nans{1, 2, NAN};
  SaveOptions options{.directory = run, .keep = 1, .refusesNotFinite = true};
  for (const std::vector<float> &bad : {values, nans}) {
    std::vector<Slice> slices{{"w", DType::F32, {3}, {0}, {3}, bad.data()}};
    options.refusesNotFinite = true;
    CHECK(save(options, slices, {.step = 2}).message() ==
          "checkpoint " + run + "/step-00000002: 'w' has values that are infinite or not numbers");
    CHECK(namesIn(run) == std::vector<std::string>{"step-00000001"});
    options.refusesNotFinite = false;
    REQUIRE(save(options, slices, {.step = 2}));
    CHECK_FALSE((*Checkpoint::open(run + "/step-00000002"))->progress().isFinite);
    CHECK((*Checkpoint::open(run))->progress().step == 1);
    fs::remove_all(run + "/step-00000002");
  }
  std::vector<double> wide{0, -INFINITY};
  std::vector<uint16_t> half{0x7bff, 0x7c00}, brain{0x7f7f, 0x7f80};
  for (auto [dtype, data] : {std::pair<DType, const void *>{DType::F64, wide.data()},
                             {DType::F16, half.data()},
                             {DType::BF16, brain.data()}})
    for (int64_t count : {1, 2}) {
      options.refusesNotFinite = true;
      Status status = save(options, {{"w", dtype, {count}, {0}, {count}, data}}, {.step = 3});
      CHECK(status.isOk() == (count == 1));
    }
}

TEST_CASE("without a finite checkpoint, the newest one is opened") {
  Folder folder;
  for (int64_t step : {1, 2})
    REQUIRE(saveStep(folder / "run", step, 2, false));
  CHECK((*Checkpoint::open(folder / "run"))->progress().step == 2);
}

TEST_CASE("the best checkpoint stays until there is a better one") {
  Folder folder;
  const std::string run = folder / "run";
  CHECK_FALSE(bestIn(run));
  CHECK_THAT(bestCheckpoint(run).status().message(), Catch::Contains("no best checkpoint"));
  REQUIRE(saveStep(run, 1, 1));
  REQUIRE(writeBest(run, {1, "eval_loss", 0.5}));
  REQUIRE(saveStep(run, 2, 1));
  REQUIRE(saveStep(run, 3, 1));
  CHECK(namesIn(run) == std::vector<std::string>{"best.json", "step-00000001", "step-00000003"});
  REQUIRE(bestIn(run));
  CHECK(bestIn(run)->value == 0.5);
  CHECK(*bestCheckpoint(run) == run + "/step-00000001");
  REQUIRE(writeBest(run, {3, "eval_loss", 0.25}));
  REQUIRE(saveStep(run, 4, 1));
  CHECK(namesIn(run) == std::vector<std::string>{"best.json", "step-00000003", "step-00000004"});
  SECTION("a run that begins again before it has no best one") {
    REQUIRE(saveStep(run, 2, 1));
    CHECK_FALSE(bestIn(run));
  }
  SECTION("a damaged note is none") {
    std::ofstream(run + "/best.json") << "{";
    CHECK_FALSE(bestIn(run));
  }
}
