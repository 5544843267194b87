// cleave-run: executes a plan. Either starts all ranks on this machine, one process each, or joins
// as one rank under torchrun, mpirun or Slurm.
#include "runtime/artifact/Artifact.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/artifact/Verify.h"
#include "runtime/base/Status.h"
#include "runtime/executor/Executor.h"
#include "runtime/executor/TensorLoader.h"
#include "runtime/launch/Launch.h"
#include "tools/cleave-run/Options.h"
#include "tools/cleave-run/RunRank.h"
#include "tools/commandline/CommandLine.h"

#include <csignal>
#include <filesystem>
#include <malloc.h>

using namespace cleave;

namespace {

namespace fs = std::filesystem;

int fail(const Status &status) { return cleave::fail("cleave-run", status); }

// Checks that need no execution; the result is the same on all ranks.
Status checkOptions(const plan::Plan &plan, const run::Options &options) {
  if (!options.out.empty() && plan.trains())
    return Status::userError(
        "--out writes the outputs of inference, but the plan trains; compile the "
        "model without --train, or leave --out away");
  bool isKnownFormat = options.out.ends_with(".npz") || options.out.ends_with(".safetensors");
  if (!options.out.empty() && !isKnownFormat)
    return Status::userError("--out: found '", options.out,
                             "', expected a name that ends in .npz or .safetensors");
  for (const std::string &file : {options.out, options.profile, options.log}) {
    fs::path folder = fs::path(file).parent_path();
    if (std::error_code error; !folder.empty() && !fs::is_directory(folder, error))
      return Status::userError("cannot write '", file, "': folder '", folder.string(),
                               "' does not exist; create it first");
  }
  if (!options.resume.empty() && !plan.trains())
    return Status::userError("--resume continues training, but the plan is for inference; "
                             "cleave-export writes the trained weights as a model to compile");
  if (!options.save.empty() && !plan.trains())
    return Status::userError("--save writes training state, but the plan is for inference");
  if (options.saveEvery && options.save.empty())
    return Status::userError("--save-every needs --save DIR");
  if (options.data.empty() && !executor::inputsOf(plan).empty())
    return Status::userError("the plan has inputs, for example '", executor::inputsOf(plan)[0].name,
                             "', but no data are given; use --data FILE");
  if (options.data.empty() && !options.steps)
    return Status::userError("without --data, --steps N is required");
  return Status::ok();
}

Status checkRanks(const plan::Plan &plan, int found, const std::string &from) {
  int expected = int(artifact::rankCount(plan));
  if (found == expected)
    return Status::ok();
  return Status::userError("the plan is for ", expected, " ranks, but ", from, " gives ", found,
                           "; start ", expected, ", or compile with --ranks ", found);
}

int runAsOneRank(const plan::Plan &plan, const run::Options &options,
                 const launch::RankEnvironment &environment) {
  Status status = checkRanks(plan, environment.size, environment.launcher);
  if (status)
    status = executor::TensorLoader(plan, options.model).checkModel(/*compareHash=*/false);
  launch::StepReporter unused;
  if (status)
    status = run::runRank(plan, options, environment, unused);
  return status ? 0 : fail(status.withContext(concat("rank ", environment.rank)));
}

int runAllRanks(const plan::Plan &plan, const run::Options &options) {
  int ranks = options.ranks.value_or(int(artifact::rankCount(plan)));
  Status status = checkRanks(plan, ranks, "--nproc");
  if (status)
    status = executor::TensorLoader(plan, options.model).checkModel(true);
  if (!status)
    return fail(status);
  launch::LaunchOptions launching;
  launching.stallTimeout = std::chrono::seconds(options.stallSeconds);
  launching.lagTimeout = std::chrono::seconds(options.timeoutSeconds);
  auto outcome = launch::launchLocal(
      ranks, launching,
      [&](const launch::RankEnvironment &environment, launch::StepReporter &reporter) {
        Status status = run::runRank(plan, options, environment, reporter);
        reporter.fail(status);
        return status.exitCode();
      });
  if (!outcome)
    return fail(outcome.status());
  return outcome->message.empty() ? outcome->exitCode
                                  : cleave::fail("cleave-run", outcome->message, outcome->exitCode);
}

} // namespace

int main(int argc, char **argv) {
  std::signal(SIGPIPE, SIG_IGN); // keep running if the reader of stdout ends
  run::Options options;
  if (std::optional<int> code = run::parseOptions(argc, argv, options))
    return *code;
  Result<plan::Plan> plan = artifact::readPlan(options.plan);
  if (!plan)
    return fail(plan.status());
  if (Status status = artifact::verifyPlan(*plan); !status)
    return fail(status);
  if (Status status = checkOptions(*plan, options); !status)
    return fail(status);
  ::malloc_trim(0); // frees the temporary copy made by reading the plan, which ranks would inherit
  auto environment = launch::detectRankEnvironment();
  if (!environment)
    return fail(environment.status());
  return *environment ? runAsOneRank(*plan, options, **environment) : runAllRanks(*plan, options);
}
