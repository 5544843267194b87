// ReadInput: the file that cleave-dump shows.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"

#include <string>

namespace cleave::dump {

// The plan in the file. From IR, which a build that only runs plans does not read, a plan without
// programs.
Result<plan::Plan> readInput(const std::string &path);

} // namespace cleave::dump
