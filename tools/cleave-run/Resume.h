// Checks that a plan can continue the training of a checkpoint.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "tools/cleave-run/LearningRates.h"

#include <string>
#include <vector>

namespace cleave::run {

// Compares the checkpoint's tensors, optimizer and learning-rate schedule with those of this run of
// the plan. Returns notes for the user, for example on another learning rate. User errors: the
// checkpoint has trained a constant of the plan, is of another optimizer, or lacks or has too many
// states. With `restartsOptimizer`, the states of the optimizer are not compared.
Result<std::vector<std::string>> checkResume(const plan::Plan &plan,
                                             const checkpoint::Checkpoint &checkpoint,
                                             const LearningRates &rates, bool restartsOptimizer);

} // namespace cleave::run
