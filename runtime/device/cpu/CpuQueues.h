// CpuQueues: the queues of a CPU beside queue 0, which is the thread that calls. Each runs its work
// in order on a thread of its own; events order the queues (Device.h). Private to this folder.
#pragma once

#include "runtime/base/Queue.h"
#include "runtime/base/Status.h"
#include "runtime/device/Device.h"

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace cleave::device {

class CpuQueues {
public:
  using Work = std::function<Status()>;

  // Completes all work first.
  ~CpuQueues();

  // Adds work to a queue other than 0. After a failure, work is skipped until the failure is
  // returned by synchronize().
  void push(uint32_t queue, Work work);

  Event createEvent(bool isTimed);
  void record(Event event, uint32_t queue);
  // In queue 0, returns when the event is reached, or with the failure of its queue.
  Status wait(Event event, uint32_t queue);
  // Both events are timed and have been reached.
  double secondsBetween(Event begin, Event end) const;

  // Returns when all work of a queue, or of all queues, is complete; returns and forgets the first
  // failure.
  Status synchronize(uint32_t queue);
  Status synchronize();

private:
  struct Queue {
    std::deque<Work> work; // in front the one that runs
    uint64_t added = 0, completed = 0;
    Status failure = Status::ok();
    std::thread thread; // from the first push()
  };
  // An event: the number of pieces of work that were added to its queue before its last record.
  struct Mark {
    uint32_t queue = kComputeQueue;
    uint64_t position = 0;
    bool isTimed = false;
    double seconds = 0;
  };

  void runWorkOf(Queue &queue);
  bool isReached(const Mark &mark) const { return queues_[mark.queue].completed >= mark.position; }

  mutable std::mutex mutex_; // of all that follows
  std::condition_variable changed_;
  bool isEnding_ = false;
  std::array<Queue, kQueues> queues_; // queue 0 has no work
  std::deque<Mark> marks_;            // by event
};

} // namespace cleave::device
