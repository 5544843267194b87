// Runs the ranks of a job on this machine, and reports why the job ended. See Launch.h.
#include "runtime/launch/Launch.h"
#include "runtime/launch/Outcome.h"
#include "runtime/launch/ProgressWatch.h"
#include "runtime/launch/RankProcesses.h"

#include <csignal>
#include <sys/wait.h>

namespace cleave::launch {
namespace {

using Clock = std::chrono::steady_clock;

// Time after SIGKILL in which a process ends, unless a call of the kernel holds it.
constexpr std::chrono::seconds kKillTime{10};

class LocalLaunch {
public:
  LocalLaunch(int ranks, const LaunchOptions &options)
      : options_(options), processes_(ranks), watch_(processes_, options) {}

  Result<LaunchOutcome> run(const RankProcesses::Main &main) {
    CLEAVE_TRY(processes_.start(main));
    while (processes_.areRunning())
      look();
    if (int arrived = processes_.waitForSignal(std::chrono::milliseconds(0)); !causes_.signal)
      causes_.signal = arrived;
    LaunchOutcome outcome = outcomeOf(processes_, causes_);
    if (outcome.exitCode != 0)
      outcome.ranks = finalReports();
    return outcome;
  }

private:
  void look() {
    if (int arrived = processes_.waitForSignal(std::chrono::milliseconds(50)))
      obey(arrived);
    if (!failed_) {
      causes_.verdict = watch_.look();
      if ((causes_.signal && !causes_.wasGentle) || causes_.verdict || hasFailed()) {
        failed_ = Clock::now();
        reports_ = reports();
      }
    }
    if (failed_ && Clock::now() >= *failed_ + options_.grace)
      processes_.signalAll(SIGKILL);
    if (failed_ && Clock::now() >= *failed_ + options_.grace + kKillTime)
      processes_.abandonAll();
  }

  // The first signal may leave the ranks the time to end by themselves.
  void obey(int signal) {
    const bool isGentle = options_.endsGently && !causes_.signal && !failed_ && signal != SIGHUP &&
                          processes_.slot(0).firstStep >= 0;
    if (causes_.signal && !causes_.wasGentle)
      return;
    causes_ = {.signal = causes_.signal ? causes_.signal : signal, .wasGentle = isGentle};
    if (!isGentle)
      return processes_.signalAll(SIGTERM);
    processes_.askToEnd(signal);
  }

  bool hasFailed() const {
    for (int i = 0; i < processes_.size(); ++i)
      if ((!processes_[i].isRunning && processes_[i].waitStatus != 0) ||
          processes_.slot(i).failedAt != 0)
        return true;
    return false;
  }

  // The state of all ranks now.
  std::vector<RankReport> reports() {
    std::vector<RankReport> reports;
    for (int i = 0; i < processes_.size(); ++i) {
      reports.push_back(reportOf(processes_.slot(i), i));
      reports.back().secondsSilent = watch_.secondsSilent(i);
    }
    return reports;
  }

  // The state of the ranks at the failure, with their endings, which were not known then.
  std::vector<RankReport> finalReports() {
    std::vector<RankReport> final = reports_.empty() ? reports() : reports_;
    for (RankReport &report : final) {
      report.ending = endingOf(processes_, report.rank);
      report.isLost = isLost(processes_, causes_, report.rank);
    }
    return final;
  }

  LaunchOptions options_;
  RankProcesses processes_;
  ProgressWatch watch_;
  Causes causes_;
  std::optional<Clock::time_point> failed_; // the first failure
  std::vector<RankReport> reports_;         // at that time
};

} // namespace

Result<LaunchOutcome>
launchLocal(int ranks, const LaunchOptions &options,
            const std::function<int(const RankEnvironment &, StepReporter &)> &main) {
  if (ranks < 1)
    return Status::userError("found ", ranks, " ranks to start, expected at least 1");
  return LocalLaunch(ranks, options).run(main);
}

} // namespace cleave::launch
