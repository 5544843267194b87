// Checks that the names in the user's import options exist in the model, and that sizes that the
// user gives again are those of the model.
#pragma once

#include "compiler/frontend/step/Import.h"

#include <map>
#include <set>

namespace cleave::frontend {

// Fails for --set NAME=SIZE, of which the model has no symbol. `symbols`: those that it has.
// `takesBatch`: --set batch=SIZE would give the first dims of inputs.
[[noreturn]] void refuseSymbol(const std::string &name, int64_t size,
                               std::vector<std::string> symbols, bool takesBatch);

// Fails where --input or --value names none of `inputs` (the model's, in its order) and, if
// `haveElements`, no element `x.0`, `x.1`, … of an input `x` either.
void checkInputNames(const ImportOptions &options, const std::vector<std::string> &inputs,
                     bool haveElements);

// The dims of inputs whose sizes the export fixed, named `INPUT.DIM`, and their sizes.
using FixedDims = std::map<std::string, int64_t>;

// Whether --set NAME=SIZE says what is so: `batch` the first dim of an input, another name the dim
// of that name. Fails where the export fixed them at other sizes.
bool isFixedAt(const FixedDims &fixed, const std::string &name, int64_t size);

// Fails where --tie or --untie names none of `parameters`.
void checkTieNames(const ImportOptions &options, const std::set<std::string> &parameters);

} // namespace cleave::frontend
