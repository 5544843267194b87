// The rank's side of RankSlot.
#include "runtime/launch/Launch.h"
#include "runtime/launch/RankSlot.h"

#include <chrono>
#include <cstring>

namespace cleave::launch {

static int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

void StepReporter::step(int64_t step) {
  if (!slot)
    return;
  slot->step = step;
  slot->stepBegan = now();
}

void StepReporter::fail(const Status &status) {
  if (!slot || status.isOk() || slot->failedAt != 0)
    return;
  slot->kind = static_cast<int32_t>(status.kind());
  std::strncpy(slot->message, status.message().c_str(), RankSlot::kMessageBytes - 1);
  slot->failedAt = now();
}

} // namespace cleave::launch
