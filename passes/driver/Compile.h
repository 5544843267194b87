// Compilation of a model file to a plan file: the phases one after the other, each followed by its verifier.
#pragma once

#include "compiler/cluster/Cluster.h"
#include "passes/driver/Options.h"
#include "compiler/planner/Plan.h"
#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>

namespace cleave::driver {

// Something the user should know that is not an error: a parameter split in two, a norm that was folded.
struct Remark {
  std::string kind; // `parameter`, `warning`, …
  std::string text;
};

struct PhaseTime {
  std::string phase;
  double seconds;
  double cpuSeconds;
};

// All that a compilation works on. Phases hand it on to each other.
struct Compilation {
  explicit Compilation(CompileOptions options);
  ~Compilation();

  // Bytes that one rank may take: the user's budget, or what the planner took from the cluster.
  int64_t budgetBytes() const;

  CompileOptions options;
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::optional<cluster::Cluster> cluster; // the whole one; read by the phase that needs it first
  int64_t plannerBudget = 0; // bytes of one rank that the planner may use; 0: all there are
  planner::Plan decided;     // what the planner decided
  uint64_t arenaBytes = 0;   // what the program of one rank takes
  plan::Plan plan;           // the file that comes out
  std::vector<Remark> remarks;
  std::vector<PhaseTime> times;
};

// Runs the phases that the options ask for and writes the output. The kind of a failure is the exit code.
Status compile(Compilation &compilation);

// Runs the phases up to `phase`, from the model file, and writes nothing: for those who look at the
// module itself.
Status compileTo(Compilation &compilation, const std::string &phase);

} // namespace cleave::driver
