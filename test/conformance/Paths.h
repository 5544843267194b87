// The ways in which a model's results come to be: the importer and the interpreter, or the whole
// compiler and the runtime on the CPU.
#pragma once

#include "test/conformance/Case.h"

namespace cleave::conformance {

enum class Path { Interpret, Compile };
inline constexpr const char *kPathNames[] = {"interpret", "compile"};

// The model's outputs. `scratch` is a folder for files that are made on the way.
Result<Outcome> compute(Path path, const Case &test, const Example &example,
                        const std::string &scratch);

} // namespace cleave::conformance
