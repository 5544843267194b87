// Runs: runs side by side, from the pages that cleave-run --report wrote.
#pragma once

#include "runtime/base/Status.h"
#include "tools/cleave-dump/PlanJson.h"

#include <string>
#include <vector>

namespace cleave::dump {

// Whether the file is a page for browsers, such as a report.
bool isPage(const std::string &path);

// The runs of all reports, in their order, as the data of a page. A user error if a file cannot be
// read or is not the report of a run.
Result<Json> readRuns(const std::vector<std::string> &paths);

// A table of the runs, and one of the options and facts of plans that differ.
std::string runsText(const Json &runs);

// The page of the runs.
std::string runsPage(const Json &runs);

} // namespace cleave::dump
