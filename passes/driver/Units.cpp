// See Units.h.
#include "passes/driver/Units.h"

namespace cleave::driver {

Status forEachUnit(Compilation &c, llvm::function_ref<Status(Unit &)> work) {
  for (Unit &unit : c.units) {
    if (unit.kind == plan::Program::STEP) {
      CLEAVE_TRY(work(unit));
      continue;
    }
    const auto remarks = static_cast<std::ptrdiff_t>(c.remarks.size());
    Status status = work(unit);
    c.remarks.erase(c.remarks.begin() + remarks, c.remarks.end());
    CLEAVE_TRY(status.withContext("the evaluation of --eval"));
  }
  return Status::ok();
}

} // namespace cleave::driver
