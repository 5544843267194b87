// See ShmWorld.h.
#include "runtime/comm/shm/ShmWorld.h"

#include "runtime/comm/local/SharedCommunicator.h"
#include "runtime/comm/shm/SharedMemory.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace cleave::comm {
namespace {

constexpr size_t kStagingBytes = 2 << 20; // per member: two halves
constexpr size_t kSlotBytes = 256 << 10;  // per part of a message

// State of the job, shared by a rank and all its communicators.
struct ShmJob {
  Options options;
  std::shared_ptr<TcpStore> store;
  std::unique_ptr<SharedMemory> alive; // one byte per rank, held as long as it lives
};

// The first member creates the group's memory at once; the others map it at their first call, so
// that connecting never waits.
class ShmCommunicator final : public SharedCommunicator {
public:
  ShmCommunicator(std::vector<int> members, int index, const SharedLayout &layout, std::string key,
                  std::shared_ptr<ShmJob> job)
      : SharedCommunicator(std::move(members), index, layout, job->options), bytes_(layout.bytes()),
        key_(std::move(key)), job_(std::move(job)) {}
  ~ShmCommunicator() override { stopQueues(); }

  Status prepare() {
    if (rank() != 0)
      return Status::ok();
    CLEAVE_TRY_ASSIGN(memory_, SharedMemory::create(bytes_));
    attach(memory_->data());
    return job_->store->set(key_, memory_->ticket());
  }

protected:
  Status execute(const Call &call) override {
    CLEAVE_TRY(map());
    return SharedCommunicator::execute(call);
  }
  bool isGone(int rank) override { return !job_->alive->isHeld(rank); }
  // Buffers are private memory of each process (with huge pages), so the data go through staging
  // memory. Buffers in shared memory, read in place, would save 10 % of the CPU time of a 64 MB
  // all_reduce (measured).
  uint64_t offer(const void *, size_t) override { return 0; }
  Result<unsigned char *> offered(int, uint64_t) override {
    return Status::defect("nothing was offered");
  }

private:
  Status map() {
    std::lock_guard lock(mutex_);
    if (memory_)
      return Status::ok();
    auto ticket = job_->store->get(key_, job_->options.timeout);
    if (!ticket)
      return Status::lost(describe(0), " did not open the group (", ticket.status().message(), ")");
    CLEAVE_TRY_ASSIGN(
        memory_, SharedMemory::open(*ticket, bytes_).withContext("the group of " + describe(0)));
    attach(memory_->data());
    return Status::ok();
  }

  size_t bytes_;
  std::string key_; // in the store: the memory's ticket
  std::shared_ptr<ShmJob> job_;
  std::mutex mutex_; // of map()
  std::unique_ptr<SharedMemory> memory_;
};

class ShmWorld final : public World {
public:
  ShmWorld(int rank, int size, std::shared_ptr<ShmJob> job)
      : World(rank, size), job_(std::move(job)) {}

  Result<std::unique_ptr<Communicator>> connect(const std::vector<int> &members) override {
    auto found = std::find(members.begin(), members.end(), rank());
    if (found == members.end())
      return Status::defect("rank ", rank(), " connects to a group it is not in");
    std::string key = "shm/group";
    for (int member : members)
      key += concat("/", member);
    key += concat("#", made_[members]++);
    SharedLayout layout(static_cast<int>(members.size()), kStagingBytes, kSlotBytes);
    auto communicator = std::make_unique<ShmCommunicator>(
        members, static_cast<int>(found - members.begin()), layout, key, job_);
    CLEAVE_TRY(communicator->prepare());
    return std::unique_ptr<Communicator>(std::move(communicator));
  }

  Status publish(const std::string &key, const std::string &value) override {
    return job_->store->publish(key, value);
  }
  Result<std::optional<std::string>> peek(const std::string &key) override {
    return job_->store->peek(key);
  }
  bool hasEnded(int rank) const override { return !job_->alive->isHeld(rank); }

  std::string implementation() const override { return "shm"; }

private:
  std::shared_ptr<ShmJob> job_;
  std::map<std::vector<int>, int> made_; // groups of these members so far
};

// Maps the memory in which every rank holds a byte, and holds this rank's.
Result<std::unique_ptr<SharedMemory>> openAlive(TcpStore &store, const std::string &key, int rank,
                                                int size, std::chrono::milliseconds timeout) {
  CLEAVE_TRY_ASSIGN(auto ticket, store.get(key, timeout));
  CLEAVE_TRY_ASSIGN(auto alive, SharedMemory::open(ticket, size_t(size)));
  CLEAVE_TRY(alive->holdByte(rank));
  return alive;
}

} // namespace

Result<std::unique_ptr<World>> connectShm(std::shared_ptr<TcpStore> store, int rank,
                                          const std::vector<int> &ranks, int size,
                                          const Options &options) {
  std::string aliveKey = "shm/alive/" + std::to_string(ranks[0]);
  std::unique_ptr<SharedMemory> made; // kept by the first rank until all ranks have mapped it
  if (rank == ranks[0]) {
    CLEAVE_TRY_ASSIGN(made, SharedMemory::create(size));
    CLEAVE_TRY(store->set(aliveKey, made->ticket()));
  }
  auto alive = openAlive(*store, aliveKey, rank, size, options.timeout);
  CLEAVE_TRY(store->set("shm/here/" + std::to_string(rank), alive ? "yes" : "no"));
  bool all = true;
  for (int other : ranks) {
    auto here = store->get("shm/here/" + std::to_string(other), options.timeout);
    if (!here)
      return Status::lost("rank ", other, " did not come within the timeout (",
                          here.status().message(), ")");
    all &= *here == "yes";
  }
  if (!all)
    return std::unique_ptr<World>();
  auto job = std::make_shared<ShmJob>(ShmJob{options, store, std::move(*alive)});
  return std::unique_ptr<World>(std::make_unique<ShmWorld>(rank, size, job));
}

} // namespace cleave::comm
