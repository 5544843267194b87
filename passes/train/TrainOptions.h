// TrainOptions: the options of a training step as plain data, and their text forms
// (docs/interface.md).
#pragma once

#include "passes/precision/Policy.h"
#include "passes/train/LossOption.h"
#include "passes/train/optimizers/Optimizers.h"
#include "runtime/base/Status.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cleave::train {

// An optimizer with all its hyperparameters.
struct OptimizerOption {
  std::string name; // of the table of optimizers
  Hyperparameters values;
};

// Parameters that are updated with other hyperparameters than the rest.
struct GroupOption {
  // Chooses parameters by name; kNoDecay chooses those with at most one dim: biases and norms.
  std::string pattern;
  Hyperparameters values; // those that differ
};
inline constexpr const char *kNoDecay = "no-decay";

// The whole training step.
struct TrainOptions {
  std::vector<LossOption> losses; // summed; at least one
  OptimizerOption optimizer;
  std::vector<GroupOption> groups; // a parameter is in the first that chooses it, if any
  // Decay of the moving average of every trained parameter, in [0, 1); none: no averages.
  std::optional<double> ema;
  // Parameters by name: those that match one of `trainable` (all if empty) and none of `freeze`.
  std::vector<std::string> trainable, freeze;
  std::optional<double> clipNorm; // gradients are scaled down to this norm
  // Puts the borders of a pipeline into the forward step; empty: there are none. Fails with a
  // diagnostic.
  std::function<mlir::LogicalResult(mlir::func::FuncOp)> cut;
  int64_t accumulate = 1;       // micro-batches per step; the loss covers all their samples
  precision::Policy precision;  // the types in which ops compute
  bool freezeBatchNorm = false; // normalise by the running statistics and leave them as they are
};

// Parses `NAME[:KEY=VALUE,…]`; names are those of optimizers/Optimizers.h, and momentum (sgd with
// momentum 0.9). A flag needs no value (`nesterov`).
Result<OptimizerOption> parseOptimizer(const std::string &text);

// Parses `PATTERN:KEY=VALUE,…`, or `no-decay[:KEY=VALUE,…]`, which sets weight-decay=0 unless told
// otherwise.
Result<GroupOption> parseGroup(const std::string &text, const OptimizerOption &optimizer);

// The hyperparameters of the parameters in the group.
Hyperparameters hyperparametersOf(const OptimizerOption &optimizer, const GroupOption &group);

// The optimizer with all its options, also those that have their defaults, and behind `;` its
// groups and averages: `sgd:lr=0.1,momentum=0,…,weight-decay=0.1;group no-decay:weight-decay=0`.
std::string optimizerText(const TrainOptions &options);

} // namespace cleave::train
