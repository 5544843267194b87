// Best: the checkpoint of a folder whose evaluation was the best. DIR/best.json names it; saving
// does not remove it, however old it is.
#pragma once

#include "runtime/base/Status.h"

#include <cstdint>
#include <optional>
#include <string>

namespace cleave::checkpoint {

struct Best {
  int64_t step = 0;   // that comes next, as in the name of the checkpoint
  std::string metric; // `eval_loss`, …
  double value = 0;   // of the metric
};

// What DIR/best.json says; nothing if it is missing or damaged, or that checkpoint is gone.
std::optional<Best> bestIn(const std::string &directory);

// Writes DIR/best.json. A user error if that fails.
Status writeBest(const std::string &directory, const Best &best);

// The folder of the best checkpoint. A user error if there is none.
Result<std::string> bestCheckpoint(const std::string &directory);

} // namespace cleave::checkpoint
