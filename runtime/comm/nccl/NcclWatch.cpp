// See NcclWatch.h.
#include "runtime/comm/nccl/NcclWatch.h"

#include <algorithm>
#include <atomic>

namespace cleave::comm::nccl {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPeriod{20}; // between two looks
// A rank may end after its part of the last calls, which this rank completes within this time.
constexpr std::chrono::milliseconds kGrace{1000};
constexpr std::chrono::microseconds kPoll{50}; // between two questions whether a call is accepted

NcclWatch::NcclWatch(const Table &table, const World &world, std::chrono::milliseconds timeout)
    : table_(table), world_(world), timeout_(timeout), thread_([this] { watch(); }) {}

NcclWatch::~NcclWatch() {
  {
    std::lock_guard lock(mutex_);
    isOver_ = true;
  }
  change_.notify_all();
  thread_.join();
}

void NcclWatch::watchProgress(const uint32_t *word) {
  std::lock_guard lock(mutex_);
  word_ = word;
}

void NcclWatch::add(Comm comm) {
  std::lock_guard lock(mutex_);
  comms_.push_back(comm);
}

void NcclWatch::release(Comm comm) {
  {
    std::lock_guard lock(mutex_);
    auto found = std::find(comms_.begin(), comms_.end(), comm);
    if (found == comms_.end())
      return; // aborted, which also frees it
    comms_.erase(found);
  }
  if (settle(comm, table_.commFinalize(comm), "ending the group"))
    table_.commDestroy(comm);
  else
    table_.commAbort(comm);
}

Status NcclWatch::failure() const {
  std::lock_guard lock(mutex_);
  return failure_;
}

Status NcclWatch::await(const std::function<Status()> &wait) {
  {
    std::lock_guard lock(mutex_);
    moved_ = Clock::now();
    isAwaiting_ = true;
  }
  change_.notify_all();
  Status status = wait();
  std::lock_guard lock(mutex_);
  isAwaiting_ = false;
  return failure_ ? status : failure_;
}

Status NcclWatch::settle(Comm comm, Code code, const std::string &doing) {
  Clock::time_point end = Clock::now() + timeout_;
  while (code == Code::InProgress && Clock::now() < end) {
    std::this_thread::sleep_for(kPoll);
    if (Code asked = table_.commGetAsyncError(comm, &code); asked != Code::Success)
      code = asked;
  }
  return code == Code::Success ? Status::ok() : error(comm, code, doing);
}

// The error of a call, or of one that was accepted before.
Status NcclWatch::error(Comm comm, Code code, const std::string &doing) const {
  if (code == Code::InProgress)
    return Status::lost("other ranks did not come to ", doing, " within ",
                        std::chrono::duration<double>(timeout_).count(), " s");
  std::string text = concat("NCCL failed in ", doing, ": ", table_.getErrorString(code));
  if (const char *last = table_.getLastError(comm); last && *last)
    text += concat(" (", last, ")");
  bool isOurs = code == Code::InvalidArgument || code == Code::InvalidUsage;
  return isOurs ? Status::defect(text) : Status::lost(text);
}

void NcclWatch::noteProgress() {
  if (!word_)
    return;
  uint32_t value = std::atomic_ref(*const_cast<uint32_t *>(word_)).load(std::memory_order_relaxed);
  if (value != seen_)
    seen_ = value, moved_ = Clock::now();
}

// Whether the calls can still complete.
Status NcclWatch::look() {
  for (int rank = 0; rank < world_.size(); ++rank)
    if (rank != world_.rank() && world_.hasEnded(rank) &&
        Clock::now() - ends_.try_emplace(rank, Clock::now()).first->second > kGrace)
      return Status::lost("rank ", rank, " ended while rank ", world_.rank(),
                          " waited for its GPU");
  for (Comm comm : comms_) {
    Code code = Code::Success;
    if (Code asked = table_.commGetAsyncError(comm, &code); asked != Code::Success)
      code = asked;
    if (code != Code::Success && code != Code::InProgress)
      return error(comm, code, "a collective");
  }
  noteProgress();
  if (Clock::now() - moved_ > timeout_)
    return Status::lost("the GPU of rank ", world_.rank(),
                        " did not complete its next collective within ",
                        std::chrono::duration<double>(timeout_).count(),
                        " s: another rank does not answer (if it computes longer between two "
                        "collectives, raise --timeout)");
  return Status::ok();
}

void NcclWatch::abort(const Status &reason) {
  std::lock_guard lock(mutex_);
  if (failure_)
    abortLocked(reason);
}

// The mutex is held.
void NcclWatch::abortLocked(const Status &reason) {
  failure_ = reason;
  for (Comm comm : comms_)
    table_.commAbort(comm);
  comms_.clear();
}

void NcclWatch::watch() {
  std::unique_lock lock(mutex_);
  while (!isOver_) {
    if (!isAwaiting_) {
      change_.wait(lock, [this] { return isAwaiting_ || isOver_; });
      continue;
    }
    change_.wait_for(lock, kPeriod, [this] { return isOver_; });
    if (isOver_ || !isAwaiting_ || !failure_)
      continue;
    if (Status status = look(); !status)
      abortLocked(status);
  }
}

} // namespace cleave::comm::nccl
