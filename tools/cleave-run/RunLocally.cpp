// See RunLocally.h.
#include "tools/cleave-run/RunLocally.h"

#include "runtime/artifact/Mesh.h"
#include "runtime/executor/TensorLoader.h"
#include "runtime/launch/Launch.h"
#include "runtime/launch/Restarts.h"
#include "tools/cleave-run/Failure.h"
#include "tools/cleave-run/Restart.h"
#include "tools/cleave-run/RunRank.h"
#include "tools/commandline/CommandLine.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace cleave::run {
namespace {

// Exit codes above this are 128 + the number of a signal to cleave-run.
constexpr int kSignals = 128;

class LocalRun {
public:
  LocalRun(const Plans &plans, const Options &options)
      : plans_(plans), given_(options), options_(options), plan_(&plans.first()),
        restarts_(options.maxRestarts) {}

  int run() {
    if (Status status = check(); !status)
      return fail("cleave-run", status);
    while (true) {
      Result<launch::LaunchOutcome> outcome = attempt();
      if (!outcome)
        return fail("cleave-run", outcome.status());
      if (outcome->exitCode == 0)
        return succeed();
      if (!outcome->wasGentle)
        recordFailure(*plan_, options_,
                      {outcome->message, outcome->exitCode, restarts_.made(), outcome->ranks});
      if (!restarts_.startAgain(*outcome))
        return end(*outcome);
      prepareRestart(*outcome);
    }
  }

private:
  Status check() const {
    int ranks = options_.ranks.value_or(int(artifact::rankCount(*plan_)));
    CLEAVE_TRY(checkRanks(*plan_, ranks, "--nproc"));
    return executor::TensorLoader(*plan_, options_.model).checkModel(/*compareHash=*/true);
  }

  Result<launch::LaunchOutcome> attempt() const {
    launch::LaunchOptions launching;
    launching.stallTimeout = std::chrono::seconds(options_.stallSeconds);
    launching.endsGently = plan_->trains();
    launching.timeout = std::chrono::seconds(options_.timeoutSeconds);
    return launch::launchLocal(
        int(artifact::rankCount(*plan_)), launching,
        [&](const launch::RankEnvironment &environment, launch::StepReporter &reporter) {
          return runRank(*plan_, options_, environment, reporter).exitCode();
        });
  }

  // Chooses the plan and the checkpoint of the next attempt.
  void prepareRestart(const launch::LaunchOutcome &outcome) {
    int ranks = int(artifact::rankCount(*plan_));
    if (const plan::Plan *smaller = plans_.forRanks(ranks - outcome.lostRanks))
      plan_ = smaller;
    options_ = optionsOfRestart(given_, restarts_.made(), outcome.message);
    ranks = int(artifact::rankCount(*plan_));
    if (given_.quiet)
      return;
    std::fprintf(stderr, "cleave-run: warning: %s; restart %d of %d with %d rank%s from %s\n",
                 outcome.message.c_str(), restarts_.made(), restarts_.allowed(), ranks,
                 ranks == 1 ? "" : "s", originText(options_).c_str());
  }

  // Says why the run has stopped, and how it goes on. A signal is not an error.
  int end(const launch::LaunchOutcome &outcome) const {
    std::string message = outcome.message + restarts_.text();
    // A run that has begun a step is the one whose checkpoints are in --save.
    auto hasBegun = [](const launch::RankReport &rank) { return rank.step >= 0; };
    if (plan_->trains() && std::ranges::any_of(outcome.ranks, hasBegun))
      message += resumeText(given_);
    if (outcome.exitCode <= kSignals)
      return fail("cleave-run", message, outcome.exitCode);
    std::fprintf(stderr, "cleave-run: %s\n", message.c_str());
    return outcome.exitCode;
  }

  int succeed() const {
    if (restarts_.made() > 0 && !given_.quiet)
      std::fprintf(stderr, "cleave-run: note: done%s\n", restarts_.text().c_str());
    return 0;
  }

  const Plans &plans_;
  const Options &given_;   // on the command line
  Options options_;        // of the current attempt
  const plan::Plan *plan_; // of the current attempt
  launch::Restarts restarts_;
};

} // namespace

int runLocally(const Plans &plans, const Options &options) {
  return LocalRun(plans, options).run();
}

} // namespace cleave::run
