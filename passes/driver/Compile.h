// Compile: compiles a model file to a plan file, phase by phase.
#pragma once

#include "compiler/cluster/Cluster.h"
#include "compiler/planner/report/PlanReport.h"
#include "compiler/schedule/pipelines/LayerLayout.h"
#include "passes/driver/Options.h"
#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <limits>
#include <memory>
#include <optional>

namespace cleave::driver {

// Information for the user that is not an error, such as a parameter that was split in two.
struct Remark {
  std::string kind; // `parameter`, `warning`, …
  std::string text;
};

// The time of one run of a phase with its verifier.
struct PhaseTime {
  std::string phase;
  double seconds;    // wall-clock
  double cpuSeconds; // of all threads
};

// What the plan would be under other options (WhatIf.h).
struct Variant {
  std::string change;  // the options, as typed
  std::string outcome; // `12 % less time`, `does not fit`
  double seconds = 0;  // per step; 0: there is no plan
  std::string detail;  // mesh, bytes of one rank
};

// How the model of a pipeline is cut into chunks (CutStages.h).
struct ModelCut {
  std::vector<double> opSeconds; // that the cut assumes, in the order of graph::opsOf()
  std::vector<int64_t> chunkOf;  // by op in this order: stage::Chunks::ofOp
  std::optional<pipelines::LayerLayout> layout; // if it lies between layers
};

// A program of the plan on its way through the phases.
struct Unit {
  plan::Program::Kind kind;
  mlir::OwningOpRef<mlir::ModuleOp> module; // what the last phase left

  // `step`, `evaluation`; of a pipeline `stage 0`, …
  std::string name() const;
};

// The state of a compilation, which phases read and change.
struct Compilation {
  explicit Compilation(CompileOptions options);
  ~Compilation();

  CompileOptions options;
  std::unique_ptr<mlir::MLIRContext> context;
  // The step first, from the phase `import` on. The phase `program` leaves one module, that of the
  // first unit, in which the programs of all units share tensors and kernels.
  std::vector<Unit> units;
  // All ranks of the cluster; read by the first phase that needs it.
  std::optional<cluster::Cluster> cluster;
  ModelCut cut;                    // of --stages; set by the phase `train`
  planner::PlanReport report;      // the planner's decisions and reasons
  std::vector<int64_t> stagePeaks; // planned bytes by stage; empty without --stages
  // Plans of stages that take as long, in the planner's model, are not searched. If none is faster,
  // the phase `planned` fails and sets the seconds that they take at least.
  double cutoffSeconds = std::numeric_limits<double>::infinity();
  std::optional<double> beatenSeconds;
  uint64_t arenaBytes = 0;       // size of one rank's arena
  uint64_t peakBytes = 0;        // most bytes of it in use at one time in the step
  std::vector<int64_t> peaks;    // the same by stage
  plan::Plan plan;               // the plan file
  std::vector<Remark> remarks;   // in the order in which they arose
  std::vector<PhaseTime> times;  // one entry per run of a phase
  std::vector<Variant> variants; // --what-if

  // Called with each result of a long search (--pareto, least and auto), as a line without its end;
  // empty: they are not shown.
  std::function<void(const std::string &)> onResult;
  void tell(const std::string &result) const;
  // Called with a line on the progress of the search after each plan that it tries; empty: it is
  // not shown.
  std::function<void(const std::string &)> onProgress;

  // The module of the step; null before `import`.
  mlir::ModuleOp module() const;
  // Replaces it, or makes it the first unit.
  void setModule(mlir::OwningOpRef<mlir::ModuleOp> module);

  // Becomes `other`, which was made for the same command line.
  void take(Compilation &&other);
};

// Runs the phases that the options select and writes the output. The kind of a failure determines
// the exit code.
Status compile(Compilation &compilation);

// Runs the phases from the model file up to `phase` and writes nothing; the module is the result.
Status compileTo(Compilation &compilation, const std::string &phase);

// The same from behind the phase `done`, whose module the compilation has.
Status continueTo(Compilation &compilation, const std::string &done, const std::string &phase);

} // namespace cleave::driver
