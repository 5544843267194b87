// Writes the rank's reports into its RankSlot. See Launch.h.
#include "runtime/launch/Launch.h"
#include "runtime/launch/RankSlot.h"

#include <chrono>
#include <cstring>

namespace cleave::launch {

static int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

void StepReporter::step(int64_t step) {
  if (!slot_)
    return;
  slot_->step = step;
  slot_->stepBegan = now();
}

void StepReporter::fail(const Status &status) {
  if (!slot_ || status.isOk() || slot_->failedAt != 0)
    return;
  slot_->kind = static_cast<int32_t>(status.kind());
  std::strncpy(slot_->message, status.message().c_str(), RankSlot::kMessageBytes - 1);
  slot_->failedAt = now();
}

} // namespace cleave::launch
