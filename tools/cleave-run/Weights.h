// Weights for a plan that did not train them (--weights).
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"
#include "runtime/checkpoint/Weights.h"

#include <string>

namespace cleave::run {

// Opens the weights at `path` (checkpoint::openWeights), with `best` those of the best checkpoint
// in that folder. Checks that they are those of the plan's model. `note` tells the user that names
// differ in a prefix, or is empty.
Result<checkpoint::Weights> weightsFor(const plan::Plan &plan, const std::string &path, bool best,
                                       std::string &note);

// The names of the plan's constants, one per line: of a training, the parameters that it leaves as
// they are (checkpoint::kUntrainedKey).
std::string untrainedOf(const plan::Plan &plan);

} // namespace cleave::run
