// ReadInput of a build without the compiler.
#include "runtime/artifact/Artifact.h"
#include "tools/cleave-dump/ReadInput.h"

namespace cleave::dump {

Result<plan::Plan> readInput(const std::string &path) { return artifact::readPlan(path); }

} // namespace cleave::dump
