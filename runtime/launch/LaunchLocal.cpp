// Starting ranks on this machine, watching them, and saying why a job ended.
#include "runtime/comm/TcpStore.h"
#include "runtime/launch/Launch.h"
#include "runtime/launch/RankSlot.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace cleave::launch {
namespace {

using Clock = std::chrono::steady_clock;

// The processes of one job.
class Job {
public:
  Job(int ranks, const LaunchOptions &options) : options(options), ranks(ranks) {}
  ~Job();
  Status start(const std::function<int(const RankEnvironment &, StepReporter &)> &main);
  LaunchOutcome watch();

private:
  struct Rank {
    pid_t process = 0;
    bool running = false;
    bool endedByUs = false;
    int waitStatus = 0;
    int64_t behindIn = -1; // the step in which others have overtaken it, and when that was seen
    Clock::time_point behindSince;
  };

  [[noreturn]] void
  runRank(int rank, int port, int socket, pid_t parent,
          const std::function<int(const RankEnvironment &, StepReporter &)> &main);
  void reap();
  void kill(int signal);
  bool anyRunning() const;
  bool anyFailed() const;
  bool stalled() const;
  int laggard();
  LaunchOutcome outcome() const;
  LaunchOutcome crashOf(int rank) const;
  std::string stepOf(int rank) const;
  std::string hungRanks() const;

  LaunchOptions options;
  std::vector<Rank> ranks;
  RankSlot *slots = nullptr;
  sigset_t watched, before;
  int signal = 0; // that ended the job
  bool stall = false;
  int late = -1; // the rank that stayed behind the others
  Clock::time_point begun = Clock::now();
};

Job::~Job() {
  kill(SIGKILL);
  for (Rank &rank : ranks)
    if (rank.running)
      waitpid(rank.process, nullptr, 0);
  if (slots) {
    munmap(slots, ranks.size() * sizeof(RankSlot));
    sigprocmask(SIG_SETMASK, &before, nullptr);
  }
}

Status Job::start(const std::function<int(const RankEnvironment &, StepReporter &)> &main) {
  auto socket = comm::bindLoopback();
  CLEAVE_TRY(socket.status());
  void *memory = mmap(nullptr, ranks.size() * sizeof(RankSlot), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return Status::lost(std::string("could not get memory to watch ranks: ") + strerror(errno));
  slots = static_cast<RankSlot *>(memory);
  for (size_t i = 0; i < ranks.size(); ++i)
    slots[i].step = -1;
  sigemptyset(&watched);
  sigaddset(&watched, SIGCHLD);
  for (int watchedSignal : {SIGINT, SIGTERM, SIGHUP}) { // but what nohup ignores stays ignored
    struct sigaction action;
    sigaction(watchedSignal, nullptr, &action);
    if (action.sa_handler != SIG_IGN)
      sigaddset(&watched, watchedSignal);
  }
  sigprocmask(SIG_BLOCK, &watched, &before);
  fflush(nullptr); // or every rank would write what is still waiting
  pid_t parent = getpid();
  for (size_t i = 0; i < ranks.size(); ++i) {
    pid_t process = fork();
    if (process == 0)
      runRank(static_cast<int>(i), socket->port, socket->descriptor, parent, main);
    if (process < 0)
      return Status::lost("could not start rank " + std::to_string(i) + ": " + strerror(errno));
    ranks[i].process = process;
    ranks[i].running = true;
  }
  close(socket->descriptor);
  return Status::ok();
}

void Job::runRank(int rank, int port, int socket, pid_t parent,
                  const std::function<int(const RankEnvironment &, StepReporter &)> &main) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) // it died before the line above
    _exit(3);
  ::signal(SIGINT, SIG_IGN); // the launcher gets it too, and ends us
  ::signal(SIGTERM, SIG_DFL);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  RankEnvironment environment;
  environment.rank = environment.localRank = rank;
  environment.size = environment.localSize = static_cast<int>(ranks.size());
  environment.masterPort = port;
  environment.job = std::to_string(parent);
  environment.launcher = "cleave-run";
  if (rank == 0)
    environment.listenSocket = socket;
  else
    close(socket);
  StepReporter reporter(&slots[rank]);
  int code = main(environment, reporter);
  fflush(nullptr);
  _exit(code); // what belongs to the launcher is not torn down twice
}

void Job::kill(int signal) {
  for (Rank &rank : ranks)
    if (rank.running) {
      rank.endedByUs = true;
      ::kill(rank.process, signal);
    }
}

void Job::reap() {
  for (Rank &rank : ranks)
    if (rank.running && waitpid(rank.process, &rank.waitStatus, WNOHANG) == rank.process)
      rank.running = false;
}

bool Job::anyRunning() const {
  for (const Rank &rank : ranks)
    if (rank.running)
      return true;
  return false;
}

bool Job::anyFailed() const {
  for (size_t i = 0; i < ranks.size(); ++i)
    if ((!ranks[i].running && ranks[i].waitStatus != 0) || slots[i].failedAt != 0)
      return true;
  return false;
}

bool Job::stalled() const {
  if (options.stallTimeout.count() == 0)
    return false;
  Clock::time_point last = begun;
  for (size_t i = 0; i < ranks.size(); ++i)
    last = std::max(last, Clock::time_point(Clock::duration(slots[i].stepBegan.load())));
  return Clock::now() - last > options.stallTimeout;
}

// A running rank that has been behind another in the same step for too long; -1 if there is none. How
// long the step takes does not matter.
int Job::laggard() {
  int64_t furthest = -1;
  for (size_t i = 0; i < ranks.size(); ++i)
    furthest = std::max(furthest, slots[i].step.load());
  for (size_t i = 0; i < ranks.size() && options.lagTimeout.count() > 0; ++i) {
    Rank &rank = ranks[i];
    int64_t step = slots[i].step;
    bool isBehind = rank.running && step >= 0 && step < furthest;
    if (!isBehind || step != rank.behindIn) {
      rank.behindIn = isBehind ? step : -1;
      rank.behindSince = Clock::now();
    } else if (Clock::now() - rank.behindSince > options.lagTimeout) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

LaunchOutcome Job::watch() {
  bool failed = false;
  Clock::time_point patience;
  while (anyRunning()) {
    timespec tick{0, 50'000'000};
    int arrived = sigtimedwait(&watched, nullptr, &tick);
    reap();
    if (arrived > 0 && arrived != SIGCHLD && !signal) {
      signal = arrived;
      kill(SIGTERM);
    }
    stall = stall || (!failed && stalled());
    if (!failed)
      late = laggard();
    if (!failed && (signal || stall || late >= 0 || anyFailed())) {
      failed = true;
      patience = Clock::now() + options.grace;
    }
    if (failed && Clock::now() >= patience)
      kill(SIGKILL);
  }
  return outcome();
}

std::string Job::stepOf(int rank) const {
  int64_t step = slots[rank].step;
  return step < 0 ? "before its first step" : "in step " + std::to_string(step);
}

// Ranks that neither ended nor failed by themselves.
std::string Job::hungRanks() const {
  std::string text;
  for (size_t i = 0; i < ranks.size(); ++i)
    if (ranks[i].endedByUs && slots[i].failedAt == 0)
      text += "; rank " + std::to_string(i) + " still ran, " + stepOf(static_cast<int>(i)) +
              ", and was ended";
  return text;
}

LaunchOutcome Job::crashOf(int rank) const {
  int number = WTERMSIG(ranks[rank].waitStatus);
  bool crash = number == SIGSEGV || number == SIGABRT || number == SIGBUS || number == SIGILL ||
               number == SIGFPE;
  StatusKind kind = crash ? StatusKind::Defect : StatusKind::Lost;
  const char *hint =
      number == SIGKILL ? "; if nobody did that, the machine may have run out of memory" : "";
  return {static_cast<int>(kind), "rank " + std::to_string(rank) + " was ended by signal " +
                                      std::to_string(number) + " (" + strsignal(number) + ") " +
                                      stepOf(rank) + hint};
}

// The first cause that applies: a signal to the job, a rank that was killed, one that failed by
// itself, one that missed another, one that ended without saying why.
LaunchOutcome Job::outcome() const {
  if (signal)
    return {128 + signal, std::string("ended by signal ") + std::to_string(signal) + " (" +
                              strsignal(signal) + "), rank 0 was " + stepOf(0)};
  if (stall)
    return {3, "no rank began a step within " +
                   std::to_string(options.stallTimeout.count() / 1000) + " s; rank 0 was " +
                   stepOf(0)};
  if (late >= 0)
    return {3, "rank " + std::to_string(late) + " has been " + stepOf(late) + " for more than " +
                   std::to_string(options.lagTimeout.count() / 1000) + " s while others went on"};
  int own = -1, lost = -1, silent = -1;
  auto earlier = [&](int candidate, int &best) {
    if (best < 0 || slots[candidate].failedAt < slots[best].failedAt)
      best = candidate;
  };
  for (int i = 0; i < static_cast<int>(ranks.size()); ++i) {
    if (WIFSIGNALED(ranks[i].waitStatus) && !ranks[i].endedByUs)
      return crashOf(i);
    if (slots[i].failedAt != 0)
      earlier(i, slots[i].kind == static_cast<int>(StatusKind::Lost) ? lost : own);
    else if (WIFEXITED(ranks[i].waitStatus) && WEXITSTATUS(ranks[i].waitStatus) != 0 && silent < 0)
      silent = i;
  }
  int rank = own >= 0 ? own : lost;
  if (rank >= 0 && slots[rank].kind == static_cast<int>(StatusKind::UserError))
    return {slots[rank].kind, slots[rank].message};
  if (rank >= 0)
    return {slots[rank].kind, "rank " + std::to_string(rank) + ", " + stepOf(rank) + ": " +
                                  slots[rank].message + hungRanks()};
  if (silent >= 0)
    return {WEXITSTATUS(ranks[silent].waitStatus),
            "rank " + std::to_string(silent) + " ended with exit code " +
                std::to_string(WEXITSTATUS(ranks[silent].waitStatus)) + " " + stepOf(silent)};
  return {};
}

} // namespace

Result<LaunchOutcome>
launchLocal(int ranks, const LaunchOptions &options,
            const std::function<int(const RankEnvironment &, StepReporter &)> &main) {
  if (ranks < 1)
    return Status::userError("found " + std::to_string(ranks) +
                             " ranks to start, expected at least 1");
  Job job(ranks, options);
  CLEAVE_TRY(job.start(main));
  return job.watch();
}

} // namespace cleave::launch
