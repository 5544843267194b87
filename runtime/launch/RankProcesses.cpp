// See RankProcesses.h.
#include "runtime/launch/RankProcesses.h"

#include "runtime/comm/Sockets.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <new>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace cleave::launch {

RankProcesses::RankProcesses(int ranks) : ranks_(size_t(ranks)) {
  sigemptyset(&watched_);
  sigaddset(&watched_, SIGCHLD);
  for (int ending : {SIGINT, SIGTERM, SIGHUP}) { // signals ignored because of nohup stay ignored
    struct sigaction action;
    sigaction(ending, nullptr, &action);
    if (action.sa_handler != SIG_IGN)
      sigaddset(&watched_, ending);
  }
  sigprocmask(SIG_BLOCK, &watched_, &before_);
}

RankProcesses::~RankProcesses() {
  signalAll(SIGKILL);
  for (int i = 0; i < 500 && areRunning(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    reap();
  }
  if (slots_)
    munmap(slots_, ranks_.size() * sizeof(RankSlot));
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

Status RankProcesses::start(const Main &main) {
  CLEAVE_TRY_ASSIGN(auto socket, comm::bindLoopback());
  void *memory = mmap(nullptr, ranks_.size() * sizeof(RankSlot), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return Status::lost("could not allocate memory shared with the ranks: ", strerror(errno));
  slots_ = static_cast<RankSlot *>(memory);
  for (int i = 0; i < size(); ++i)
    new (&slots_[i]) RankSlot;
  fflush(nullptr); // otherwise every rank writes the buffered output again
  pid_t parent = getpid();
  for (int i = 0; i < size(); ++i) {
    pid_t process = fork();
    if (process == 0)
      runRank(i, socket.port, socket.descriptor, parent, main);
    if (process < 0)
      return Status::lost("could not start rank ", i, ": ", strerror(errno));
    ranks_[size_t(i)].process = process;
    ranks_[size_t(i)].isRunning = true;
  }
  close(socket.descriptor);
  return Status::ok();
}

void RankProcesses::runRank(int rank, int port, int socket, pid_t parent, const Main &main) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) // it died before prctl
    _exit(3);
  ::signal(SIGINT, SIG_IGN); // the launcher receives it, too, and ends the ranks
  ::signal(SIGTERM, SIG_DFL);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
  RankEnvironment environment;
  environment.rank = environment.localRank = rank;
  environment.size = environment.localSize = size();
  environment.masterPort = port;
  environment.job = std::to_string(parent);
  environment.secret = secret_;
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

int RankProcesses::waitForSignal(std::chrono::milliseconds time) {
  timespec limit{time.count() / 1000, time.count() % 1000 * 1'000'000};
  int arrived = sigtimedwait(&watched_, nullptr, &limit);
  reap();
  return arrived > 0 && arrived != SIGCHLD ? arrived : 0;
}

void RankProcesses::signalAll(int number) {
  for (int i = 0; i < size(); ++i) {
    Rank &rank = ranks_[size_t(i)];
    if (!rank.isRunning)
      continue;
    rank.wasStopped = rank.wasStopped || (number == SIGKILL && isStopped(i));
    rank.isSignalled = true;
    ::kill(rank.process, number);
  }
}

void RankProcesses::askToEnd(int signal) {
  for (int i = 0; i < size(); ++i)
    slots_[i].endingSignal = signal;
}

void RankProcesses::reap() {
  for (Rank &rank : ranks_)
    if (rank.isRunning && waitpid(rank.process, &rank.waitStatus, WNOHANG) == rank.process)
      rank.isRunning = false;
}

void RankProcesses::abandonAll() {
  for (Rank &rank : ranks_)
    if (rank.isRunning) {
      rank.isRunning = false;
      rank.isAbandoned = true;
    }
}

bool RankProcesses::areRunning() const {
  for (const Rank &rank : ranks_)
    if (rank.isRunning)
      return true;
  return false;
}

bool RankProcesses::isStopped(int rank) const {
  std::ifstream file("/proc/" + std::to_string(ranks_[size_t(rank)].process) + "/stat");
  std::string text;
  std::getline(file, text);
  size_t end = text.rfind(") "); // of the program's name
  return end != std::string::npos && end + 2 < text.size() &&
         std::string("TtD").find(text[end + 2]) != std::string::npos;
}

} // namespace cleave::launch
