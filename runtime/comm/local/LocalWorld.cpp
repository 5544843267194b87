// See LocalWorld.h.
#include "runtime/comm/local/LocalWorld.h"

#include "runtime/comm/local/SharedCommunicator.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <sys/mman.h>

namespace cleave::comm {
namespace {

// Zeroed memory of one group.
struct GroupMemory {
  explicit GroupMemory(size_t bytes)
      : bytes(bytes), memory(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~GroupMemory() {
    if (memory != MAP_FAILED)
      munmap(memory, bytes);
  }
  size_t bytes;
  void *memory;
};

// State shared by all ranks of the job.
struct LocalJob {
  explicit LocalJob(int size) : gone(size) {}
  std::vector<std::atomic<bool>> gone;
  std::mutex mutex;
  std::map<std::pair<std::vector<int>, int>, std::shared_ptr<GroupMemory>> groups;
  std::map<std::string, std::string> blackboard;
};

class LocalCommunicator final : public SharedCommunicator {
public:
  LocalCommunicator(std::vector<int> members, int index, const SharedLayout &layout,
                    std::shared_ptr<GroupMemory> memory, std::shared_ptr<LocalJob> job,
                    const Options &options)
      : SharedCommunicator(std::move(members), index, layout, options), memory_(std::move(memory)),
        job_(std::move(job)) {
    attach(memory_->memory);
  }
  ~LocalCommunicator() override { stopQueues(); }

protected:
  bool isGone(int rank) override { return job_->gone[rank]; }
  uint64_t offer(const void *address, size_t) override {
    return reinterpret_cast<uint64_t>(address);
  }
  Result<unsigned char *> offered(int, uint64_t address) override {
    return reinterpret_cast<unsigned char *>(address);
  }

private:
  std::shared_ptr<GroupMemory> memory_;
  std::shared_ptr<LocalJob> job_;
};

class LocalWorld final : public World {
public:
  LocalWorld(int rank, int size, std::shared_ptr<LocalJob> job, const Options &options)
      : World(rank, size), job_(std::move(job)), options_(options) {}
  ~LocalWorld() override { job_->gone[rank()] = true; }

  Result<std::unique_ptr<Communicator>> connect(const std::vector<int> &members) override {
    auto found = std::find(members.begin(), members.end(), rank());
    if (found == members.end())
      return Status::defect("rank ", rank(), " connects to a group it is not in");
    // All memory is addressable, so there is no staging. Messages of up to 8 KiB do not wait for
    // their receiver.
    SharedLayout layout(static_cast<int>(members.size()), 0, 8192);
    std::shared_ptr<GroupMemory> memory = memoryOf(members, made_[members]++, layout.bytes());
    if (memory->memory == MAP_FAILED)
      return Status::lost("could not allocate memory for a group of ", members.size(),
                          " ranks: ", strerror(errno));
    return std::unique_ptr<Communicator>(std::make_unique<LocalCommunicator>(
        members, static_cast<int>(found - members.begin()), layout, memory, job_, options_));
  }

  Status publish(const std::string &key, const std::string &value) override {
    std::lock_guard lock(job_->mutex);
    job_->blackboard[key] = value;
    return Status::ok();
  }
  Result<std::optional<std::string>> peek(const std::string &key) override {
    std::lock_guard lock(job_->mutex);
    auto found = job_->blackboard.find(key);
    return found == job_->blackboard.end() ? std::optional<std::string>() : found->second;
  }
  bool hasEnded(int rank) const override { return job_->gone[rank]; }

  std::string implementation() const override { return "local"; }

private:
  std::shared_ptr<GroupMemory> memoryOf(const std::vector<int> &members, int number, size_t bytes) {
    std::lock_guard lock(job_->mutex);
    std::shared_ptr<GroupMemory> &memory = job_->groups[{members, number}];
    if (!memory)
      memory = std::make_shared<GroupMemory>(bytes);
    return memory;
  }

  std::shared_ptr<LocalJob> job_;
  Options options_;
  std::map<std::vector<int>, int> made_; // groups of these members so far
};

} // namespace

std::vector<std::unique_ptr<World>> makeLocalWorlds(int size, const Options &options) {
  auto job = std::make_shared<LocalJob>(size);
  std::vector<std::unique_ptr<World>> worlds;
  for (int rank = 0; rank < size; ++rank)
    worlds.push_back(std::make_unique<LocalWorld>(rank, size, job, options));
  return worlds;
}

} // namespace cleave::comm
