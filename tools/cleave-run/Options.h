// The command-line options of cleave-run.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/data/Epochs.h"
#include "runtime/image/Transform.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cleave::run {

// What happens after a step whose loss or gradient norm is not a finite number.
enum class OnNan {
  Stop,     // the run ends
  Skip,     // the update is undone
  Continue, // a warning, as if nothing had happened
};

struct Options {
  std::vector<std::string> words; // of the command line, with the name of the tool
  std::string plan;               // path of the plan file
  std::vector<std::string> trust; // files of public keys; empty: plans need no signature
  std::vector<std::string> data;  // values of --data
  std::string dataCommand;        // instead of data; empty: none
  std::vector<std::string> eval;  // values of --eval; empty: no evaluation
  int64_t evalEvery = 0;          // steps between evaluations; 0: at the end only
  int64_t evalSteps = 0;          // micro-batches of an evaluation at most; 0: one pass
  std::string keepBest;           // metric whose best checkpoint stays; empty: none
  std::optional<int64_t> steps;   // total, with those before --resume
  std::optional<int64_t> epochs;  // total, with those before --resume; neither: one epoch
  data::LastBatch lastBatch = data::LastBatch::Wrap;
  image::TransformOptions images;     // --image options
  std::optional<int> ranks;           // processes to start; none: ranks of the plan
  std::string device = "auto";        // auto, cpu, cuda, cuda:N
  std::string fileSpace = "/var/tmp"; // folder of what the plan keeps in files
  int threads = 0;                    // per rank; 0: cores of this machine divided by its ranks
  uint64_t seed = 0;                  // of random numbers
  bool shuffles = false;
  std::optional<uint64_t> shuffleSeed; // none: `seed`
  std::string save, resume, weights, log, report, tensorBoard, out, profile,
      model;             // paths; empty: option not given
  int64_t saveEvery = 0; // steps between checkpoints; 0: at the end only
  int keep = 2;          // checkpoints that stay in the folder
  bool best = false;     // --weights takes the best checkpoint of a folder
  bool averages = false; // --weights takes the moving averages in a checkpoint
  OnNan onNan = OnNan::Stop;
  std::vector<std::string> lr;   // values of --lr: RATE or GROUP=RATE
  std::string lrSchedule;        // KIND[:OPTION=VALUE,…] or a file; empty: constant
  bool restartOptimizer = false; // on resume, the optimizer's states begin anew
  int profiledSteps = 3;
  bool memoryReport = false;
  bool generates = false;         // a language model continues `prompt`
  std::string prompt;             // bytes, or numbers with commas
  double temperature = 0.8;       // of the draws of its tokens; 0: the most probable ones
  bool quiet = false;             // prints errors only
  bool verbose = false;           // also prints plan, ranks, communicators, files and saves
  bool checked = false;           // CLEAVE_CHECK_KERNELS of the environment
  bool waits = false;             // CLEAVE_CHECK_KERNELS=wait
  int timeoutSeconds = 60;        // without an answer before a rank is considered lost
  int stallSeconds = 0;           // without progress before the job is ended; 0: no limit
  int maxRestarts = 0;            // after lost ranks
  std::vector<std::string> plans; // paths of plans for other numbers of ranks
  std::string flightRecord;       // path; empty: the default
  std::string trainFile;          // these options as the section [run] of a train.toml
  std::string repetition;         // `trainFile` without --resume: of a run from the beginning
  // Set for a restart: its number, from 1, and why ranks were lost.
  int restart = 0;
  std::string restartReason;
};

// Parses the command line into `options`. Returns an exit code if the tool must end (after printing
// help or an error), else nothing.
std::optional<int> parseOptions(int argc, char **argv, Options &options);

} // namespace cleave::run
