// See CpuQueues.h.
#include "runtime/device/cpu/CpuQueues.h"

#include <chrono>
#include <utility>

namespace cleave::device {

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

CpuQueues::~CpuQueues() {
  {
    std::lock_guard lock(mutex_);
    isEnding_ = true;
  }
  changed_.notify_all();
  for (Queue &queue : queues_)
    if (queue.thread.joinable())
      queue.thread.join();
}

void CpuQueues::push(uint32_t queue, Work work) {
  std::lock_guard lock(mutex_);
  Queue &to = queues_[queue];
  if (!to.thread.joinable())
    to.thread = std::thread([this, &to] { runWorkOf(to); });
  to.work.push_back(std::move(work));
  ++to.added;
  changed_.notify_all();
}

void CpuQueues::runWorkOf(Queue &queue) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return isEnding_ || !queue.work.empty(); });
    if (queue.work.empty())
      return;
    if (queue.failure) {
      Work &work = queue.work.front(); // push() leaves references valid
      lock.unlock();
      Status status = work();
      lock.lock();
      queue.failure = std::move(status);
    }
    queue.work.pop_front();
    ++queue.completed;
    changed_.notify_all();
  }
}

Event CpuQueues::createEvent(bool isTimed) {
  std::lock_guard lock(mutex_);
  marks_.push_back({.isTimed = isTimed});
  return Event(marks_.size() - 1);
}

void CpuQueues::record(Event event, uint32_t queue) {
  std::unique_lock lock(mutex_);
  Mark &mark = marks_[event];
  mark.queue = queue;
  if (mark.isTimed && queue != kComputeQueue) {
    lock.unlock();
    push(queue, [this, &mark] {
      std::lock_guard lock(mutex_);
      mark.seconds = now();
      return Status::ok();
    });
    lock.lock();
  } else if (mark.isTimed) {
    mark.seconds = now();
  }
  mark.position = queues_[queue].added;
}

Status CpuQueues::wait(Event event, uint32_t queue) {
  std::unique_lock lock(mutex_);
  const Mark mark = marks_[event];
  if (queue == kComputeQueue) {
    changed_.wait(lock, [&] { return isReached(mark); });
    return queues_[mark.queue].failure;
  }
  if (mark.queue == queue || isReached(mark))
    return Status::ok();
  lock.unlock();
  push(queue, [this, mark] {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return isReached(mark); });
    return queues_[mark.queue].failure;
  });
  return Status::ok();
}

double CpuQueues::secondsBetween(Event begin, Event end) const {
  std::lock_guard lock(mutex_);
  return marks_[end].seconds - marks_[begin].seconds;
}

Status CpuQueues::synchronize(uint32_t queue) {
  std::unique_lock lock(mutex_);
  Queue &which = queues_[queue];
  changed_.wait(lock, [&] { return which.completed == which.added; });
  return std::exchange(which.failure, Status::ok());
}

Status CpuQueues::synchronize() {
  Status first = Status::ok();
  for (uint32_t queue = 0; queue < kQueues; ++queue)
    if (Status status = synchronize(queue); !status && first)
      first = std::move(status);
  return first;
}

} // namespace cleave::device
