// Options: the options of a compilation as plain data, one per option of cleave-compile
// (docs/interface.md).
#pragma once

#include "compiler/planner/choices/Budget.h"
#include "runtime/base/Mesh.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cleave::driver {

// The defaults are those of the command line.
struct CompileOptions {
  std::string model;  // file to read: a model of any format, or .mlir with startFrom
  std::string output; // plan to write; with stopAfter the IR as text, `-` for standard output

  // The training step.
  bool train = false;
  std::vector<std::string> losses;    // KIND[:OUTPUT[,LABEL]][,OPTION=VALUE…]
  std::string optimizer = "adamw";    // KIND[:OPTION=VALUE,…]
  std::vector<std::string> groups;    // GLOB:OPTION=VALUE,… or no-decay
  std::optional<double> ema;          // decay of moving averages of the parameters
  std::vector<std::string> trainable; // globs of parameter names; empty: all
  std::vector<std::string> freeze;
  bool evaluate = false;         // also compile the evaluation of a micro-batch
  bool evaluateAverages = false; // the evaluation is also that of the moving averages
  double clipNorm = 0;           // 0: gradients are not clipped
  int64_t accumulate = 1;        // micro-batches per step
  // --micro-batch: the symbols of --set give the whole batch, which is cut into so many
  // micro-batches: a number, or `auto`; empty: not given.
  std::string microBatch;
  int64_t stages = 1;        // of a pipeline
  bool autoStages = false;   // --stages auto: the fastest number
  std::string schedule;      // name, CSV file or `auto`; empty: one forward, one backward
  int64_t chunks = 0;        // of the model on each stage; 0: as few as suit the schedule
  std::string cut;           // --cut: the layers of each chunk (LayerLayout.h); empty: balanced
  std::string batchNorm;     // `train` or `frozen`; empty: `train`, without `train` as in the file
  std::string dtype = "f32"; // f32, tf32, bf16, f16 or a file (precision::parsePolicy)

  // The model.
  std::map<std::string, int64_t> symbols;                  // --set
  bool keepSymbols = false;                                // those without a value stay symbols
  std::map<std::string, std::vector<double>> values;       // --value: inputs that are known
  std::map<std::string, std::vector<std::string>> strings; // the same as typed, for string inputs
  std::vector<std::string> inputs;                         // --input NAME=TYPE[DIM,…]
  std::vector<std::pair<std::string, std::string>> ties;   // --tie A=B
  std::vector<std::string> unties;

  // The machines, and constraints on the plan.
  std::string cluster = "local-cpu";
  std::string device;              // cpu, cuda or cuda:sm_90; empty: that of the cluster
  bool decomposeAttention = false; // into products and softmax, instead of a library's kernel
  bool directAttention = false;    // on GPUs by generated kernels, instead of a library's
  bool directConvolution = false;  // by generated kernels, instead of a library's
  int64_t ranks = 1;
  bool leastRanks = false; // --ranks least: the planner chooses the fewest that suffice
  std::optional<planner::Budget> memory; // of one rank; nothing: what the cluster leaves it
  int64_t hostMemory = 0; // bytes of its host that a rank may use for values, and of its file
  int64_t fileMemory = 0;
  bool leastMemory = false; // --memory least: the smallest budget in which a plan is found
  std::optional<Mesh> mesh; // none: the planner chooses
  std::string pin;          // recipe or file; empty: none

  std::string signKey; // PEM file of the private key that signs the plan; empty: no signature

  // Kernels compare every load and store with its buffer (CLEAVE_CHECK_KERNELS).
  bool checkKernels = false;

  // Answers beside the plan.
  bool whatIf = false; // plans under other options
  std::string pareto;  // writes memory against time to PARETO.csv and PARETO.svg; empty: does not

  // Inspection.
  std::string stopAfter; // phase names of Phases.h
  std::string startFrom;
  std::string dumpPhases; // folder
  std::string problem;    // file to write the planner's network to
  std::string solution;   // file with the choices of a solution of it, which are the plan
  bool timing = false;
  // Recorded in the plan: the command line as typed, and the section [compile] of a train.toml.
  std::string commandLine, compileOptions;
};

} // namespace cleave::driver
