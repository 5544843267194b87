// The parts of a Communicator that all implementations share: checks of calls, groups of one rank,
// started calls, and the calls of one tensor. See Communicator.h.
#include "runtime/comm/Communicator.h"

#include "runtime/comm/AsyncQueues.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace cleave::comm {

Communicator::Communicator(std::vector<int> members, int index)
    : members_(std::move(members)), index_(index), queues_(std::make_unique<AsyncQueues>()) {}

Communicator::~Communicator() = default;

void Communicator::stopQueues() { queues_.reset(); }

std::string Communicator::describe(int memberIndex) const {
  std::string text =
      concat("rank ", members_[memberIndex], " (index ", memberIndex, " of the group of ranks ");
  for (size_t i = 0; i < members_.size(); ++i)
    text += concat(i ? ", " : "", members_[i]);
  return text + ")";
}

// Whether the list holds every index below `size` once.
static bool isPermutation(std::vector<int> list, int size) {
  std::sort(list.begin(), list.end());
  std::vector<int> all(size);
  std::iota(all.begin(), all.end(), 0);
  return list == all;
}

Status checkCall(const Call &call, int size, int index) {
  if (isPointToPoint(call.kind) && (call.peer < 0 || call.peer >= size || call.peer == index))
    return Status::defect("peer ", call.peer, " of a send or receive is not another of ", size,
                          " members");
  if (call.kind == CollectiveKind::Permute && !isPermutation(call.sources, size))
    return Status::defect("the sources of a permute are not each of ", size, " members once");
  for (const BufferPair &pair : call.pairs) {
    bool needsSend = call.kind != CollectiveKind::Recv,
         needsRecv = call.kind != CollectiveKind::Send;
    if (pair.count < 0 || byteSize(pair.dtype) == 0 ||
        (pair.count > 0 && ((needsSend && !pair.send) || (needsRecv && !pair.recv))))
      return Status::defect("a collective got a missing buffer, a negative count or no type");
  }
  return Status::ok();
}

// Every collective of a group of one copies the data.
static void runAlone(const Call &call) {
  for (const BufferPair &pair : call.pairs)
    if (pair.send != pair.recv && pair.count > 0)
      std::memcpy(pair.recv, pair.send, pair.count * byteSize(pair.dtype));
}

static AsyncQueues::Key queueOf(const Call &call) {
  using Direction = AsyncQueues::Direction;
  if (call.kind == CollectiveKind::Send)
    return {Direction::Send, call.peer};
  if (call.kind == CollectiveKind::Recv)
    return {Direction::Recv, call.peer};
  return {Direction::Collective, 0};
}

Status Communicator::run(const Call &call) {
  CLEAVE_TRY(checkCall(call, size(), index_));
  if (size() == 1) {
    runAlone(call);
    return Status::ok();
  }
  AsyncQueues::Key queue = queueOf(call);
  if (queues_->busy(queue))
    return queues_->wait(queues_->start(queue, [&] { return execute(call); }));
  return execute(call);
}

Ticket Communicator::start(const Call &call) {
  return queues_->start(queueOf(call), [this, call] {
    CLEAVE_TRY(checkCall(call, size(), index_));
    if (size() > 1)
      return execute(call);
    runAlone(call);
    return Status::ok();
  });
}

Status Communicator::wait(Ticket ticket) { return queues_->wait(ticket); }

Status Communicator::barrier() {
  uint8_t mine = 0;
  return run({.kind = CollectiveKind::AllReduce,
              .reduce = Reduce::Max,
              .pairs = {{&mine, &mine, 1, DType::U8}}});
}

Status Communicator::allReduce(const void *send, void *recv, int64_t count, DType dtype,
                               Reduce reduce) {
  return run(
      {.kind = CollectiveKind::AllReduce, .reduce = reduce, .pairs = {{send, recv, count, dtype}}});
}

Status Communicator::allGather(const void *send, void *recv, int64_t count, DType dtype) {
  return run({.kind = CollectiveKind::AllGather, .pairs = {{send, recv, count, dtype}}});
}

} // namespace cleave::comm
