// The rank processes of a job on this machine: starting, signalling and reaping them.
#pragma once

#include "runtime/comm/JobSecret.h"
#include "runtime/launch/Launch.h"
#include "runtime/launch/RankSlot.h"

#include <chrono>
#include <csignal>
#include <sys/types.h>
#include <vector>

namespace cleave::launch {

class RankProcesses {
public:
  using Main = std::function<int(const RankEnvironment &, StepReporter &)>;

  // One process. `waitStatus` as of waitpid().
  struct Rank {
    pid_t process = 0;
    bool isRunning = false;
    bool isSignalled = false; // by signalAll()
    bool wasStopped = false;  // when it was killed by signalAll(): by SIGSTOP, or in the kernel
    bool isAbandoned = false; // it survived SIGKILL for long, as in a call of dead storage
    int waitStatus = 0;
  };

  // Blocks SIGCHLD and the signals that end a job (waitForSignal() takes them) until this object is
  // destroyed.
  explicit RankProcesses(int ranks);
  ~RankProcesses(); // kills the running ranks
  RankProcesses(const RankProcesses &) = delete;

  // Runs `main` in all processes. Status::lost if the system refuses.
  Status start(const Main &main);
  // Waits until a rank ends, a signal arrives, or the time is over. Returns SIGINT, SIGTERM or
  // SIGHUP if one of these has arrived, else 0.
  int waitForSignal(std::chrono::milliseconds time);
  // Sends a signal to all running ranks.
  void signalAll(int number);
  // Notes in all slots that the ranks are to end by themselves because of a signal.
  void askToEnd(int signal);
  // Does not wait for the running ranks any longer.
  void abandonAll();

  bool areRunning() const; // at least one of them
  int size() const { return static_cast<int>(ranks_.size()); }
  const Rank &operator[](int rank) const { return ranks_[size_t(rank)]; }
  const RankSlot &slot(int rank) const { return slots_[rank]; }
  // Whether the process is stopped (by a signal or a debugger), or in a call of the kernel that
  // cannot be interrupted.
  bool isStopped(int rank) const;

private:
  [[noreturn]] void runRank(int rank, int port, int socket, pid_t parent, const Main &main);
  void reap();

  std::vector<Rank> ranks_;
  RankSlot *slots_ = nullptr; // shared with the ranks
  sigset_t watched_, before_;
  comm::JobSecret secret_ = comm::JobSecret::random();
};

} // namespace cleave::launch
