#include "runtime/comm/AsyncQueues.h"

namespace cleave::comm {

AsyncQueues::~AsyncQueues() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  more.notify_all();
  for (std::thread &thread : threads)
    thread.join();
}

Ticket AsyncQueues::start(const Key &key, std::function<Status()> work) {
  std::lock_guard lock(mutex);
  Queue &queue = queues[key];
  queue.push_back({++last, std::move(work)});
  if (queue.size() == 1) {
    ready.push_back(key);
    if (idle < ready.size())
      threads.emplace_back([this] { serve(); });
    more.notify_one();
  }
  return last;
}

Status AsyncQueues::wait(Ticket ticket) {
  std::unique_lock lock(mutex);
  if (ticket == 0 || ticket > last)
    return Status::defect("wait for a call that was never started");
  finished.wait(lock, [&] { return results.count(ticket) != 0; });
  Status status = results[ticket];
  results.erase(ticket);
  return status;
}

bool AsyncQueues::busy(const Key &key) {
  std::lock_guard lock(mutex);
  return queues.count(key) != 0;
}

void AsyncQueues::serve() {
  std::unique_lock lock(mutex);
  while (true) {
    ++idle;
    more.wait(lock, [&] { return stopping || !ready.empty(); });
    --idle;
    if (stopping)
      return;
    Key key = ready.front();
    ready.pop_front();
    Queue &queue = queues[key]; // stays where it is while it has work
    Ticket ticket = queue.front().ticket;
    std::function<Status()> run = std::move(queue.front().run);
    lock.unlock();
    Status status = run();
    lock.lock();
    results[ticket] = status;
    queue.pop_front();
    if (queue.empty())
      queues.erase(key);
    else
      ready.push_back(key);
    finished.notify_all();
  }
}

} // namespace cleave::comm
