// Threads that run started calls. The calls of one queue run one after the other in the order of
// their start, those of different queues concurrently: a send that waits for its receiver delays no
// other queue.
#pragma once

#include "runtime/comm/Communicator.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace cleave::comm {

class AsyncQueues {
public:
  // The kinds of queues.
  enum class Direction { Collective, Send, Recv };
  // Identifies a queue: the direction, and the peer of a send or receive (0 for collectives).
  using Key = std::pair<Direction, int>;

  // Ends the threads after the work that they are running; waiting work is dropped.
  ~AsyncQueues();

  // Appends work to the queue. The number of threads is the largest number of queues that had work
  // at one time.
  Ticket start(const Key &queue, std::function<Status()> work);
  // Waits for the work of a ticket, returns its status and releases the ticket.
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

  std::mutex mutex_;
  std::condition_variable more_, finished_;
  std::map<Key, Queue> queues_; // those with work
  std::deque<Key> ready_;       // queues whose first work has not been started
  std::map<Ticket, Status> results_;
  std::vector<std::thread> threads_;
  size_t idle_ = 0; // threads without work
  Ticket last_ = 0;
  bool stopping_ = false;
};

} // namespace cleave::comm
