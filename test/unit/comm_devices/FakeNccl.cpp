#include "FakeNccl.h"

#include "FakeDevice.h"
#include "runtime/comm/Reduction.h"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace cleave::comm::nccl {

namespace {

enum class What { AllReduce, AllGather, ReduceScatter, Send, Recv };

// One call of one member.
struct Op {
  What what;
  const void *send;
  void *recv;
  size_t count;
  Type type;
  nccl::Op op = nccl::Op::Sum;
  int peer = 0;
};

struct Message {
  size_t count;
  Type type;
  std::vector<char> data;
  bool isTaken = false;
};

// What the members of one communicator share.
struct Shared {
  int ranks = 0, arrived = 0;
  struct Posted {
    Op op;
    std::vector<char> data;
  };
  std::map<size_t, std::map<int, Posted>> posted; // by number of the collective, and member
  std::map<std::pair<int, int>, std::deque<std::shared_ptr<Message>>> messages; // from, to
};

} // namespace
} // namespace cleave::comm::nccl

struct cleave::comm::nccl::OpaqueComm {
  std::shared_ptr<Shared> shared;
  int rank = 0;
  size_t collectives = 0;
  Code error = Code::Success;
  bool isAlive = true, isAborted = false;
};

namespace cleave::comm::nccl {
namespace {

std::mutex mutex;
std::condition_variable change;
std::map<std::string, std::shared_ptr<Shared>> groups; // by identifier
std::list<OpaqueComm> comms;                           // also those that have ended
std::string faults;
int identifiers = 0;

// The calls between groupStart and groupEnd of this thread.
struct Group {
  int depth = 0;
  Comm comm = nullptr;
  FakeQueue *queue = nullptr;
  std::vector<Op> ops;
};
thread_local Group group;

// The mutex is held.
void fault(const std::string &text) {
  if (faults.size() < 2000)
    faults += text + "\n";
}

size_t bytesOf(Type type) {
  switch (type) {
  case Type::Int8:
  case Type::Uint8:
    return 1;
  case Type::Float16:
  case Type::Bfloat16:
    return 2;
  case Type::Int64:
  case Type::Uint64:
  case Type::Float64:
    return 8;
  default:
    return 4;
  }
}

DType dtypeOf(Type type) {
  switch (type) {
  case Type::Float64:
    return DType::F64;
  case Type::Bfloat16:
    return DType::BF16;
  case Type::Int64:
    return DType::I64;
  case Type::Uint8:
    return DType::U8;
  default:
    return DType::F32;
  }
}

template <typename Predicate>
Status waitFor(std::unique_lock<std::mutex> &lock, Comm comm, Predicate done) {
  change.wait(lock, [&] { return comm->isAborted || done(); });
  return comm->isAborted ? Status::lost("aborted") : Status::ok();
}

Status runCollective(std::unique_lock<std::mutex> &lock, FakeDevice &device, Comm comm,
                     const Op &op) {
  Shared &shared = *comm->shared;
  size_t ranks = size_t(shared.ranks), size = bytesOf(op.type);
  size_t number = comm->collectives++;
  size_t sent = op.count * size * (op.what == What::ReduceScatter ? ranks : 1);
  size_t received = op.count * size * (op.what == What::AllGather ? ranks : 1);
  char *from = device.at(op.send, sent), *to = device.at(op.recv, received);
  if (!from || !to)
    return Status::defect("a collective outside allocations");
  shared.posted[number][comm->rank] = {op, std::vector<char>(from, from + sent)};
  change.notify_all();
  CLEAVE_TRY(waitFor(lock, comm, [&] { return shared.posted[number].size() == ranks; }));
  auto &posted = shared.posted[number];
  for (auto &[rank, other] : posted)
    if (other.op.what != op.what || other.op.count != op.count || other.op.type != op.type ||
        other.op.op != op.op)
      fault("members make different collectives");
  if (op.what == What::AllGather) {
    for (auto &[rank, other] : posted)
      std::memcpy(to + size_t(rank) * sent, other.data.data(), sent);
    return Status::ok();
  }
  std::vector<const void *> sources; // the last member first
  size_t skip = op.what == What::ReduceScatter ? size_t(comm->rank) * received : 0;
  for (auto other = posted.rbegin(); other != posted.rend(); ++other)
    sources.push_back(other->second.data.data() + skip);
  reduceInOrder(dtypeOf(op.type),
                op.op == nccl::Op::Sum   ? Reduce::Sum
                : op.op == nccl::Op::Max ? Reduce::Max
                                         : Reduce::Min,
                sources, to, int64_t(op.count));
  return Status::ok();
}

Status runGroup(FakeDevice &device, Comm comm, const std::vector<Op> &ops) {
  std::unique_lock lock(mutex);
  Shared &shared = *comm->shared;
  std::vector<std::shared_ptr<Message>> sent;
  for (const Op &op : ops)
    if (op.what == What::Send) {
      size_t bytes = op.count * bytesOf(op.type);
      const char *from = device.at(op.send, bytes);
      if (!from)
        return Status::defect("a send outside allocations");
      sent.push_back(std::make_shared<Message>(
          Message{op.count, op.type, std::vector<char>(from, from + bytes)}));
      shared.messages[{comm->rank, op.peer}].push_back(sent.back());
    }
  change.notify_all();
  for (const Op &op : ops) {
    if (op.what == What::Send)
      continue;
    if (op.what != What::Recv) {
      CLEAVE_TRY(runCollective(lock, device, comm, op));
      continue;
    }
    auto &messages = shared.messages[{op.peer, comm->rank}];
    CLEAVE_TRY(waitFor(lock, comm, [&] { return !messages.empty(); }));
    std::shared_ptr<Message> message = messages.front();
    messages.pop_front();
    if (message->count != op.count || message->type != op.type)
      fault("a receive of another count or type than its send");
    char *to = device.at(op.recv, message->data.size());
    if (!to)
      return Status::defect("a receive outside allocations");
    std::memcpy(to, message->data.data(), message->data.size());
    message->isTaken = true;
    change.notify_all();
  }
  for (auto &message : sent)
    CLEAVE_TRY(waitFor(lock, comm, [&] { return message->isTaken; }));
  return Status::ok();
}

Code add(const Op &op, Comm comm, Stream stream) {
  std::lock_guard lock(mutex);
  if (group.depth == 0)
    fault("a call outside a group");
  if (!comm->isAlive)
    fault("a call on a communicator that has ended");
  if (group.comm && (group.comm != comm || group.queue != stream))
    fault("a group of several communicators or queues");
  if (comm->error != Code::Success)
    return comm->error;
  group.comm = comm;
  group.queue = static_cast<FakeQueue *>(stream);
  group.ops.push_back(op);
  return Code::Success;
}

Code getVersion(int *version) {
  *version = 22803;
  return Code::Success;
}

Code getUniqueId(UniqueId *id) {
  std::lock_guard lock(mutex);
  std::snprintf(id->bytes, sizeof id->bytes, "group %d", ++identifiers);
  return Code::Success;
}

Code commInitRankConfig(Comm *comm, int ranks, UniqueId id, int rank, Config *config) {
  std::lock_guard lock(mutex);
  if (config->size != sizeof(Config) || config->magic != 0xcafebeef || config->blocking != 0)
    fault("a malformed configuration");
  std::shared_ptr<Shared> &shared = groups[id.bytes];
  if (!shared)
    shared = std::make_shared<Shared>();
  shared->ranks = ranks;
  ++shared->arrived;
  OpaqueComm &made = comms.emplace_back();
  made.shared = shared;
  made.rank = rank;
  *comm = &made;
  return Code::InProgress;
}

Code end(Comm comm) {
  std::lock_guard lock(mutex);
  if (!comm->isAlive)
    fault("a communicator ends twice");
  comm->isAlive = false;
  return Code::Success;
}

Code commFinalize(Comm) { return Code::InProgress; }
Code commDestroy(Comm comm) { return end(comm); }
Code commAbort(Comm comm) {
  Code code = end(comm);
  std::lock_guard lock(mutex);
  comm->isAborted = true;
  change.notify_all();
  return code;
}

Code commGetAsyncError(Comm comm, Code *error) {
  std::lock_guard lock(mutex);
  if (!comm->isAlive)
    fault("a question about a communicator that has ended");
  bool isConnected = comm->shared->arrived == comm->shared->ranks;
  *error = comm->error != Code::Success ? comm->error
           : isConnected                ? Code::Success
                                        : Code::InProgress;
  return Code::Success;
}

const char *getErrorString(Code code) {
  return code == Code::RemoteError ? "remote process exited or there was a network error" : "error";
}
const char *getLastError(Comm) { return "of the fake library"; }

Code groupStart() {
  ++group.depth;
  return Code::Success;
}

Code groupEnd() {
  if (--group.depth > 0 || !group.comm)
    return Code::Success;
  Group ended = std::exchange(group, {});
  FakeQueue *queue = ended.queue;
  queue->work.push_back([queue, comm = ended.comm, ops = std::move(ended.ops)] {
    return runGroup(*queue->device, comm, ops);
  });
  return Code::InProgress;
}

Code allReduce(const void *send, void *recv, size_t count, Type type, nccl::Op op, Comm comm,
               Stream stream) {
  return add(
      {.what = What::AllReduce, .send = send, .recv = recv, .count = count, .type = type, .op = op},
      comm, stream);
}
Code allGather(const void *send, void *recv, size_t count, Type type, Comm comm, Stream stream) {
  return add({.what = What::AllGather, .send = send, .recv = recv, .count = count, .type = type},
             comm, stream);
}
Code reduceScatter(const void *send, void *recv, size_t count, Type type, nccl::Op op, Comm comm,
                   Stream stream) {
  return add({.what = What::ReduceScatter,
              .send = send,
              .recv = recv,
              .count = count,
              .type = type,
              .op = op},
             comm, stream);
}
Code send(const void *data, size_t count, Type type, int peer, Comm comm, Stream stream) {
  return add({.what = What::Send,
              .send = data,
              .recv = nullptr,
              .count = count,
              .type = type,
              .peer = peer},
             comm, stream);
}
Code recv(void *data, size_t count, Type type, int peer, Comm comm, Stream stream) {
  return add({.what = What::Recv,
              .send = nullptr,
              .recv = data,
              .count = count,
              .type = type,
              .peer = peer},
             comm, stream);
}

} // namespace
} // namespace cleave::comm::nccl

namespace cleave::comm {

const nccl::Table &fakeNccl() {
  using namespace nccl;
  static const Table table{
      getVersion,      getUniqueId,         commInitRankConfig, commFinalize,
      commDestroy,     commAbort,           commGetAsyncError,  getErrorString,
      getLastError,    nccl::groupStart,    nccl::groupEnd,     nccl::allReduce,
      nccl::allGather, nccl::reduceScatter, nccl::send,         nccl::recv};
  return table;
}

std::string takeNcclFaults() {
  std::lock_guard lock(nccl::mutex);
  for (nccl::OpaqueComm &comm : nccl::comms)
    if (comm.isAlive)
      nccl::fault("a communicator is left");
  nccl::comms.clear();
  nccl::groups.clear();
  return std::exchange(nccl::faults, "");
}

void breakNccl(int member) {
  std::lock_guard lock(nccl::mutex);
  for (nccl::OpaqueComm &comm : nccl::comms)
    if (comm.rank == member)
      comm.error = nccl::Code::RemoteError;
}

} // namespace cleave::comm
