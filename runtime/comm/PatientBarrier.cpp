// See PatientBarrier.h.
#include "runtime/comm/PatientBarrier.h"

#include <algorithm>
#include <cstdlib>

namespace cleave::comm {

using namespace std::chrono_literals;

constexpr const char *kVerdict = "progress/verdict"; // `3` (barrier 3 is passed) or `3 MESSAGE`

static std::string noteOf(int rank) { return concat("progress/", rank); }

// Waiting between two looks: short at first, because most waits are short.
static void pause(std::chrono::microseconds &length) {
  std::this_thread::sleep_for(length);
  length = std::min<std::chrono::microseconds>(2 * length, 50ms);
}

PatientBarrier::PatientBarrier(World &world, Communicator &everyone,
                               std::chrono::milliseconds timeout,
                               std::function<void(uint64_t)> report)
    : world_(world), everyone_(everyone), timeout_(timeout), report_(std::move(report)) {
  auto period = std::clamp<std::chrono::milliseconds>(timeout / 8, 10ms, 1s);
  heartbeat_ = std::make_unique<Heartbeat>(period, [this](uint64_t cpuTime) {
    if (report_)
      report_(cpuTime);
    if (world_.size() > 1) // the working thread reports failures
      (void)writeNote(cpuTime, "").isOk();
  });
}

// The lock keeps the heartbeat from overwriting a note with an older one.
Status PatientBarrier::writeNote(uint64_t cpuTime, const std::string &doing) {
  std::lock_guard lock(noteMutex_);
  return write(noteOf(world_.rank()), concat(entered_.load(), ' ', cpuTime), doing);
}

Status PatientBarrier::ended(int rank, const std::string &doing) const {
  return Status::lost("rank ", rank, " ended while rank ", world_.rank(), " waited for it after ",
                      doing);
}

Status PatientBarrier::silent(int rank, const std::string &doing) const {
  return Status::lost("rank ", rank, " made no progress while ", doing, " for ",
                      std::chrono::duration<double>(timeout_).count(),
                      " s; it was stopped, or its storage or network does not answer "
                      "(--timeout sets the limit)");
}

// The failure to reach the blackboard, which rank 0 holds: if it has not answered, in this thread
// or in that of the heartbeat, rank 0 is silent.
Status PatientBarrier::unreachable(const Status &status, Clock::time_point begun,
                                   const std::string &doing) {
  if (Clock::now() - begun >= timeout_ / 2)
    isFirstSilent_ = true;
  if (world_.hasEnded(0))
    return ended(0, doing);
  return isFirstSilent_ ? silent(0, doing) : status;
}

Result<std::optional<std::string>> PatientBarrier::read(const std::string &key,
                                                        const std::string &doing) {
  auto begun = Clock::now();
  auto value = world_.peek(key);
  return value ? value : unreachable(value.status(), begun, doing);
}

Status PatientBarrier::write(const std::string &key, const std::string &value,
                             const std::string &doing) {
  auto begun = Clock::now();
  Status status = world_.publish(key, value);
  return status ? status : unreachable(status, begun, doing);
}

// Reads a rank's note. Status::lost if the rank has ended, or its note is the same for too long.
Status PatientBarrier::look(int rank, Seen &seen, const std::string &doing) {
  CLEAVE_TRY_ASSIGN(auto note, read(noteOf(rank), doing));
  AwakeClock::Duration now = clock_.now();
  if (seen.changed.count() == 0 || (note && *note != seen.note)) {
    seen.note = note.value_or("");
    seen.entered = std::strtoll(seen.note.c_str(), nullptr, 10);
    seen.changed = now;
  }
  if (seen.entered >= entered_)
    return Status::ok();
  if (world_.hasEnded(rank))
    return ended(rank, doing);
  return now - seen.changed < timeout_ ? Status::ok() : silent(rank, doing);
}

// Rank 0: waits for all others and publishes the verdict.
Status PatientBarrier::collect(const std::string &doing) {
  std::vector<Seen> seen(size_t(world_.size()));
  std::chrono::microseconds wait = 200us;
  for (int waitsFor = 1; waitsFor < world_.size();) {
    for (int rank = waitsFor; rank < world_.size(); ++rank) {
      if (seen[size_t(rank)].entered >= entered_)
        continue;
      if (Status status = look(rank, seen[size_t(rank)], doing); !status) {
        (void)write(kVerdict, concat(entered_.load(), ' ', status.message()), doing).isOk();
        std::this_thread::sleep_for(200ms); // the others read it: this rank takes it along
        return status;
      }
    }
    while (waitsFor < world_.size() && seen[size_t(waitsFor)].entered >= entered_)
      ++waitsFor;
    if (waitsFor < world_.size())
      pause(wait);
  }
  return write(kVerdict, concat(entered_.load()), doing);
}

// Other ranks: wait for the verdict as long as rank 0 makes progress.
Status PatientBarrier::follow(const std::string &doing) {
  Seen first;
  std::chrono::microseconds wait = 200us;
  while (true) {
    CLEAVE_TRY_ASSIGN(auto verdict, read(kVerdict, doing));
    if (verdict) {
      char *end = nullptr;
      bool isForUs = std::strtoll(verdict->c_str(), &end, 10) >= entered_;
      if (isForUs)
        return *end ? Status::lost(end + 1) : Status::ok();
    }
    CLEAVE_TRY(look(0, first, doing));
    pause(wait);
  }
}

Status PatientBarrier::wait(const std::string &doing) {
  ++entered_;
  if (world_.size() == 1)
    return Status::ok();
  CLEAVE_TRY(writeNote(heartbeat_->cpuTime(), doing));
  CLEAVE_TRY(world_.rank() == 0 ? collect(doing) : follow(doing));
  return everyone_.barrier();
}

} // namespace cleave::comm
