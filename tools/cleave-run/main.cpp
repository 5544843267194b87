// cleave-run: runs a plan with as many ranks as it was made for, which are either started here, one
// process each, or were started by torchrun, mpirun or Slurm, of which this process is one.
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

// Mistakes that show without running anything; the same on all ranks.
Status checkOptions(const plan::Plan &plan, const run::Options &options) {
  if (!options.out.empty() && plan.trains())
    return Status::userError(
        "--out writes the outputs of inference, but the plan trains; compile the "
        "model without --train, or leave --out away");
  bool isKnownFormat = options.out.ends_with(".npz") || options.out.ends_with(".safetensors");
  if (!options.out.empty() && !isKnownFormat)
    return Status::userError("--out: found '" + options.out +
                             "', expected a name that ends in .npz or .safetensors");
  for (const std::string &file : {options.out, options.profile, options.log}) {
    fs::path folder = fs::path(file).parent_path();
    if (std::error_code error; !folder.empty() && !fs::is_directory(folder, error))
      return Status::userError("'" + file + "' cannot be written: there is no folder '" +
                               folder.string() + "'");
  }
  if (!options.resume.empty() && !plan.trains())
    return Status::userError("--resume goes on with training, but the plan does not train; "
                             "cleave-export writes what was trained as a model to compile");
  if (!options.save.empty() && !plan.trains())
    return Status::userError("--save keeps what training changes, but the plan does not train");
  if (options.saveEvery && options.save.empty())
    return Status::userError("--save-every needs --save DIR");
  if (options.data.empty() && !executor::inputsOf(plan).empty())
    return Status::userError("the plan has inputs, the first is '" +
                             executor::inputsOf(plan)[0].name +
                             "', and no data are given; --data FILE names them");
  if (options.data.empty() && !options.steps)
    return Status::userError("without --data, --steps N must say how many steps to run");
  return Status::ok();
}

Status checkRanks(const plan::Plan &plan, int found, const std::string &from) {
  int expected = int(artifact::rankCount(plan));
  if (found == expected)
    return Status::ok();
  return Status::userError("the plan is for " + std::to_string(expected) + " ranks, " + from +
                           " gives " + std::to_string(found) +
                           "; start as many, or compile with --ranks " + std::to_string(found));
}

int runAsOneRank(const plan::Plan &plan, const run::Options &options,
                 const launch::RankEnvironment &environment) {
  Status status = checkRanks(plan, environment.size, environment.launcher);
  if (status)
    status = executor::TensorLoader(plan, options.model).checkModel(/*compareHash=*/false);
  launch::StepReporter nobody;
  if (status)
    status = run::runRank(plan, options, environment, nobody);
  return status ? 0 : fail(status.withContext("rank " + std::to_string(environment.rank)));
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
  std::signal(SIGPIPE, SIG_IGN); // `cleave-run … | head` goes on without its reader
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
  ::malloc_trim(0); // reading the plan took twice its size for a moment; ranks inherit what is kept
  auto environment = launch::detectRankEnvironment();
  if (!environment)
    return fail(environment.status());
  return *environment ? runAsOneRank(*plan, options, **environment) : runAllRanks(*plan, options);
}
