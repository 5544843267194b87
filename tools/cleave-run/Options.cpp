// The command line of cleave-run.
#include "tools/cleave-run/Options.h"

#include "tools/commandline/CommandLine.h"
#include "tools/commandline/TrainFile.h"

namespace cleave::run {
namespace {

// What to run, and where.
void addRunOptions(CLI::App &app, Options &options) {
  app.add_option("plan", options.plan, "plan file, written by cleave-compile")
      ->required()
      ->type_name("FILE");
  app.add_option("--trust", options.trust,
                 "PEM file of Ed25519 public keys: run the plan only if PLAN.sig is a signature by "
                 "one of them; may be given several times")
      ->allow_extra_args(false)
      ->type_name("KEY");
  app.add_option("--nproc", options.ranks, "processes on this machine (default: the plan's ranks)")
      ->check(positive())
      ->type_name("N");
  app.add_option(
         "--device", options.device,
         "device of each rank: cpu, cuda (one GPU per rank of this machine), or cuda:N (GPU "
         "N for all of them); auto: the kind that the plan is for")
      ->capture_default_str()
      ->type_name("auto|cpu|cuda[:N]");
  app.add_option("--threads", options.threads,
                 "threads per rank (default: cores of this machine divided by its ranks)")
      ->check(positive())
      ->type_name("T");
  app.add_option("--file-space", options.fileSpace,
                 "folder on a disk of this machine for what the plan keeps in files (compiled with "
                 "--file-memory); nothing stays there")
      ->capture_default_str()
      ->type_name("DIR");
  app.add_option("--seed", options.seed,
                 "seed of random initial values, and default seed of --shuffle")
      ->capture_default_str()
      ->type_name("N");
}

// The data, and how long to run over them.
void addDataOptions(CLI::App &app, Options &options) {
  CLI::Option *files = app.add_option("--data", options.data,
                                      "arrays by input name (.npz, .safetensors), NAME=FILE.npy, "
                                      "a text or token file, a folder of images by class, or a "
                                      ".tar file of images; or a quoted pattern of such files; may "
                                      "be given several times")
                           ->allow_extra_args(false)
                           ->type_name("FILE");
  CLI::Option *steps =
      app.add_option("--steps", options.steps,
                     "total number of steps, including those before --resume (default: one epoch)")
          ->check(nonNegative())
          ->type_name("N");
  CLI::Option *epochs =
      app.add_option(
             "--epochs", options.epochs,
             "instead of --steps: total number of passes over the data, including those before "
             "--resume")
          ->check(positive())
          ->excludes(steps)
          ->type_name("N");
  CLI::Option *lastBatch =
      app.add_option_function<std::string>(
             "--last-batch",
             [&options](const std::string &text) {
               options.lastBatch = text == "drop"  ? data::LastBatch::Drop
                                   : text == "pad" ? data::LastBatch::Pad
                                                   : data::LastBatch::Wrap;
             },
             "samples at the end of an epoch that do not fill a step: leave them out (drop), add "
             "samples with ignored labels (pad), or go on with the next epoch (wrap); default: "
             "wrap")
          ->check(isOneOf({"drop", "pad", "wrap"}));
  CLI::Option *shuffle = app.add_option("--shuffle", options.shuffleSeed,
                                        "shuffle the samples with SEED (default: --seed)")
                             ->expected(0, 1)
                             ->type_name("[SEED]");
  app.add_option("--data-command", options.dataCommand,
                 "instead of --data: a command that writes batches to its standard output")
      ->excludes(files)
      ->excludes(epochs)
      ->excludes(lastBatch)
      ->excludes(shuffle)
      ->type_name("COMMAND");
}

// The continuation of a text, instead of data.
void addGenerationOptions(CLI::App &app, Options &options) {
  CLI::Option *prompt =
      app.add_option("--prompt", options.prompt,
                     "instead of --data: a language model continues this text, with a token per "
                     "step (default: 200 steps), and the result is printed")
          ->excludes("--data")
          ->excludes("--data-command")
          ->excludes("--epochs")
          ->type_name("TEXT");
  app.add_option("--temperature", options.temperature,
                 "of the tokens that --prompt draws; 0: always the most probable token")
      ->check(nonNegative())
      ->capture_default_str()
      ->needs(prompt)
      ->type_name("T");
}

// The transform of images.
void addImageOptions(CLI::App &app, Options &options) {
  app.add_option("--image-resize", options.images.resize,
                 "of images: length in pixels to which the shorter side is resized before the crop "
                 "(default: as short as the model allows)")
      ->check(CLI::Range(1, 1 << 16))
      ->type_name("N");
  app.add_option_function<std::string>(
         "--image-crop",
         [&options](const std::string &text) {
           if (Status status = image::readCrop(text, options.images); !status)
             throw CLI::ValidationError("--image-crop", status.message());
         },
         "of images in training; default: center")
      ->type_name("center|random[:padding=N]|random-resized[:area=A]");
  app.add_flag("--image-flip", options.images.flips,
               "of images in training: mirrors left and right in half of the cases");
  app.add_option("--image-mean", options.images.mean,
                 "of images: mean that is subtracted, of values from 0 to 1, per channel or one")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("R,G,B");
  app.add_option("--image-std", options.images.deviation,
                 "of images: standard deviation by which values are divided, per channel or one")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::PositiveNumber)
      ->type_name("R,G,B");
}

// How it trains.
void addTrainingOptions(CLI::App &app, Options &options) {
  app.add_option("--lr", options.lr,
                 "learning rate, or GROUP=RATE of a group with its own (default: the plan's); may "
                 "be given several times")
      ->allow_extra_args(false)
      ->type_name("RATE");
  app.add_option(
         "--lr-schedule", options.lrSchedule,
         "KIND[:OPTION=VALUE,...], or a file with a learning rate per line, or a step and a "
         "learning rate")
      ->type_name("constant|linear|cosine|polynomial|step|one-cycle|wsd|FILE");
}

// Checkpoints, logs and other files of the run.
void addFileOptions(CLI::App &app, Options &options) {
  app.add_option("--save", options.save, "write a checkpoint into this folder at the end")
      ->type_name("DIR");
  app.add_option("--save-every", options.saveEvery, "also write a checkpoint after every N steps")
      ->check(positive())
      ->type_name("N");
  app.add_option("--keep", options.keep, "number of checkpoints that stay in the folder")
      ->check(positive())
      ->capture_default_str()
      ->type_name("N");
  app.add_option("--resume", options.resume, "continue from this folder's newest checkpoint")
      ->type_name("DIR");
  app.add_option("--weights", options.weights,
                 "checkpoint folder or .safetensors file with the values of parameters and running "
                 "statistics, by name, instead of those in the model file")
      ->type_name("DIR|FILE");
  app.add_flag("--best", options.best,
               "with --weights DIR: the best checkpoint of the folder (--keep-best)");
  app.add_flag("--ema", options.averages,
               "with --weights DIR: the moving averages of the parameters instead of the "
               "parameters (cleave-compile --ema)");
  app.add_flag("--restart-optimizer", options.restartOptimizer,
               "with --resume: begin the states of the optimizer anew");
  app.add_option_function<std::string>(
         "--on-nan",
         [&options](const std::string &text) {
           options.onNan = text == "skip"       ? OnNan::Skip
                           : text == "continue" ? OnNan::Continue
                                                : OnNan::Stop;
         },
         "after a loss or gradient norm that is not finite: end the run without saving (stop), "
         "undo the update (skip), or go on (continue); default: stop")
      ->check(isOneOf({"stop", "skip", "continue"}));
  app.add_option("--log", options.log,
                 "one JSON line per step, and one per rank at the end; with --resume appended")
      ->type_name("FILE.jsonl");
  app.add_option("--report", options.report,
                 "page for browsers with curves of the run, written at its end; with --resume and "
                 "--log from the first step on")
      ->type_name("FILE.html");
  app.add_option("--tensorboard", options.tensorBoard,
                 "folder for the metrics of every step in TensorBoard's format")
      ->type_name("DIR");
  app.add_option("--out", options.out, "file for the outputs of inference (.npz, .safetensors)")
      ->type_name("FILE");
  app.add_option("--profile", options.profile,
                 "trace of the last steps for Perfetto, measured and predicted side by side")
      ->type_name("FILE.json");
  app.add_option("--profile-steps", options.profiledSteps, "number of last steps to trace")
      ->check(positive())
      ->capture_default_str()
      ->type_name("N");
  app.add_option("--model", options.model,
                 "path of the model file, if it has moved since compilation")
      ->type_name("FILE");
}

// The evaluation during a training.
void addEvaluationOptions(CLI::App &app, Options &options) {
  app.add_option("--eval", options.eval,
                 "evaluate the training on these data at its end; values as of --data")
      ->allow_extra_args(false)
      ->type_name("FILE");
  app.add_option("--eval-every", options.evalEvery, "also evaluate after every N steps")
      ->check(positive())
      ->type_name("N");
  app.add_option("--eval-steps", options.evalSteps,
                 "micro-batches of an evaluation at most (default: one pass over the data)")
      ->check(positive())
      ->type_name("N");
  app.add_option("--keep-best", options.keepBest,
                 "also save where this number of the evaluation is the best so far, and keep that "
                 "checkpoint: eval_loss, eval_accuracy, ...")
      ->type_name("METRIC");
}

void addSupervisionOptions(CLI::App &app, Options &options) {
  app.add_option("--timeout", options.timeoutSeconds,
                 "seconds without progress after which a rank is considered lost")
      ->check(positive())
      ->capture_default_str()
      ->type_name("S");
  app.add_option("--stall-timeout", options.stallSeconds,
                 "seconds without progress after which the job is ended (default: none)")
      ->check(positive())
      ->type_name("S");
  app.add_option("--max-restarts", options.maxRestarts,
                 "how often lost ranks are started again from the newest checkpoint")
      ->check(nonNegative())
      ->capture_default_str()
      ->type_name("N");
  app.add_option("--plans", options.plans,
                 "plans of the same model and training for other numbers of ranks")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("PLAN,PLAN");
  app.add_option("--flight-record", options.flightRecord,
                 "what every rank was doing when ranks were lost (default: beside the --save "
                 "folder)")
      ->type_name("FILE.json");
  app.add_flag("--memory-report", options.memoryReport,
               "print the composition of each rank's resident memory");
}

} // namespace

std::optional<int> parseOptions(int argc, char **argv, Options &options) {
  CLI::App app{
      "Executes a plan: training or inference. Exit codes: 0 done; 1 user error or bad input; "
      "3 lost rank; 4 defect of Cleave.",
      "cleave-run"};
  addRunOptions(app, options);
  addDataOptions(app, options);
  addGenerationOptions(app, options);
  addImageOptions(app, options);
  addTrainingOptions(app, options);
  addFileOptions(app, options);
  addEvaluationOptions(app, options);
  addSupervisionOptions(app, options);
  describeVerbosity("print errors only",
                    "also print the plan, every rank, communicators, files, memory by kind and "
                    "every save");
  addTrainFile(app, "run");
  if (std::optional<int> code = readCommandLine(app, argc, argv))
    return code;
  options.trainFile = trainFileSection(app, "run");
  options.repetition = trainFileSection(app, "run", "resume");
  options.words.assign(argv, argv + argc);
  options.quiet = verbosity() == Verbosity::Quiet;
  options.verbose = verbosity() == Verbosity::Verbose;
  options.shuffles = app.count("--shuffle") > 0;
  if (app.count("--prompt") && !options.steps)
    options.steps = 200;
  options.generates = app.count("--prompt") > 0;
  options.checked = wantsChecks();
  options.waits = wantsWaits();
  return std::nullopt;
}

} // namespace cleave::run
