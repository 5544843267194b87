// Checks that the names in the user's import options exist in the model.
#pragma once

#include "compiler/frontend/step/Import.h"

#include <set>

namespace cleave::frontend {

// What messages about --set say of a model without symbols.
inline constexpr const char *kNoSymbols =
    "none, since the export fixed all sizes: leave --set out, or export with dynamic_shapes";

// Fails where --input or --value names none of `inputs` (the model's, in its order) and, if
// `haveElements`, no element `x.0`, `x.1`, … of an input `x` either.
void checkInputNames(const ImportOptions &options, const std::vector<std::string> &inputs,
                     bool haveElements);

// Fails where --tie or --untie names none of `parameters`.
void checkTieNames(const ImportOptions &options, const std::set<std::string> &parameters);

} // namespace cleave::frontend
