// Weights for a plan that did not train them (--weights).
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"
#include "runtime/checkpoint/Weights.h"
#include "tools/cleave-run/Options.h"

#include <string>

namespace cleave::run {

// What the user should know about weights; empty: nothing.
struct WeightRemarks {
  std::string note;    // names differ in a prefix
  std::string warning; // the weights have more than the plan reads
};

// Opens the weights of --weights (checkpoint::openWeights), with --best those of the best
// checkpoint in that folder, with --ema moving averages. Checks that they are those of the plan's
// model.
Result<checkpoint::Weights> weightsFor(const plan::Plan &plan, const Options &options,
                                       WeightRemarks &remarks);

// The names of the plan's constants, one per line: of a training, the parameters that it leaves as
// they are (checkpoint::kUntrainedKey).
std::string untrainedOf(const plan::Plan &plan);

} // namespace cleave::run
