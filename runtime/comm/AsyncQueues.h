// Threads that run started calls. Calls of one queue run one after the other in the order of their
// start, different queues at the same time: a send that waits for its receiver holds up nothing
// else.
#pragma once

#include "runtime/comm/Communicator.h"

#include <array>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace cleave::comm {

class AsyncQueues {
public:
  // Names a queue: direction (0: collective, 1: send, 2: recv), peer, tag.
  using Key = std::array<int, 3>;

  ~AsyncQueues();

  // Appends to the queue. There are as many threads as there ever were queues with work at one
  // time.
  Ticket start(const Key &queue, std::function<Status()> work);
  // Waits for the work of a ticket and forgets it.
  Status wait(Ticket ticket);
  // Whether work of this queue is waiting or running.
  bool busy(const Key &queue);

private:
  struct Work {
    Ticket ticket;
    std::function<Status()> run;
  };
  using Queue = std::deque<Work>; // the first one is running
  void serve();

  std::mutex mutex;
  std::condition_variable more, finished;
  std::map<Key, Queue> queues; // those with work
  std::deque<Key> ready;       // queues whose first work nobody has taken
  std::map<Ticket, Status> results;
  std::vector<std::thread> threads;
  size_t idle = 0;
  Ticket last = 0;
  bool stopping = false;
};

} // namespace cleave::comm
