// The comparison of a checkpoint with what a plan trains, before a run resumes from it.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/checkpoint/Checkpoint.h"

#include <map>
#include <string>
#include <vector>

namespace cleave::checkpoint {

// What a plan trains.
struct Training {
  // `adamw:lr=0.001,beta1=0.9,…;group head.*:lr=0.01` with all options; empty: unknown.
  std::string optimizer;
  // The name of every parameter and state; true for the states of the optimizer.
  std::map<std::string, bool> tensors;
  // `cosine:warmup=10,…` with all options; empty: unknown.
  std::string schedule = {};
};

// The keys of the texts of the optimizer and of the learning-rate schedule in Progress.extra.
constexpr const char *kOptimizerKey = "optimizer", *kScheduleKey = "lr-schedule";

// Whether the training can continue from the checkpoint. Returns notes for the user, for example on
// another learning rate. User errors: the optimizers are of different kinds, or either side has
// states or parameters that the other one lacks; they are named. With `restartsOptimizer`, the
// states of the optimizer are not compared.
Result<std::vector<std::string>> compareForResume(const Checkpoint &checkpoint,
                                                  const Training &training, bool restartsOptimizer);

} // namespace cleave::checkpoint
