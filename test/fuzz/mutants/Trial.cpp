// See Trial.h. The child ends at the first failure of a rank, while others may wait for it.
#include "test/fuzz/mutants/Trial.h"

#include "runtime/artifact/Artifact.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/artifact/Verify.h"
#include "runtime/comm/local/LocalWorld.h"
#include "runtime/data/DataSource.h"
#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/executor/Executor.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace cleave::fuzz {
namespace {

constexpr int kRefused = 10; // exit code of the child; others are those of the tools
constexpr size_t kMostText = 1 << 13;

[[noreturn]] void end(int code, const std::string &message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::fflush(stderr);
  ::_exit(code);
}

Status runRank(const plan::Plan &plan, comm::World &world, const data::DataSource *data,
               int64_t steps) {
  executor::ExecutorOptions options;
  options.checked = true;
  options.keepOutputs = true;
  CLEAVE_TRY_ASSIGN(auto executor, executor::Executor::create(plan, world, device::makeCpuDevice(1),
                                                              data, options));
  for (int64_t step = 0; step < steps; ++step)
    CLEAVE_TRY(executor->step(step));
  return Status::ok();
}

Status runRanks(const plan::Plan &plan, const TrialOptions &options) {
  std::unique_ptr<data::DataSource> data;
  if (std::vector<data::InputDescription> inputs = executor::inputsOf(plan); !inputs.empty()) {
    data::DataOptions from{{options.data}, {}, executor::slotsOf(plan), plan.trains()};
    CLEAVE_TRY_ASSIGN(data, data::DataSource::open(from, inputs));
  }
  size_t ranks = artifact::rankCount(plan);
  if (ranks > 64)
    return Status::userError("the plan is for ", ranks, " ranks");
  auto worlds = comm::makeLocalWorlds(int(ranks));
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      if (Status status = runRank(plan, *worlds[rank], data.get(), options.steps); !status)
        end(status.exitCode(), status.message());
    });
  for (std::thread &thread : threads)
    thread.join();
  return Status::ok();
}

[[noreturn]] void runChild(const plan::Plan &plan, const TrialOptions &options) {
  Result<std::string> bytes = artifact::serializePlan(plan);
  if (!bytes)
    end(kRefused, bytes.status().message());
  Result<plan::Plan> read = artifact::parsePlan(*bytes, "mutant");
  if (!read)
    end(kRefused, read.status().message());
  if (Status status = artifact::verifyPlan(*read); !status)
    end(kRefused, status.message());
  Status status = runRanks(*read, options);
  end(status.exitCode(), status.message());
}

// Waits for the child; kills it at the limit. Returns its status of wait(), or nothing at the
// limit.
std::optional<int> await(pid_t child, int seconds) {
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return std::nullopt;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return status;
}

Outcome outcomeOf(std::optional<int> status) {
  if (!status)
    return Outcome::TimedOut;
  if (!WIFEXITED(*status))
    return Outcome::Signal;
  switch (WEXITSTATUS(*status)) {
  case 0:
    return Outcome::Ran;
  case kRefused:
    return Outcome::Refused;
  case int(StatusKind::UserError):
  case int(StatusKind::Lost):
    return Outcome::Message;
  case int(StatusKind::Defect):
    return Outcome::Defect;
  }
  return Outcome::Signal; // the exit code of a sanitizer
}

} // namespace

const char *nameOf(Outcome outcome) {
  const char *const names[] = {"refused", "message", "ran", "defect", "signal", "timed out"};
  return names[int(outcome)];
}

Trial tryPlan(const plan::Plan &plan, const TrialOptions &options) {
  int text = ::memfd_create("stderr", 0);
  pid_t child = ::fork();
  if (child == 0) {
    ::dup2(text, STDOUT_FILENO);
    ::dup2(text, STDERR_FILENO);
    runChild(plan, options);
  }
  Trial trial{outcomeOf(await(child, options.secondsLimit)), std::string(kMostText, '\0')};
  ssize_t size = ::pread(text, trial.text.data(), kMostText, 0);
  trial.text.resize(size < 0 ? 0 : size_t(size));
  ::close(text);
  return trial;
}

} // namespace cleave::fuzz
