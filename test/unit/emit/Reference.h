// References: inputs and results computed elsewhere (make-reference.py beside this file), by name.
#pragma once

#include "compiler/frontend/emit/Emitter.h"

#include <functional>
#include <string>

namespace cleave::emit {

using Formula = std::function<Values(const Emitter &e, const Values &inputs)>;

// Builds the formula on the case's inputs, interprets it, and compares every result: shape and
// numbers within `tolerance`, relative to max(1, |expected|).
void checkReference(const std::string &name, const Formula &formula, double tolerance = 1e-8);

} // namespace cleave::emit
