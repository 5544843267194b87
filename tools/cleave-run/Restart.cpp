// See Restart.h.
#include "tools/cleave-run/Restart.h"

#include "runtime/artifact/Mesh.h"
#include "runtime/checkpoint/Checkpoint.h"

namespace cleave::run {

Status checkRanks(const plan::Plan &plan, int found, const std::string &from) {
  int expected = int(artifact::rankCount(plan));
  if (found == expected)
    return Status::ok();
  return Status::userError("the plan is for ", expected, " ranks, but ", from, " gives ", found,
                           "; start ", expected, ", compile with --ranks ", found,
                           ", or name a plan for ", found, " ranks in --plans");
}

Options optionsOfRestart(const Options &given, int number, const std::string &reason) {
  Options options = given;
  options.restart = number;
  options.restartReason = reason;
  if (given.save.empty())
    return options;
  if (auto newest = checkpoint::Checkpoint::open(given.save)) {
    options.resume = (*newest)->path();
    options.weights.clear();
    options.restartOptimizer = false; // its states are this run's own
  }
  return options;
}

std::string originText(const Options &options) {
  return options.resume.empty() ? "the beginning" : concat("'", options.resume, "'");
}

} // namespace cleave::run
