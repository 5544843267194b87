// Starts the ranks of a job on this machine, watches them, and reports why the job ended.
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

// The rank processes of one job.
class LocalLaunch {
public:
  LocalLaunch(int ranks, const LaunchOptions &options) : options_(options), ranks_(ranks) {}
  ~LocalLaunch();
  Status start(const std::function<int(const RankEnvironment &, StepReporter &)> &main);
  LaunchOutcome watch();

private:
  struct Rank {
    pid_t process = 0;
    bool running = false;
    bool signalled = false; // by signalRunningRanks()
    int waitStatus = 0;
    // The step in which the rank is while others are in later ones, and the time at which that was
    // first seen; -1: no rank is ahead.
    int64_t behindIn = -1;
    Clock::time_point behindSince;
  };

  [[noreturn]] void
  runRank(int rank, int port, int socket, pid_t parent,
          const std::function<int(const RankEnvironment &, StepReporter &)> &main);
  void reap();
  void signalRunningRanks(int number);
  bool anyRunning() const;
  bool anyFailed() const;
  bool isStalled() const;
  int findLaggard();
  LaunchOutcome outcome() const;
  LaunchOutcome crashOf(int rank) const;
  std::string stepOf(int rank) const;
  std::string hungRanks() const;

  LaunchOptions options_;
  std::vector<Rank> ranks_;
  RankSlot *slots_ = nullptr;
  sigset_t watched_, before_;
  int receivedSignal_ = 0;  // by the launcher, which ends the job
  bool hasStalled_ = false; // no rank began a step within the stall timeout
  int laggard_ = -1;        // the rank that exceeded the lag timeout; -1: none
  Clock::time_point begun_ = Clock::now();
};

LocalLaunch::~LocalLaunch() {
  signalRunningRanks(SIGKILL);
  for (Rank &rank : ranks_)
    if (rank.running)
      waitpid(rank.process, nullptr, 0);
  if (slots_) {
    munmap(slots_, ranks_.size() * sizeof(RankSlot));
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
}

Status LocalLaunch::start(const std::function<int(const RankEnvironment &, StepReporter &)> &main) {
  CLEAVE_TRY_ASSIGN(auto socket, comm::bindLoopback());
  void *memory = mmap(nullptr, ranks_.size() * sizeof(RankSlot), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return Status::lost("could not allocate memory shared with the ranks: ", strerror(errno));
  slots_ = static_cast<RankSlot *>(memory);
  for (size_t i = 0; i < ranks_.size(); ++i)
    slots_[i].step = -1;
  sigemptyset(&watched_);
  sigaddset(&watched_, SIGCHLD);
  for (int watchedSignal :
       {SIGINT, SIGTERM, SIGHUP}) { // signals ignored because of nohup stay ignored
    struct sigaction action;
    sigaction(watchedSignal, nullptr, &action);
    if (action.sa_handler != SIG_IGN)
      sigaddset(&watched_, watchedSignal);
  }
  sigprocmask(SIG_BLOCK, &watched_, &before_);
  fflush(nullptr); // otherwise every rank writes the buffered output again
  pid_t parent = getpid();
  for (size_t i = 0; i < ranks_.size(); ++i) {
    pid_t process = fork();
    if (process == 0)
      runRank(static_cast<int>(i), socket.port, socket.descriptor, parent, main);
    if (process < 0)
      return Status::lost("could not start rank ", i, ": ", strerror(errno));
    ranks_[i].process = process;
    ranks_[i].running = true;
  }
  close(socket.descriptor);
  return Status::ok();
}

void LocalLaunch::runRank(int rank, int port, int socket, pid_t parent,
                          const std::function<int(const RankEnvironment &, StepReporter &)> &main) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) // it died before prctl
    _exit(3);
  ::signal(SIGINT, SIG_IGN); // the launcher receives it, too, and ends the ranks
  ::signal(SIGTERM, SIG_DFL);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
  RankEnvironment environment;
  environment.rank = environment.localRank = rank;
  environment.size = environment.localSize = static_cast<int>(ranks_.size());
  environment.masterPort = port;
  environment.job = std::to_string(parent);
  environment.launcher = "cleave-run";
  if (rank == 0)
    environment.listenSocket = socket;
  else
    close(socket);
  StepReporter reporter(&slots_[rank]);
  int code = main(environment, reporter);
  fflush(nullptr);
  _exit(code); // without destructors: they belong to the launcher
}

void LocalLaunch::signalRunningRanks(int number) {
  for (Rank &rank : ranks_)
    if (rank.running) {
      rank.signalled = true;
      ::kill(rank.process, number);
    }
}

void LocalLaunch::reap() {
  for (Rank &rank : ranks_)
    if (rank.running && waitpid(rank.process, &rank.waitStatus, WNOHANG) == rank.process)
      rank.running = false;
}

bool LocalLaunch::anyRunning() const {
  for (const Rank &rank : ranks_)
    if (rank.running)
      return true;
  return false;
}

bool LocalLaunch::anyFailed() const {
  for (size_t i = 0; i < ranks_.size(); ++i)
    if ((!ranks_[i].running && ranks_[i].waitStatus != 0) || slots_[i].failedAt != 0)
      return true;
  return false;
}

bool LocalLaunch::isStalled() const {
  if (options_.stallTimeout.count() == 0)
    return false;
  Clock::time_point last = begun_;
  for (size_t i = 0; i < ranks_.size(); ++i)
    last = std::max(last, Clock::time_point(Clock::duration(slots_[i].stepBegan.load())));
  return Clock::now() - last > options_.stallTimeout;
}

// A running rank that has been in the same step for longer than the lag timeout while another rank
// is in a later one; -1 if there is none. A step that is slow on all ranks does not count.
int LocalLaunch::findLaggard() {
  int64_t furthest = -1;
  for (size_t i = 0; i < ranks_.size(); ++i)
    furthest = std::max(furthest, slots_[i].step.load());
  for (size_t i = 0; i < ranks_.size() && options_.lagTimeout.count() > 0; ++i) {
    Rank &rank = ranks_[i];
    int64_t step = slots_[i].step;
    bool isBehind = rank.running && step >= 0 && step < furthest;
    if (!isBehind || step != rank.behindIn) {
      rank.behindIn = isBehind ? step : -1;
      rank.behindSince = Clock::now();
    } else if (Clock::now() - rank.behindSince > options_.lagTimeout) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

LaunchOutcome LocalLaunch::watch() {
  bool failed = false;
  Clock::time_point patience;
  while (anyRunning()) {
    timespec tick{0, 50'000'000};
    int arrived = sigtimedwait(&watched_, nullptr, &tick);
    reap();
    if (arrived > 0 && arrived != SIGCHLD && !receivedSignal_) {
      receivedSignal_ = arrived;
      signalRunningRanks(SIGTERM);
    }
    hasStalled_ = hasStalled_ || (!failed && isStalled());
    if (!failed)
      laggard_ = findLaggard();
    if (!failed && (receivedSignal_ || hasStalled_ || laggard_ >= 0 || anyFailed())) {
      failed = true;
      patience = Clock::now() + options_.grace;
    }
    if (failed && Clock::now() >= patience)
      signalRunningRanks(SIGKILL);
  }
  return outcome();
}

std::string LocalLaunch::stepOf(int rank) const {
  int64_t step = slots_[rank].step;
  return step < 0 ? "before its first step" : concat("in step ", step);
}

// The ranks that the launcher had to end, as the end of a message.
std::string LocalLaunch::hungRanks() const {
  std::string text;
  for (size_t i = 0; i < ranks_.size(); ++i)
    if (ranks_[i].signalled && slots_[i].failedAt == 0)
      text += concat("; rank ", i, " was still running, ", stepOf(static_cast<int>(i)),
                     ", and was ended");
  return text;
}

LaunchOutcome LocalLaunch::crashOf(int rank) const {
  int number = WTERMSIG(ranks_[rank].waitStatus);
  bool crash = number == SIGSEGV || number == SIGABRT || number == SIGBUS || number == SIGILL ||
               number == SIGFPE;
  StatusKind kind = crash ? StatusKind::Defect : StatusKind::Lost;
  const char *hint =
      number == SIGKILL ? "; unless a user sent it, the machine may have run out of memory" : "";
  return {static_cast<int>(kind), concat("rank ", rank, " was ended by signal ", number, " (",
                                         strsignal(number), ") ", stepOf(rank), hint)};
}

// The first cause that applies: a signal to the launcher, a stalled job, a rank that lags behind, a
// rank ended by a signal, a rank that failed by itself, a rank that lost another one, and a rank
// that ended without a report.
LaunchOutcome LocalLaunch::outcome() const {
  if (receivedSignal_)
    return {128 + receivedSignal_, concat("ended by signal ", receivedSignal_, " (",
                                          strsignal(receivedSignal_), "), rank 0 was ", stepOf(0))};
  if (hasStalled_)
    return {3, concat("no rank began a step within ", options_.stallTimeout.count() / 1000,
                      " s; rank 0 was ", stepOf(0))};
  if (laggard_ >= 0)
    return {3,
            concat("rank ", laggard_, " has been ", stepOf(laggard_), " for more than ",
                   options_.lagTimeout.count() / 1000, " s while other ranks are in later steps")};
  int own = -1, lost = -1, silent = -1;
  auto earlier = [&](int candidate, int &best) {
    if (best < 0 || slots_[candidate].failedAt < slots_[best].failedAt)
      best = candidate;
  };
  for (int i = 0; i < static_cast<int>(ranks_.size()); ++i) {
    if (WIFSIGNALED(ranks_[i].waitStatus) && !ranks_[i].signalled)
      return crashOf(i);
    if (slots_[i].failedAt != 0)
      earlier(i, slots_[i].kind == static_cast<int>(StatusKind::Lost) ? lost : own);
    else if (WIFEXITED(ranks_[i].waitStatus) && WEXITSTATUS(ranks_[i].waitStatus) != 0 &&
             silent < 0)
      silent = i;
  }
  int rank = own >= 0 ? own : lost;
  if (rank >= 0 && slots_[rank].kind == static_cast<int>(StatusKind::UserError))
    return {slots_[rank].kind, slots_[rank].message};
  if (rank >= 0)
    return {slots_[rank].kind,
            concat("rank ", rank, ", ", stepOf(rank), ": ", slots_[rank].message, hungRanks())};
  if (silent >= 0)
    return {WEXITSTATUS(ranks_[silent].waitStatus),
            concat("rank ", silent, " ended with exit code ",
                   WEXITSTATUS(ranks_[silent].waitStatus), " ", stepOf(silent))};
  return {};
}

} // namespace

Result<LaunchOutcome>
launchLocal(int ranks, const LaunchOptions &options,
            const std::function<int(const RankEnvironment &, StepReporter &)> &main) {
  if (ranks < 1)
    return Status::userError("found ", ranks, " ranks to start, expected at least 1");
  LocalLaunch launch(ranks, options);
  CLEAVE_TRY(launch.start(main));
  return launch.watch();
}

} // namespace cleave::launch
