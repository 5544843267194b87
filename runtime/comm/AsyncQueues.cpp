// See AsyncQueues.h.
#include "runtime/comm/AsyncQueues.h"

namespace cleave::comm {

AsyncQueues::~AsyncQueues() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  more_.notify_all();
  for (std::thread &thread : threads_)
    thread.join();
}

Ticket AsyncQueues::start(const Key &key, std::function<Status()> work) {
  std::lock_guard lock(mutex_);
  Queue &queue = queues_[key];
  queue.push_back({++last_, std::move(work)});
  if (queue.size() == 1) {
    ready_.push_back(key);
    if (idle_ < ready_.size())
      threads_.emplace_back([this] { serve(); });
    more_.notify_one();
  }
  return last_;
}

Status AsyncQueues::wait(Ticket ticket) {
  std::unique_lock lock(mutex_);
  if (ticket == 0 || ticket > last_)
    return Status::defect("waits for a call that was not started: ticket ", ticket,
                          ", the last one is ", last_);
  finished_.wait(lock, [&] { return results_.count(ticket) != 0; });
  Status status = results_[ticket];
  results_.erase(ticket);
  return status;
}

bool AsyncQueues::busy(const Key &key) {
  std::lock_guard lock(mutex_);
  return queues_.count(key) != 0;
}

void AsyncQueues::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    more_.wait(lock, [&] { return stopping_ || !ready_.empty(); });
    --idle_;
    if (stopping_)
      return;
    Key key = ready_.front();
    ready_.pop_front();
    Queue &queue = queues_[key]; // the reference stays valid while it has work
    Ticket ticket = queue.front().ticket;
    std::function<Status()> run = std::move(queue.front().run);
    lock.unlock();
    Status status = run();
    lock.lock();
    results_[ticket] = status;
    queue.pop_front();
    if (queue.empty())
      queues_.erase(key);
    else
      ready_.push_back(key);
    finished_.notify_all();
  }
}

} // namespace cleave::comm
