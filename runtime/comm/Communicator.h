// Communication between the ranks of a job: a World is one rank's connection to all others, a
// Communicator its endpoint in one group of ranks. The message Collective in
// runtime/artifact/program.proto defines the collectives; all implementations (local, shm, gloo,
// mixed) pass one conformance suite. DeviceWorld.h: the same for buffers in the memory of devices.
//
// Reductions combine the members in the order of their index in the group, in every implementation
// and for every division of the data into pieces. Results are therefore bitwise equal on every
// rank, in every run and in every implementation.
#pragma once

#include "runtime/base/Collective.h"
#include "runtime/base/DType.h"
#include "runtime/base/Status.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cleave::comm {

// The reductions, with the numbers of Reduce in program.proto.
enum class Reduce : int { Sum = 0, Max = 1, Min = 2 };

// One tensor of a call. `count` is the number of elements of one chunk: with p members, `send` has
// chunksSent(kind, p) chunks and `recv` has chunksReceived(kind, p). `send` and `recv` may be the
// same buffer for AllReduce and must not overlap otherwise. Send has no `recv`, Recv has no `send`.
struct BufferPair {
  const void *send = nullptr;
  void *recv = nullptr;
  int64_t count = 0;
  DType dtype = DType::F32;
};

// One collective, or one message; its pairs are transferred together (bucketing).
struct Call {
  CollectiveKind kind = CollectiveKind::AllReduce;
  Reduce reduce = Reduce::Sum;
  std::vector<BufferPair> pairs;
  int peer = 0;                  // of Send and Recv: index in the group
  std::vector<int> sources = {}; // of Permute: per member the index of the member that it receives
                                 // from; every index occurs once
};

// A defect if the call does not fit a group of `size` members, of which this rank is number
// `index`.
Status checkCall(const Call &call, int size, int index);

// Identifies a started call until it is waited for. 0: none.
using Ticket = uint64_t;

class AsyncQueues; // threads that run started calls

// One rank's endpoint in one group. All members issue the same collectives in the same order. The
// messages of a sender to a receiver arrive in the order in which they were sent. Send returns when
// its buffer may be reused; an implementation may wait for the matching Recv. A failed call
// (Status::lost, which names the missing rank) leaves the group unusable. Used by one thread at a
// time.
class Communicator {
public:
  // `members` are the ranks of the job in group order; `index` is this rank's place among them.
  Communicator(std::vector<int> members, int index);
  virtual ~Communicator();
  Communicator(const Communicator &) = delete;
  Communicator &operator=(const Communicator &) = delete;

  int rank() const { return index_; }                            // index in the group
  int size() const { return static_cast<int>(members_.size()); } // number of members
  const std::vector<int> &members() const { return members_; }   // ranks of the job

  // Runs the call and returns when this rank's part is complete.
  Status run(const Call &call);
  // Starts the call and returns at once; the caller leaves its buffers alone until wait().
  // Collectives of one group complete in the order of their start; sends and receives do not wait
  // for collectives.
  Ticket start(const Call &call);
  // Waits for a started call. Each ticket is waited for once.
  Status wait(Ticket ticket);

  // Returns when all members have called it. PatientBarrier.h waits longer for members that read
  // weights or write a checkpoint.
  Status barrier();

  // One collective of one tensor; `count` as in BufferPair.
  Status allReduce(const void *send, void *recv, int64_t count, DType dtype, Reduce reduce);
  Status allGather(const void *send, void *recv, int64_t count, DType dtype);

protected:
  // Executes one checked call of a group of two or more. It runs one collective, one send per peer
  // and one receive per peer at a time; these may run concurrently in several threads.
  virtual Status execute(const Call &call) = 0;
  // Stops the threads of started calls. The destructor of every implementation begins with this.
  void stopQueues();
  // `rank 5 (index 1 of the group of ranks 1, 5)`
  std::string describe(int memberIndex) const;

private:
  std::vector<int> members_;
  int index_;
  std::unique_ptr<AsyncQueues> queues_;
};

// Options of a World.
struct Options {
  // Longest time that a call waits for another rank before that rank counts as lost.
  std::chrono::milliseconds timeout{60000};
};

// One rank's connection to all ranks of the job. Outlives its communicators.
class World {
public:
  World(int rank, int size) : rank_(rank), size_(size) {}
  virtual ~World() = default;
  World(const World &) = delete;
  World &operator=(const World &) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  // The endpoint in the group of `members` (ranks of the job, in group order, this rank among
  // them). Every member calls it. Groups of the same members in the same order are distinguished by
  // the order of these calls. A defect if this rank is not a member; Status::lost if others cannot
  // be reached.
  virtual Result<std::unique_ptr<Communicator>> connect(const std::vector<int> &members) = 0;

  // A small blackboard of the job: writes a key, which may be overwritten, and reads what any rank
  // has written, without waiting; nothing if the key was never written. Thread-safe. Status::lost
  // if the blackboard (at rank 0) cannot be reached.
  virtual Status publish(const std::string &key, const std::string &value) = 0;
  virtual Result<std::optional<std::string>> peek(const std::string &key) = 0;

  // Whether the rank is known to have ended. A rank of another machine never is.
  virtual bool hasEnded(int) const { return false; }

  // `local`, `shm`, `gloo`, …: for messages and logs.
  virtual std::string implementation() const = 0;

private:
  int rank_;
  int size_;
};

} // namespace cleave::comm
