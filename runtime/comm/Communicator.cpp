// What all implementations share: checking calls, groups of one, started calls, and the small
// helpers.
#include "runtime/comm/Communicator.h"

#include "runtime/comm/AsyncQueues.h"

#include <cstring>

namespace cleave::comm {

std::string_view name(Kind kind) {
  constexpr std::string_view names[] = {
      "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send", "recv"};
  return names[static_cast<int>(kind)];
}

Communicator::Communicator(std::vector<int> members, int index)
    : members_(std::move(members)), index_(index), queues(std::make_unique<AsyncQueues>()) {}

Communicator::~Communicator() = default;

void Communicator::stopQueues() { queues.reset(); }

std::string Communicator::describe(int memberIndex) const {
  std::string text = "rank " + std::to_string(members_[memberIndex]) + " (index " +
                     std::to_string(memberIndex) + " of the group of ranks ";
  for (size_t i = 0; i < members_.size(); ++i)
    text += (i ? ", " : "") + std::to_string(members_[i]);
  return text + ")";
}

Status Communicator::check(const Call &call) const {
  bool pointToPoint = call.kind == Kind::Send || call.kind == Kind::Recv;
  if (pointToPoint && (call.peer < 0 || call.peer >= size() || call.peer == index_))
    return Status::defect("peer " + std::to_string(call.peer) +
                          " of a send or receive is not another of " + std::to_string(size()) +
                          " members");
  if (call.kind == Kind::Broadcast && (call.root < 0 || call.root >= size()))
    return Status::defect("root " + std::to_string(call.root) + " of a broadcast is not one of " +
                          std::to_string(size()) + " members");
  for (const BufferPair &pair : call.pairs) {
    bool needsSend =
        call.kind != Kind::Recv && !(call.kind == Kind::Broadcast && call.root != index_);
    bool needsRecv = call.kind != Kind::Send;
    if (pair.count < 0 || byteSize(pair.dtype) == 0 ||
        (pair.count > 0 && ((needsSend && !pair.send) || (needsRecv && !pair.recv))))
      return Status::defect("a collective got a missing buffer, a negative count or no type");
  }
  return Status::ok();
}

// Every collective of a group of one hands the data back.
static void runAlone(const Call &call) {
  for (const BufferPair &pair : call.pairs)
    if (pair.send != pair.recv && pair.count > 0)
      std::memcpy(pair.recv, pair.send, pair.count * byteSize(pair.dtype));
}

static AsyncQueues::Key queueOf(const Call &call, bool overtakes) {
  if (call.kind != Kind::Send && call.kind != Kind::Recv)
    return {0, 0, 0};
  return {call.kind == Kind::Send ? 1 : 2, call.peer, overtakes ? call.tag : 0};
}

Status Communicator::run(const Call &call) {
  CLEAVE_TRY(check(call));
  if (size() == 1) {
    runAlone(call);
    return Status::ok();
  }
  AsyncQueues::Key queue = queueOf(call, tagsOvertake());
  if (queues->busy(queue))
    return queues->wait(queues->start(queue, [&] { return execute(call); }));
  return execute(call);
}

Ticket Communicator::start(const Call &call) {
  return queues->start(queueOf(call, tagsOvertake()), [this, call] {
    CLEAVE_TRY(check(call));
    if (size() > 1)
      return execute(call);
    runAlone(call);
    return Status::ok();
  });
}

Status Communicator::wait(Ticket ticket) { return queues->wait(ticket); }

Status Communicator::barrier(std::chrono::milliseconds timeout) {
  uint8_t mine = 0;
  Call call{Kind::AllReduce, Reduce::Max, {{&mine, &mine, 1, DType::U8}}};
  call.timeout = timeout;
  return run(call);
}

Status Communicator::allReduce(const void *send, void *recv, int64_t count, DType dtype,
                               Reduce reduce) {
  return run({Kind::AllReduce, reduce, {{send, recv, count, dtype}}});
}

Status Communicator::allGather(const void *send, void *recv, int64_t count, DType dtype) {
  return run({Kind::AllGather, Reduce::Sum, {{send, recv, count, dtype}}});
}

Status Communicator::broadcast(const void *send, void *recv, int64_t count, DType dtype, int root) {
  return run({Kind::Broadcast, Reduce::Sum, {{send, recv, count, dtype}}, root});
}

} // namespace cleave::comm
