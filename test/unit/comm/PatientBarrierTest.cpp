// The barrier of slow sections: who is waited for, and who is lost.
#include "runtime/comm/PatientBarrier.h"
#include "Ranks.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

using namespace cleave;
using namespace cleave::comm;
using namespace std::chrono_literals;

static double elapsedSince(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

// Waits in short sleeps, as a thread does whose storage is slow but answers.
static void workSlowly(std::chrono::milliseconds time) {
  auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(20ms);
}

TEST_CASE("a slow rank is waited for as long as it makes progress") {
  Options options;
  options.timeout = 1s;
  for (const std::string &implementation : implementations())
    for (int slow : {0, 2})
      DYNAMIC_SECTION(implementation << ", rank " << slow << " is slow") {
        CHECK(runRanks(
                  implementation, 3,
                  [=](World &world, Findings &findings) {
                    auto group = world.connect(firstRanks(3));
                    PatientBarrier barrier(world, **group, 1s);
                    if (world.rank() == slow)
                      workSlowly(2000ms);
                    findings.expectOk(barrier.wait("saving"), "a slow rank");
                  },
                  options) == "");
      }
}

TEST_CASE("a rank without progress is lost after the timeout, and named with what it did") {
  Options options;
  options.timeout = 1s;
  for (const std::string &implementation : implementations())
    for (int silent : {0, 2})
      DYNAMIC_SECTION(implementation << ", rank " << silent << " is silent") {
        CHECK(runRanks(
                  implementation, 3,
                  [=](World &world, Findings &findings) {
                    auto group = world.connect(firstRanks(3));
                    PatientBarrier barrier(world, **group, 1s);
                    findings.expectOk(barrier.wait("loading"), "all are there");
                    if (world.rank() == silent) {
                      std::this_thread::sleep_for(5s);
                      return;
                    }
                    auto begun = std::chrono::steady_clock::now();
                    Status status = barrier.wait("saving");
                    std::string wanted =
                        concat("rank ", silent, " made no progress while saving for 1 s");
                    findings.expect(status.kind() == StatusKind::Lost &&
                                        status.message().find(wanted) == 0,
                                    "found: " + status.message());
                    double seconds = elapsedSince(begun);
                    findings.expect(seconds > 0.9 && seconds < 4.5, concat("took ", seconds));
                    std::this_thread::sleep_for(500ms); // so that the others do not miss this rank
                  },
                  options) == "");
      }
}

TEST_CASE("a rank of this machine that has ended is lost at once") {
  for (const std::string implementation : {"local", "shm"})
    DYNAMIC_SECTION(implementation) {
      CHECK(runRanks(implementation, 3, [](World &world, Findings &findings) {
              auto group = world.connect(firstRanks(3));
              PatientBarrier barrier(world, **group, 60s);
              findings.expectOk(barrier.wait("loading"), "all are there");
              if (world.rank() == 1)
                return;
              auto begun = std::chrono::steady_clock::now();
              Status status = barrier.wait("saving");
              findings.expect(status.message().find("rank 1 ended while") == 0, status.message());
              findings.expect(elapsedSince(begun) < 30, "took too long");
              std::this_thread::sleep_for(1s);
            }) == "");
    }
}

TEST_CASE("a single rank waits for nobody, and its progress is reported") {
  std::atomic<uint64_t> reported{0};
  CHECK(runRanks("local", 1, [&](World &world, Findings &findings) {
          auto group = world.connect({0});
          PatientBarrier barrier(world, **group, 1s, [&](uint64_t time) { reported = time; });
          findings.expectOk(barrier.wait("loading"), "alone");
          workSlowly(500ms);
        }) == "");
  CHECK(reported > 0);
}
