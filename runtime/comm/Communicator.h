// How the ranks of a job talk: a World is one rank's connection to all others, a Communicator its
// endpoint in one group of them. What each collective means is written at the message Collective of
// runtime/artifact/program.proto; all implementations (local, shm, gloo) pass one conformance
// suite.
//
// Reductions take the members in the order of their index in the group, whatever the implementation
// and however the data are cut, so results are the same bits on every rank, in every run and
// implementation.
#pragma once

#include "runtime/base/DType.h"
#include "runtime/base/Status.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cleave::comm {

enum class Kind : int { // numbers of Collective.Kind
  AllReduce = 0,
  AllGather = 1,
  ReduceScatter = 2,
  AllToAll = 3,
  Broadcast = 4,
  Send = 5,
  Recv = 6,
};

// `all_reduce`, `send`, …
std::string_view name(Kind kind);

enum class Reduce : int { Sum = 0, Max = 1, Min = 2 }; // numbers of program.proto's Reduce

// One tensor of a call. With p members, `count` is the number of elements of
//   AllReduce, Broadcast, Send, Recv   the whole buffer
//   AllGather                          send (recv has p * count)
//   ReduceScatter                      recv (send has p * count)
//   AllToAll                           one chunk (send and recv have p * count each)
// `send` and `recv` may be the same buffer for AllReduce and Broadcast and must not overlap
// otherwise. Send has no `recv`, Recv no `send`; Broadcast reads `send` at the root only.
struct BufferPair {
  const void *send = nullptr;
  void *recv = nullptr;
  int64_t count = 0;
  DType dtype = DType::F32;
};

// One collective; its pairs travel together (bucketing).
struct Call {
  Kind kind = Kind::AllReduce;
  Reduce reduce = Reduce::Sum;
  std::vector<BufferPair> pairs;
  int root = 0; // index in the group, of Broadcast
  int peer = 0; // index in the group, of Send and Recv
  // Of Send and Recv: a message is received by the first Recv of its tag from its sender.
  int tag = 0;
  // How long to wait for other members, in a collective; 0: the World's timeout.
  std::chrono::milliseconds timeout{0};
};

// Names an asynchronous call until it is waited for. 0 is none.
using Ticket = uint64_t;

class AsyncQueues; // threads that run started calls

// One rank's endpoint in one group. All members issue the same collectives in the same order. Send
// returns when the buffer may be reused, which may need the receiver to have come. A failed call
// (Status::lost, with the rank that is missing) leaves the group unusable. Used by one thread at a
// time.
class Communicator {
public:
  // `members` are the ranks of the job in group order; `index` is this rank's place among them.
  Communicator(std::vector<int> members, int index);
  virtual ~Communicator();
  Communicator(const Communicator &) = delete;
  Communicator &operator=(const Communicator &) = delete;

  int rank() const { return index_; } // index in the group
  int size() const { return static_cast<int>(members_.size()); }
  const std::vector<int> &members() const { return members_; } // ranks of the job

  // Runs the call and returns when this rank's part is done.
  Status run(const Call &call);
  // Starts the call and returns at once; until wait() nobody touches its buffers. Collectives of
  // one group are done in the order in which they were started; sends and receives do not wait for
  // them.
  Ticket start(const Call &call);
  // Waits for a started call. Each ticket is waited for once.
  Status wait(Ticket ticket);

  // Returns when all members have come here. Where some may take long for good reason (reading weights,
  // writing a checkpoint), the timeout is longer than the World's (0).
  Status barrier(std::chrono::milliseconds timeout = {});

  Status allReduce(const void *send, void *recv, int64_t count, DType dtype, Reduce reduce);
  Status allGather(const void *send, void *recv, int64_t count, DType dtype);
  Status broadcast(const void *send, void *recv, int64_t count, DType dtype, int root);

protected:
  // Does one checked call of a group of two or more. Collectives, and sends and receives per peer
  // (per peer and tag, if tags overtake), come one at a time, but those of different kinds from
  // several threads.
  virtual Status execute(const Call &call) = 0;
  // Whether a send has to run beside earlier ones of other tags to the same peer, because these may
  // wait for receives that come later.
  virtual bool tagsOvertake() const { return false; }
  // Stops the threads of started calls. Every implementation's destructor begins with this.
  void stopQueues();
  // `rank 5 (index 1 of the group of ranks 1, 5)`
  std::string describe(int memberIndex) const;

private:
  Status check(const Call &call) const;
  std::vector<int> members_;
  int index_;
  std::unique_ptr<AsyncQueues> queues;
};

struct Options {
  // How long a call may wait for another rank before that counts as lost.
  std::chrono::milliseconds timeout{60000};
};

// One rank's connection to all ranks of the job. Outlives the communicators it made.
class World {
public:
  World(int rank, int size) : rank_(rank), size_(size) {}
  virtual ~World() = default;
  World(const World &) = delete;
  World &operator=(const World &) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  // The endpoint in the group of `members` (ranks of the job, in group order; this rank is one of
  // them). Every member calls this; two groups of the same members in the same order are told apart
  // by the order in which they were made.
  virtual Result<std::unique_ptr<Communicator>> connect(const std::vector<int> &members) = 0;

  // `local`, `shm`, `gloo`: for messages and logs.
  virtual std::string implementation() const = 0;

private:
  int rank_;
  int size_;
};

} // namespace cleave::comm
