// Writes the rank's reports into its RankSlot. See Launch.h.
#include "runtime/launch/Launch.h"
#include "runtime/launch/RankSlot.h"

#include <chrono>
#include <cstring>

namespace cleave::launch {

static int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

StepReporter::StepReporter() : own_(std::make_unique<RankSlot>()), slot_(own_.get()) {}
StepReporter::StepReporter(RankSlot *slot) : slot_(slot) {}
StepReporter::~StepReporter() = default;

void StepReporter::place(Place place) { slot_->place = place; }

void StepReporter::step(int64_t step) {
  if (slot_->firstStep < 0)
    slot_->firstStep = step;
  slot_->place = Place::Running;
  slot_->step = step;
  slot_->stepBegan = now();
}

void StepReporter::cpuTime(uint64_t nanoseconds) { slot_->cpuTime = nanoseconds; }

std::atomic<uint64_t> &StepReporter::position() { return slot_->position; }

void StepReporter::askToEnd(int signal) { slot_->endingSignal = signal; }
int StepReporter::endingSignal() const { return slot_->endingSignal; }

void StepReporter::fail(const Status &status) {
  if (status.isOk() || slot_->failedAt != 0)
    return;
  slot_->kind = static_cast<int32_t>(status.kind());
  std::strncpy(slot_->message, status.message().c_str(), RankSlot::kMessageBytes - 1);
  slot_->failedAt = now();
}

RankReport StepReporter::report(int rank) const { return reportOf(*slot_, rank); }

RankReport reportOf(const RankSlot &slot, int rank) {
  RankReport report;
  report.rank = rank;
  report.place = slot.place;
  report.firstStep = slot.firstStep;
  report.step = slot.step;
  report.position = slot.position;
  if (slot.stepBegan != 0)
    report.secondsInStep = double(now() - slot.stepBegan) * 1e-9;
  if (slot.failedAt != 0)
    report.ending = std::string("failed: ") + slot.message;
  return report;
}

} // namespace cleave::launch
