// Usage: searches the text of a program without running it.
#pragma once

#include "compiler/frontend/torchscript/Program.h"

#include <set>

namespace cleave::torchscript {

// The constants (`CONSTANTS.c3`) that batch norms anywhere in the archive take as running
// statistics.
std::set<std::string> runningStatistics(Program &program);

// The unsupported operators that any code in the archive calls, with one place each: `aten::foo` ->
// `code/….py:12`.
std::map<std::string, std::string> unknownOperators(Program &program);

} // namespace cleave::torchscript
