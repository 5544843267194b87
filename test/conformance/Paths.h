// The two paths to a model's results: importer and interpreter, or compiler and CPU runtime.
#pragma once

#include "test/conformance/Case.h"

namespace cleave::conformance {

enum class Path { Interpret, Compile };
inline constexpr const char *kPathNames[] = {"interpret", "compile"};

// The model's outputs. `scratch` is a folder for temporary files. Fails with the status of the
// first phase that fails.
Result<Outcome> compute(Path path, const Case &test, const Example &example,
                        const std::string &scratch);

} // namespace cleave::conformance
