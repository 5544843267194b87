// cleave-run: executes a plan. Either starts all ranks on this machine, one process each, or joins
// as one rank under torchrun, mpirun or Slurm.
#include "runtime/base/Status.h"
#include "runtime/executor/Executor.h"
#include "runtime/launch/Launch.h"
#include "tools/cleave-run/ChooseDevice.h"
#include "tools/cleave-run/Failure.h"
#include "tools/cleave-run/LearningRates.h"
#include "tools/cleave-run/Options.h"
#include "tools/cleave-run/Plans.h"
#include "tools/cleave-run/Restart.h"
#include "tools/cleave-run/RunLocally.h"
#include "tools/cleave-run/RunRank.h"
#include "tools/commandline/CommandLine.h"

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <malloc.h>

using namespace cleave;

namespace {

namespace fs = std::filesystem;

int fail(const Status &status) { return cleave::fail("cleave-run", status); }

// Checks the options on evaluation.
Status checkEvaluation(const plan::Plan &plan, const run::Options &options) {
  if (!options.eval.empty() && !plan.trains())
    return Status::userError("--eval evaluates a training, but the plan is for inference; give the "
                             "data with --data and trained weights with --weights");
  for (auto [name, isGiven] : {std::pair{"--eval-every", options.evalEvery > 0},
                               {"--eval-steps", options.evalSteps > 0},
                               {"--keep-best", !options.keepBest.empty()}})
    if (isGiven && options.eval.empty())
      return Status::userError(name, " needs --eval DATA");
  if (!options.keepBest.empty() && options.save.empty())
    return Status::userError("--keep-best needs --save DIR");
  if (options.best && options.weights.empty())
    return Status::userError("--best needs --weights DIR");
  if (options.averages && options.weights.empty())
    return Status::userError("--ema needs --weights DIR");
  return Status::ok();
}

// Checks that need no execution; the result is the same on all ranks.
Status checkOptions(const plan::Plan &plan, const run::Options &options) {
  CLEAVE_TRY(run::checkDeviceChoice(options.device));
  if (!options.out.empty() && plan.trains())
    return Status::userError(
        "--out writes the outputs of inference, but the plan trains; compile the "
        "model without --train, or leave --out away");
  bool isKnownFormat = options.out.ends_with(".npz") || options.out.ends_with(".safetensors");
  if (!options.out.empty() && !isKnownFormat)
    return Status::userError("--out: found '", options.out,
                             "', expected a name that ends in .npz or .safetensors");
  for (const std::string &file :
       {options.out, options.profile, options.log, options.report, options.flightRecord}) {
    fs::path folder = fs::path(file).parent_path();
    if (std::error_code error; !folder.empty() && !fs::is_directory(folder, error))
      return Status::userError("cannot write '", file, "': folder '", folder.string(),
                               "' does not exist; create it first");
  }
  if (!options.resume.empty() && !plan.trains())
    return Status::userError("--resume continues training, but the plan is for inference; "
                             "--weights '",
                             options.resume, "' takes the trained weights");
  if (!options.resume.empty() && !options.weights.empty())
    return Status::userError("--weights begins with new weights, --resume goes on with those of "
                             "its checkpoint; leave one of them out");
  CLEAVE_TRY(checkEvaluation(plan, options));
  if (!options.save.empty() && !plan.trains())
    return Status::userError("--save writes training state, but the plan is for inference");
  if (options.saveEvery && options.save.empty())
    return Status::userError("--save-every needs --save DIR");
  if (options.restartOptimizer && options.resume.empty())
    return Status::userError("--restart-optimizer needs --resume DIR");
  CLEAVE_TRY(run::LearningRates::read(plan, options).status());
  bool hasInputs = !executor::inputsOf(plan).empty();
  if (!options.dataCommand.empty() && !hasInputs)
    return Status::userError("--data-command: the plan reads no inputs; leave it out");
  if (!options.dataCommand.empty() && !options.steps)
    return Status::userError("--data-command needs --steps N, the total number of steps");
  if (options.data.empty() && options.dataCommand.empty() && !options.generates && hasInputs)
    return Status::userError("the plan has inputs, for example '", executor::inputsOf(plan)[0].name,
                             "', but no data are given; use --data FILE or --data-command COMMAND");
  if (options.data.empty() && !options.steps && !options.epochs)
    return Status::userError("without --data, --steps N is required");
  return Status::ok();
}

// The options of this process: those of a restart if torchrun has started the ranks again.
run::Options optionsOf(const run::Options &given, const launch::RankEnvironment &environment) {
  if (environment.restarts == 0)
    return given;
  run::Options options =
      run::optionsOfRestart(given, environment.restarts, "torchrun started the ranks again");
  if (environment.rank == 0 && !given.quiet)
    std::fprintf(stderr, "cleave-run: warning: restart %d with %d rank%s from %s\n",
                 environment.restarts, environment.size, environment.size == 1 ? "" : "s",
                 run::originText(options).c_str());
  return options;
}

// The first SIGINT or SIGTERM lets a training end behind its step; a second one ends the process.
launch::StepReporter *askedReporter = nullptr;
void askToEnd(int signal) { askedReporter->askToEnd(signal); }

void endGently(launch::StepReporter &reporter) {
  askedReporter = &reporter;
  for (int ending : {SIGINT, SIGTERM}) {
    struct sigaction action = {};
    action.sa_handler = askToEnd;
    action.sa_flags = SA_RESETHAND | SA_RESTART;
    sigaction(ending, &action, nullptr);
  }
}

int runAsOneRank(const run::Plans &plans, const run::Options &given,
                 const launch::RankEnvironment &environment) {
  const plan::Plan *chosen = plans.forRanks(environment.size);
  const plan::Plan &plan = chosen ? *chosen : plans.first();
  run::Options options = optionsOf(given, environment);
  launch::StepReporter reporter;
  if (plan.trains())
    endGently(reporter);
  Status status = run::runRank(plan, options, environment, reporter);
  if (status && !reporter.endingSignal())
    return 0;
  const launch::RankReport report = reporter.report(environment.rank);
  const bool isResumable = plan.trains() && environment.rank == 0 && report.step >= 0;
  const std::string resume = isResumable ? run::resumeText(given) : "";
  if (status) {
    if (environment.rank == 0)
      std::fprintf(stderr, "cleave-run: ended by signal %d after step %lld%s\n",
                   reporter.endingSignal(), static_cast<long long>(report.step), resume.c_str());
    return 128 + reporter.endingSignal();
  }
  run::recordFailure(plan, options,
                     {status.message(), status.exitCode(), options.restart, {report}},
                     environment.rank);
  run::writeElasticError(status);
  return cleave::fail("cleave-run", status.message() + resume, status.exitCode());
}

} // namespace

int main(int argc, char **argv) {
  std::signal(SIGPIPE, SIG_IGN); // keep running if the reader of stdout ends
  std::signal(SIGXFSZ, SIG_IGN); // a file that becomes too large is an error like a full disk
  run::Options options;
  if (std::optional<int> code = run::parseOptions(argc, argv, options))
    return *code;
  Result<run::Plans> plans = run::Plans::read(options);
  if (!plans)
    return fail(plans.status());
  if (Status status = checkOptions(plans->first(), options); !status)
    return fail(status);
  ::malloc_trim(0); // frees the temporary copy made by reading the plan, which ranks would inherit
  auto environment = launch::detectRankEnvironment();
  if (!environment)
    return fail(environment.status());
  return *environment ? runAsOneRank(*plans, options, **environment)
                      : run::runLocally(*plans, options);
}
