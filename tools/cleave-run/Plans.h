// The plans of a run: the one of the command line, and those for other numbers of ranks.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"
#include "tools/cleave-run/Options.h"

#include <memory>
#include <vector>

namespace cleave::run {

class Plans {
public:
  // Reads and verifies the plan and those of --plans. User errors: a file is damaged, a plan is for
  // another model or training than the first, or two plans are for the same number of ranks.
  static Result<Plans> read(const Options &options);

  // The plan of the command line.
  const plan::Plan &first() const { return *plans_[0]; }
  // The plan for this number of ranks; null if there is none.
  const plan::Plan *forRanks(int ranks) const;

private:
  std::vector<std::unique_ptr<plan::Plan>> plans_;
};

} // namespace cleave::run
