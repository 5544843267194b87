// Variants: plans of a compilation's model under other options, for questions such as "what if
// there were twice the ranks?".
//
// Variants that differ in ranks, memory, mesh or pins share the module of the phase `primitive`.
// Another number of micro-batches has other shapes: the model is imported again, once. Where
// variants differ in device memory alone, earlier plans and refusals answer later ones
// (compiler/planner/search/PlanMemory.h).
#pragma once

#include "compiler/planner/search/PlanMemory.h"
#include "compiler/planner/search/QuickPlan.h"
#include "passes/driver/Compile.h"
#include "passes/driver/PlanModule.h"

#include <map>

namespace cleave::driver {

// Reads the cluster unless an earlier phase did. Products of f32 tensors have the rate of the type
// in which they multiply, if the cluster has one.
Status loadCluster(Compilation &c);

// The planner's options that follow from those of the command line; the cluster is loaded.
Result<planner::PlannerOptions> plannerOptions(const CompileOptions &options,
                                               const cluster::Cluster &cluster);

class Variants {
public:
  // `c` is behind the phase `primitive`.
  explicit Variants(Compilation &c) : c_(c) {}

  // The memory that one rank may use.
  Result<planner::Budget> budget(const CompileOptions &options);
  // The ranks that a node of the cluster has; 1 if it is a CPU.
  Result<int64_t> nodeRanks();
  // Whether the sizes that --pin gives to mesh axes divide the ranks.
  Result<bool> pinsFitRanks(const CompileOptions &options);
  // The plan that cleave-compile would make; known plans and refusals answer without a search.
  // Errors as of the phases.
  Result<planner::PlanReport> plan(const CompileOptions &options);
  // Searches that plan and returns it with its step.
  Result<PlannedModule> search(const CompileOptions &options);
  // Remembers a plan that another search has found.
  Status remember(const CompileOptions &options, const planner::PlanReport &plan);
  // Plans that are found within seconds; the cheapest answer to whether anything fits.
  Result<planner::QuickPlan> quick(const CompileOptions &options);

  // Shows a result of a search (Compilation::onResult).
  void tell(const std::string &result) const { c_.tell(result); }

private:
  // The options in which variants differ, without device memory.
  struct Question {
    std::map<std::string, int64_t> symbols;
    int64_t accumulate = 1, ranks = 1, hostMemory = 0, fileMemory = 0;
    std::string mesh, pin;
    auto operator<=>(const Question &) const = default;
  };

  Result<mlir::ModuleOp> moduleOf(const CompileOptions &options);

  // The plans and refusals under these options, for all budgets of device memory.
  planner::PlanMemory &memoryOf(const CompileOptions &options);

  Compilation &c_;
  // Behind the phase `primitive`, by the number of micro-batches.
  std::map<int64_t, std::unique_ptr<Compilation>> others_;
  std::map<Question, planner::PlanMemory> memories_;
};

// `12.0 % less time`, `4.0 % more time`, `the same time`.
std::string comparedTo(double seconds, double other);

// An amount as --memory reads it, rounded up: `3250MiB`.
std::string memoryText(int64_t bytes);

} // namespace cleave::driver
