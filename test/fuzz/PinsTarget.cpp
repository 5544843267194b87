// Target: files of pins.
#include "compiler/planner/choices/Pins.h"
#include "test/fuzz/Targets.h"

namespace cleave::fuzz {

void pins(std::string_view bytes) {
  mustBeTheirs(planner::Pins::fromJson(std::string(bytes)).status());
}

} // namespace cleave::fuzz
