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

// What a rank and all its communicators know of the job. An address that another rank can read is
// (number of the memory + 1) << kOffsetBits | offset.
class ShmJob {
public:
  ShmJob(std::shared_ptr<TcpStore> store, int rank, std::unique_ptr<SharedMemory> alive,
         const Options &options)
      : options(options), store_(std::move(store)), rank(rank), alive(std::move(alive)) {}

  bool isGone(int rank) const { return !alive->isHeld(rank); }
  TcpStore &store() { return *store_; }

  Result<void *> allocate(uint64_t bytes) {
    auto memory = SharedMemory::create(bytes);
    CLEAVE_TRY(memory.status());
    std::lock_guard lock(mutex);
    CLEAVE_TRY(store_->set(keyOf(rank, own.size()), (*memory)->ticket()));
    own.push_back(std::move(*memory));
    return static_cast<void *>(own.back()->data());
  }

  uint64_t offer(const void *address, size_t bytes) {
    std::lock_guard lock(mutex);
    const auto *at = static_cast<const unsigned char *>(address);
    for (size_t i = 0; i < own.size(); ++i)
      if (at >= own[i]->data() && at + bytes <= own[i]->data() + own[i]->bytes())
        return (i + 1) << kOffsetBits | static_cast<uint64_t>(at - own[i]->data());
    return 0;
  }

  Result<unsigned char *> offered(int rank, uint64_t address) {
    size_t number = address >> kOffsetBits;
    uint64_t offset = address & ((uint64_t(1) << kOffsetBits) - 1);
    if (number == 0)
      return nullptr;
    std::lock_guard lock(mutex);
    if (rank == this->rank) // the same address, not a second mapping
      return own[number - 1]->data() + offset;
    std::unique_ptr<SharedMemory> &memory = others[{rank, number - 1}];
    if (!memory) {
      auto ticket = store_->get(keyOf(rank, number - 1), options.timeout);
      CLEAVE_TRY(ticket.status());
      auto opened = SharedMemory::open(*ticket);
      CLEAVE_TRY(opened.status().withContext("memory of rank " + std::to_string(rank)));
      memory = std::move(*opened);
    }
    return memory->data() + offset;
  }

  const Options options;

private:
  static constexpr int kOffsetBits = 44;
  static std::string keyOf(int rank, size_t number) {
    return "shm/memory/" + std::to_string(rank) + "/" + std::to_string(number);
  }
  std::shared_ptr<TcpStore> store_;
  int rank;
  std::unique_ptr<SharedMemory> alive; // one byte per rank, held as long as it lives
  std::mutex mutex;
  std::vector<std::unique_ptr<SharedMemory>> own;
  std::map<std::pair<int, size_t>, std::unique_ptr<SharedMemory>> others;
};

// The first member makes the group's memory at once; the others map it when they first need it, so
// that connecting waits for nobody.
class ShmCommunicator final : public SharedCommunicator {
public:
  ShmCommunicator(std::vector<int> members, int index, const SharedLayout &layout, std::string key,
                  std::shared_ptr<ShmJob> job)
      : SharedCommunicator(std::move(members), index, layout, job->options), bytes(layout.bytes()),
        key(std::move(key)), job(std::move(job)) {}
  ~ShmCommunicator() override { stopQueues(); }

  Status prepare() {
    if (rank() != 0)
      return Status::ok();
    auto made = SharedMemory::create(bytes);
    CLEAVE_TRY(made.status());
    memory = std::move(*made);
    attach(memory->data());
    return job->store().set(key, memory->ticket());
  }

protected:
  Status execute(const Call &call) override {
    CLEAVE_TRY(map());
    return SharedCommunicator::execute(call);
  }
  bool isGone(int rank) override { return job->isGone(rank); }
  uint64_t offer(const void *address, size_t bytes) override { return job->offer(address, bytes); }
  Result<unsigned char *> offered(int rank, uint64_t address) override {
    return job->offered(rank, address);
  }

private:
  Status map() {
    std::lock_guard lock(mutex);
    if (memory)
      return Status::ok();
    auto ticket = job->store().get(key, job->options.timeout);
    if (!ticket)
      return Status::lost(describe(0) + " did not open the group (" + ticket.status().message() +
                          ")");
    auto opened = SharedMemory::open(*ticket);
    CLEAVE_TRY(opened.status().withContext("the group of " + describe(0)));
    memory = std::move(*opened);
    attach(memory->data());
    return Status::ok();
  }

  size_t bytes;
  std::string key; // in the store: the memory's ticket
  std::shared_ptr<ShmJob> job;
  std::mutex mutex; // of map()
  std::unique_ptr<SharedMemory> memory;
};

class ShmWorld final : public World {
public:
  ShmWorld(int rank, int size, std::shared_ptr<ShmJob> job)
      : World(rank, size), job(std::move(job)) {}

  Result<std::unique_ptr<Communicator>> connect(const std::vector<int> &members) override {
    auto found = std::find(members.begin(), members.end(), rank());
    if (found == members.end())
      return Status::defect("rank " + std::to_string(rank()) + " connects to a group it is not in");
    std::string key = "shm/group";
    for (int member : members)
      key += "/" + std::to_string(member);
    key += "#" + std::to_string(made[members]++);
    SharedLayout layout(static_cast<int>(members.size()), kStagingBytes, kSlotBytes);
    auto communicator = std::make_unique<ShmCommunicator>(
        members, static_cast<int>(found - members.begin()), layout, key, job);
    CLEAVE_TRY(communicator->prepare());
    return std::unique_ptr<Communicator>(std::move(communicator));
  }

  Result<void *> allocate(uint64_t bytes) override { return job->allocate(bytes); }
  std::string implementation() const override { return "shm"; }

private:
  std::shared_ptr<ShmJob> job;
  std::map<std::vector<int>, int> made; // groups of these members so far
};

// Maps the memory in which every rank holds a byte, and holds ours.
Result<std::unique_ptr<SharedMemory>> openAlive(TcpStore &store, int rank,
                                                std::chrono::milliseconds timeout) {
  auto ticket = store.get("shm/alive", timeout);
  CLEAVE_TRY(ticket.status());
  auto alive = SharedMemory::open(*ticket);
  CLEAVE_TRY(alive.status());
  CLEAVE_TRY((*alive)->holdByte(rank));
  return alive;
}

} // namespace

Result<std::unique_ptr<World>> connectShm(std::shared_ptr<TcpStore> store, int rank, int size,
                                          const Options &options) {
  std::unique_ptr<SharedMemory> made; // rank 0's own stays open until all have mapped it
  if (rank == 0) {
    auto alive = SharedMemory::create(size);
    CLEAVE_TRY(alive.status());
    made = std::move(*alive);
    CLEAVE_TRY(store->set("shm/alive", made->ticket()));
  }
  auto alive = openAlive(*store, rank, options.timeout);
  CLEAVE_TRY(store->set("shm/here/" + std::to_string(rank), alive ? "yes" : "no"));
  bool all = true;
  for (int other = 0; other < size; ++other) {
    auto here = store->get("shm/here/" + std::to_string(other), options.timeout);
    if (!here)
      return Status::lost("rank " + std::to_string(other) + " did not come within the timeout (" +
                          here.status().message() + ")");
    all &= *here == "yes";
  }
  if (!all)
    return std::unique_ptr<World>();
  auto job = std::make_shared<ShmJob>(store, rank, std::move(*alive), options);
  return std::unique_ptr<World>(std::make_unique<ShmWorld>(rank, size, job));
}

} // namespace cleave::comm
