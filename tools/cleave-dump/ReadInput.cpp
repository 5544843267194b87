#include "tools/cleave-dump/ReadInput.h"

#include "passes/driver/IrFile.h"
#include "passes/driver/PlanOfIr.h"
#include "runtime/artifact/Artifact.h"

namespace cleave::dump {

Result<plan::Plan> readInput(const std::string &path) {
  return driver::isIrFile(path) ? driver::planOfIr(path) : artifact::readPlan(path);
}

} // namespace cleave::dump
