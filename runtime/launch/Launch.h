// Starting and joining ranks. detectRankEnvironment() finds the ranks that torchrun, mpirun or
// Slurm has started; without one of these, launchLocal() starts ranks on this machine. joinWorld()
// then connects each rank to the others.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/comm/Communicator.h"
#include "runtime/comm/JobSecret.h"
#include "runtime/launch/RankReport.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cleave::launch {

// The place of this process in the job.
struct RankEnvironment {
  int rank = 0;
  int size = 1;
  int localRank = 0;                       // among the ranks on this machine
  int localSize = 1;                       // ranks on this machine
  std::string masterAddress = "127.0.0.1"; // host of rank 0
  int masterPort = 0;                      // of the rendezvous at rank 0
  std::string job;                         // name of the job, unique on this machine
  int listenSocket = -1;                   // of rank 0 in a local launch: bound to masterPort
  comm::JobSecret secret;                  // by which the ranks recognise each other
  int restarts = 0;                        // how often torchrun has started the ranks again
  std::string launcher; // `cleave-run`, `torchrun`, `mpirun`, `slurm`: for messages
};

// The environment set by an outer launcher (torchrun's RANK…, OMPI_COMM_WORLD_*, PMI_*, SLURM_*);
// nothing if there is none. A user error if variables are missing or contradict each other.
Result<std::optional<RankEnvironment>> detectRankEnvironment();

struct RankSlot; // one rank's part of the memory shared with the launcher (RankSlot.h)

// Reports a rank's progress to the launcher. Cheap enough for every step.
class StepReporter {
public:
  StepReporter();                        // without a launcher: keeps the reports itself
  explicit StepReporter(RankSlot *slot); // in memory shared with the launcher
  ~StepReporter();
  // The rank begins this part of its run.
  void place(Place place);
  // The rank begins this step (0-based).
  void step(int64_t step);
  // The CPU time of the thread that runs the steps, in nanoseconds: it shows that the rank lives.
  void cpuTime(uint64_t nanoseconds);
  // The executor notes its position in the step here (Executor.h).
  std::atomic<uint64_t> &position();
  // Asks the rank to end behind its current step because of a signal. Async-signal-safe.
  void askToEnd(int signal);
  // The signal because of which the rank is to end; 0: none.
  int endingSignal() const;
  // The reason for which this rank is about to exit. The launcher prints one reason for all ranks.
  void fail(const Status &status);
  // What has been reported so far.
  RankReport report(int rank) const;

private:
  std::unique_ptr<RankSlot> own_;
  RankSlot *slot_;
};

// Options of launchLocal().
struct LaunchOptions {
  // Time after the first failure in which the other ranks can report and exit before they are
  // killed.
  std::chrono::milliseconds grace{2000};
  // Longest time in which no rank begins a step before the job counts as hung; 0: no limit (the
  // ranks that wait in a collective then detect a hung rank).
  std::chrono::milliseconds stallTimeout{0};
  // The first SIGINT or SIGTERM, once a step has begun, asks the ranks to end by themselves
  // (StepReporter::endingSignal()); a second one ends them.
  bool endsGently = false;
  // A rank without progress for this time is lost; 0: no limit. Without progress is a rank that is
  // in the same step for so long while another rank is in a later one; and one whose step, position
  // and CPU time stand still for twice as long (a single rank: as long), since ranks that wait for
  // others in a collective need the first half to detect it themselves.
  std::chrono::milliseconds timeout{0};
};

// The result of a local launch.
struct LaunchOutcome {
  int exitCode = 0;    // 0, or that of the rank that failed first; 3 if a rank was lost
  std::string message; // empty on success; otherwise one sentence naming the rank and its step
  // Whether ranks were lost, so that the same run could succeed at a second try; false for user
  // errors, defects and signals to the launcher.
  bool isRestartable = false;
  bool wasGentle = false;        // a signal, because of which the ranks have ended by themselves
  int lostRanks = 0;             // number of these ranks, at least 1 if isRestartable
  bool hasCompletedStep = false; // some rank has completed a step
  std::vector<RankReport> ranks; // the state of every rank at the failure; empty on success
};

// Runs `main` in `ranks` processes of this machine and waits for them. A failed rank ends all
// ranks; so do SIGINT and SIGTERM to this process (exit code 128 + signal), unless endsGently lets
// them end by themselves, and its death. Must be called before this process starts threads. A
// single rank is a separate process, too.
Result<LaunchOutcome>
launchLocal(int ranks, const LaunchOptions &options,
            const std::function<int(const RankEnvironment &, StepReporter &)> &main);

// Connects this rank to the others: shared memory between ranks of one machine, Gloo otherwise.
// CLEAVE_COMM=shm|gloo overrides the choice. Status::lost if a rank does not come in time.
Result<std::unique_ptr<comm::World>> joinWorld(const RankEnvironment &environment,
                                               const comm::Options &options = {});

} // namespace cleave::launch
