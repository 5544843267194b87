// The launcher with real processes: its outcome if a process fails, dies or hangs.
#include "runtime/launch/Launch.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace cleave;
using namespace cleave::launch;
using namespace std::chrono_literals;

static double secondsSince(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

// A rank that runs steps of one all_reduce each; calls `disturb` before each step.
template <typename Disturb>
static std::function<int(const RankEnvironment &, StepReporter &)>
training(int64_t steps, comm::Options options, Disturb disturb) {
  return [=](const RankEnvironment &environment, StepReporter &reporter) {
    auto run = [&]() -> Status {
      auto world = joinWorld(environment, options);
      CLEAVE_TRY(world.status());
      std::vector<int> everyone;
      for (int i = 0; i < environment.size; ++i)
        everyone.push_back(i);
      auto group = (*world)->connect(everyone);
      CLEAVE_TRY(group.status());
      for (int64_t step = 0; step < steps; ++step) {
        reporter.step(step);
        CLEAVE_TRY(disturb(environment.rank, step));
        float sum = 1;
        CLEAVE_TRY((*group)->allReduce(&sum, &sum, 1, DType::F32, comm::Reduce::Sum));
        if (sum != environment.size)
          return Status::defect("wrong sum");
      }
      return (*group)->barrier();
    };
    Status status = run();
    reporter.fail(status);
    return status.exitCode();
  };
}

static Status nothing(int, int64_t) { return Status::ok(); }

TEST_CASE("ranks on this machine connect, run their steps and end") {
  auto outcome = launchLocal(4, {}, training(20, {}, nothing));
  REQUIRE(outcome);
  CHECK(outcome->message == "");
  CHECK(outcome->exitCode == 0);
}

TEST_CASE("a killed rank ends the job within seconds, naming rank and step") {
  auto begun = std::chrono::steady_clock::now();
  auto outcome = launchLocal(3, {}, training(10, {}, [](int rank, int64_t step) {
                               if (rank == 1 && step == 4)
                                 raise(SIGKILL);
                               return Status::ok();
                             }));
  REQUIRE(outcome);
  CHECK(outcome->exitCode == 3);
  CHECK(outcome->message.find("rank 1 was ended by signal 9 (Killed) in step 4") == 0);
  CHECK(secondsSince(begun) < 30);
}

TEST_CASE("a hung rank ends the job after the timeout, naming rank and step") {
  auto begun = std::chrono::steady_clock::now();
  comm::Options options;
  options.timeout = 1s;
  LaunchOptions launch;
  launch.grace = 500ms;
  for (bool stopped : {false, true})
    DYNAMIC_SECTION((stopped ? "stopped" : "asleep")) {
      auto outcome = launchLocal(3, launch, training(10, options, [=](int rank, int64_t step) {
                                   if (rank == 2 && step == 3 && stopped)
                                     raise(SIGSTOP);
                                   if (rank == 2 && step == 3)
                                     std::this_thread::sleep_for(60s);
                                   return Status::ok();
                                 }));
      REQUIRE(outcome);
      CHECK(outcome->exitCode == 3);
      CHECK(outcome->message.find(
                "rank 2 (index 2 of the group of ranks 0, 1, 2) did not come to all_reduce") !=
            std::string::npos);
      CHECK(outcome->message.find("rank 2 was still running, in step 3, and was ended") !=
            std::string::npos);
      CHECK(secondsSince(begun) < 30);
    }
}

TEST_CASE("a rank's own failure is reported, not that others lost it") {
  auto outcome = launchLocal(3, {}, training(10, {}, [](int rank, int64_t step) {
                               return rank == 1 && step == 2
                                          ? Status::defect("two and two made five")
                                          : Status::ok();
                             }));
  REQUIRE(outcome);
  CHECK(outcome->exitCode == 4);
  CHECK(outcome->message == "rank 1, in step 2: two and two made five");
}

TEST_CASE("a user error is reported once, without a rank") {
  auto outcome = launchLocal(2, {}, [](const RankEnvironment &, StepReporter &reporter) {
    reporter.fail(Status::userError("no such file: text.bin"));
    return 1;
  });
  REQUIRE(outcome);
  CHECK(outcome->exitCode == 1);
  CHECK(outcome->message == "no such file: text.bin");
}

TEST_CASE("a crash and an exit without a report are distinguished") {
  auto crash = launchLocal(2, {}, training(3, {}, [](int rank, int64_t step) {
                             if (rank == 0 && step == 1)
                               signal(SIGSEGV, SIG_DFL),
                                   raise(SIGSEGV); // without the handler of the test framework
                             return Status::ok();
                           }));
  REQUIRE(crash);
  CHECK(crash->exitCode == 4);
  CHECK(crash->message == "rank 0 was ended by signal 11 (Segmentation fault) in step 1");
  auto silent = launchLocal(1, {}, [](const RankEnvironment &, StepReporter &) { return 7; });
  REQUIRE(silent);
  CHECK(silent->exitCode == 7);
  CHECK(silent->message == "rank 0 ended with exit code 7 before its first step");
}

TEST_CASE("a job in which no rank begins a step is ended after the stall timeout") {
  LaunchOptions options;
  options.stallTimeout = 1000ms;
  options.grace = 100ms;
  auto outcome = launchLocal(2, options, [](const RankEnvironment &, StepReporter &reporter) {
    reporter.step(5);
    std::this_thread::sleep_for(60s);
    return 0;
  });
  REQUIRE(outcome);
  CHECK(outcome->exitCode == 3);
  CHECK(outcome->message == "no rank began a step within 1 s; rank 0 was in step 5");
}

TEST_CASE("a hung rank for which no rank waits is detected by the steps of the others") {
  LaunchOptions options;
  options.timeout = 1000ms;
  options.grace = 100ms;
  auto begun = std::chrono::steady_clock::now();
  auto outcome =
      launchLocal(3, options, [](const RankEnvironment &environment, StepReporter &reporter) {
        for (int64_t step = 0; step < 600; ++step) {
          reporter.step(step);
          std::this_thread::sleep_for(environment.rank == 1 && step == 7 ? 60s : 100ms);
        }
        return 0;
      });
  REQUIRE(outcome);
  CHECK(outcome->exitCode == 3);
  CHECK(outcome->message ==
        "rank 1 has been in step 7 for more than 1 s while other ranks are in later steps");
  CHECK(secondsSince(begun) < 30);
}

TEST_CASE("steps can take longer than the lag timeout") {
  LaunchOptions options;
  options.timeout = 2000ms;
  auto outcome =
      launchLocal(2, options, [](const RankEnvironment &environment, StepReporter &reporter) {
        for (int64_t step = 0; step < 3; ++step) {
          std::this_thread::sleep_for(environment.rank == 1 && step > 0 ? 500ms : 0ms);
          reporter.step(step); // rank 1 later than rank 0, which is in the next step for a while
          std::this_thread::sleep_for(environment.rank == 1 && step > 0 ? 2000ms : 2500ms);
        }
        return 0;
      });
  REQUIRE(outcome);
  INFO(outcome->message);
  CHECK(outcome->exitCode == 0);
}

// Runs `body` in a process with a separate process group, like a shell; returns its id.
template <typename Body> static pid_t inChild(Body body) {
  pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    _exit(body());
  }
  setpgid(child, child);
  return child;
}

// A rank whose steps go on until it is asked to end; if it does not listen, for a minute.
static int stepsUntilAsked(StepReporter &reporter, bool listens) {
  for (int step = 0; step < 600 && !(listens && reporter.endingSignal()); ++step) {
    reporter.step(step);
    std::this_thread::sleep_for(100ms);
  }
  return 0;
}

TEST_CASE("the first Ctrl-C asks the ranks to end, the second one ends them") {
  const bool listens = GENERATE(true, false);
  pid_t child = inChild([&] {
    auto outcome = launchLocal(2, {.endsGently = true}, [&](const auto &, StepReporter &reporter) {
      return stepsUntilAsked(reporter, listens);
    });
    const bool isGentle = outcome->message.find("after step") != std::string::npos;
    return outcome->exitCode == 128 + SIGINT && !outcome->isRestartable && isGentle == listens &&
                   outcome->wasGentle == listens
               ? 0
               : 1;
  });
  std::this_thread::sleep_for(1s);
  auto begun = std::chrono::steady_clock::now();
  kill(-child, SIGINT);
  if (!listens) {
    std::this_thread::sleep_for(500ms);
    CHECK(waitpid(child, nullptr, WNOHANG) == 0);
    kill(-child, SIGINT);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(secondsSince(begun) < 30);
}

TEST_CASE("Ctrl-C ends all ranks cleanly") {
  pid_t child = inChild([] {
    auto outcome = launchLocal(2, {}, [](const RankEnvironment &, StepReporter &) {
      std::this_thread::sleep_for(60s);
      return 0;
    });
    return outcome ? outcome->exitCode : 99;
  });
  std::this_thread::sleep_for(1s);
  auto begun = std::chrono::steady_clock::now();
  kill(-child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WEXITSTATUS(status) == 128 + SIGINT);
  CHECK(secondsSince(begun) < 30);
  CHECK(kill(-child, 0) != 0); // the process group is empty
}

TEST_CASE("ranks die with a launcher that is killed") {
  pid_t child = inChild([] {
    auto outcome = launchLocal(2, {}, [](const RankEnvironment &, StepReporter &) {
      std::this_thread::sleep_for(60s);
      return 0;
    });
    return outcome ? outcome->exitCode : 99;
  });
  std::this_thread::sleep_for(1s);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  for (int i = 0; i < 1000 && kill(-child, 0) == 0; ++i)
    std::this_thread::sleep_for(20ms);
  // Orphans may still be zombies; none of them is alive.
  bool alive = false;
  if (kill(-child, 0) == 0) {
    std::string command = "ps -o stat= -g " + std::to_string(child) + " | grep -qv Z";
    alive = system(command.c_str()) == 0;
  }
  CHECK_FALSE(alive);
}

TEST_CASE("the outcome tells lost ranks, completed steps and the state of every rank") {
  auto lost = launchLocal(3, {}, training(10, {}, [](int rank, int64_t step) {
                            if (rank == 1 && step == 4)
                              raise(SIGKILL);
                            return Status::ok();
                          }));
  REQUIRE(lost);
  CHECK(lost->isRestartable);
  CHECK(lost->lostRanks == 1);
  CHECK(lost->hasCompletedStep);
  REQUIRE(lost->ranks.size() == 3);
  CHECK(lost->ranks[1].isLost);
  CHECK(lost->ranks[1].step == 4);
  CHECK(lost->ranks[1].ending == "ended by signal 9 (Killed)");
  CHECK_FALSE(lost->ranks[0].isLost);
  CHECK(lost->ranks[0].ending.find("failed: rank 1 ") == 0);
  auto failed = launchLocal(2, {}, [](const RankEnvironment &, StepReporter &reporter) {
    reporter.fail(Status::defect("two and two made five"));
    return 4;
  });
  REQUIRE(failed);
  CHECK_FALSE(failed->isRestartable);
  CHECK(failed->lostRanks == 0);
  CHECK_FALSE(failed->hasCompletedStep);
}

TEST_CASE("a single rank that is stopped is lost after the timeout") {
  LaunchOptions options;
  options.timeout = 1000ms;
  options.grace = 100ms;
  auto begun = std::chrono::steady_clock::now();
  auto outcome = launchLocal(1, options, [](const RankEnvironment &, StepReporter &reporter) {
    reporter.step(5);
    raise(SIGSTOP);
    return 0;
  });
  REQUIRE(outcome);
  CHECK(outcome->exitCode == 3);
  CHECK(outcome->message.find("rank 0 made no progress in step 5 for 1 s") == 0);
  CHECK(outcome->lostRanks == 1);
  CHECK(secondsSince(begun) < 30);
}
