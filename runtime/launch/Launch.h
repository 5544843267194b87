// How the ranks of a job come to be: spawned on this machine, or started by torchrun, mpirun or
// Slurm and joined here. Reads top down: detectRankEnvironment, else launchLocal; then, in each
// rank, joinWorld.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/comm/Communicator.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace cleave::launch {

// Who this process is in the job.
struct RankEnvironment {
  int rank = 0;
  int size = 1;
  int localRank = 0; // among the ranks on this machine
  int localSize = 1; // ranks on this machine
  std::string masterAddress = "127.0.0.1";
  int masterPort = 0;
  std::string job;       // tells apart jobs on one machine
  int listenSocket = -1; // rank 0 of a local launch: already bound to masterPort
  std::string launcher;  // `cleave-run`, `torchrun`, `mpirun`, `slurm`: for messages
};

// The environment that an outer launcher has set (torchrun's RANK…, OMPI_COMM_WORLD_*, PMI_*,
// SLURM_*); nothing when there is none. Fails when variables are missing or contradict each other.
Result<std::optional<RankEnvironment>> detectRankEnvironment();

struct RankSlot; // one rank's part of the page shared with the launcher

// How a rank tells the launcher what it is doing. Cheap enough to be called every step.
class StepReporter {
public:
  explicit StepReporter(RankSlot *slot = nullptr) : slot(slot) {} // none: tells nobody
  // The rank begins this step (0-based).
  void step(int64_t step);
  // Why this rank is about to exit: the launcher prints the one that matters, once, for all ranks.
  void fail(const Status &status);

private:
  RankSlot *slot;
};

struct LaunchOptions {
  // After one rank has failed, how long the others have to report why and exit before they are
  // killed.
  std::chrono::milliseconds grace{2000};
  // Longest time without any rank beginning a step before the job counts as hung; 0: no limit (a
  // hung rank is then found by the ranks that wait for it in a collective).
  std::chrono::milliseconds stallTimeout{0};
  // Longest time that a rank may be in a step when another one has begun a later step; 0: no limit. (A
  // program without collectives has nobody who waits for a hung rank.)
  std::chrono::milliseconds lagTimeout{0};
};

struct LaunchOutcome {
  int exitCode = 0;    // 0, or that of the rank that failed first; 3 if one was lost
  std::string message; // empty on success; otherwise one sentence naming the rank and its step
};

// Runs `main` in `ranks` processes of this machine and waits for them; a failed rank ends them all,
// as do SIGINT and SIGTERM to this process (exit code 128 + signal). Children die with the parent.
// To be called before this process has started threads. With one rank, still a process of its own.
Result<LaunchOutcome>
launchLocal(int ranks, const LaunchOptions &options,
            const std::function<int(const RankEnvironment &, StepReporter &)> &main);

// Connects this rank to the others: shared memory between ranks of one machine, Gloo otherwise.
// CLEAVE_COMM=shm|gloo overrides the choice.
Result<std::unique_ptr<comm::World>> joinWorld(const RankEnvironment &environment,
                                               const comm::Options &options = {});

} // namespace cleave::launch
