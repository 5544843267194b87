// --report: a page for browsers that shows a run: curves over the steps, and memory.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"

#include <string>
#include <vector>

namespace cleave::run {

// Writes the page. `lines` are those of the log (RunLog.h), `samples` those of a step, 0 if there
// are no data; `error` says how the run failed, or is empty. Without a line of a step nothing is
// written. A user error if the file cannot be written.
Status writeReport(const std::string &path, const plan::Plan &plan, const std::string &planPath,
                   const std::vector<std::string> &lines, int64_t samples,
                   const std::string &error);

} // namespace cleave::run
