// The command line of cleave-run.
#include "tools/cleave-run/Options.h"

#include "tools/commandline/CommandLine.h"

namespace cleave::run {
namespace {

void describe(CLI::App &app, Options &options) {
  app.add_option("plan", options.plan, "plan file, written by cleave-compile")->required();
  app.add_option(
         "--data", options.data,
         "arrays by input name (.npz, .safetensors), NAME=FILE.npy, or a text or token file; "
         "may be given several times")
      ->allow_extra_args(false)
      ->type_name("FILE");
  app.add_option("--steps", options.steps,
                 "steps to do, those before --resume included (default: one pass over the data)")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  app.add_option("--nproc", options.ranks, "processes on this machine (default: the plan's ranks)")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  app.add_option("--threads", options.threads,
                 "threads per rank (default: this machine's cores shared among its ranks)")
      ->check(CLI::PositiveNumber)
      ->type_name("T");
  app.add_option(
         "--seed", options.seed,
         "seed of first values that are drawn, and of --shuffle if that has none of its own")
      ->capture_default_str()
      ->type_name("N");
  app.add_option("--shuffle", options.shuffleSeed, "shuffle the samples, by SEED or --seed")
      ->expected(0, 1)
      ->type_name("SEED");
  app.add_option("--save", options.save, "write a checkpoint into this folder at the end")
      ->type_name("DIR");
  app.add_option("--save-every", options.saveEvery, "and after every N steps")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  app.add_option("--resume", options.resume, "continue from this folder's newest checkpoint")
      ->type_name("DIR");
  app.add_option("--log", options.log, "one JSON line per step, and one per rank at the end")
      ->type_name("FILE.jsonl");
  app.add_option("--out", options.out, "results of inference (.npz, .safetensors)")
      ->type_name("FILE");
  app.add_option("--profile", options.profile,
                 "trace of the last steps for Perfetto, measured beside predicted")
      ->type_name("FILE.json");
  app.add_option("--profile-steps", options.profiledSteps, "how many last steps to trace")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->type_name("N");
  app.add_option("--model", options.model, "model file, if it is no longer where it was compiled")
      ->type_name("FILE");
  app.add_option("--timeout", options.timeoutSeconds,
                 "seconds after which a rank that does not answer counts as lost")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->type_name("S");
  app.add_option("--stall-timeout", options.stallSeconds,
                 "seconds without any step after which the job is ended (default: none)")
      ->check(CLI::PositiveNumber)
      ->type_name("S");
  app.add_flag("--memory-report", options.memoryReport,
               "print what each rank's resident memory consists of");
  app.add_flag("-q,--quiet", options.quiet, "print nothing but mistakes");
}

} // namespace

std::optional<int> parseOptions(int argc, char **argv, Options &options) {
  CLI::App app{
      "Runs a plan: trains, or computes outputs. Exit codes: 0 done; 1 the user's mistake or bad "
      "input; 3 a lost rank; 4 a defect of Cleave.",
      "cleave-run"};
  describe(app, options);
  if (std::optional<int> code = readCommandLine(app, argc, argv))
    return code;
  options.shuffles = app.count("--shuffle") > 0;
  options.checked = wantsChecks();
  return std::nullopt;
}

} // namespace cleave::run
