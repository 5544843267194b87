#include "FakeDevice.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <future>
#include <vector>

namespace cleave::comm {

// Added to the addresses of device memory: no process has memory there.
constexpr uintptr_t kDevice = uintptr_t(1) << 60;

static bool isDevice(const void *address) { return reinterpret_cast<uintptr_t>(address) & kDevice; }

char *FakeDevice::at(const void *address, uint64_t bytes) const {
  auto number = reinterpret_cast<uintptr_t>(address);
  auto after = allocations_.upper_bound(number);
  if (after == allocations_.begin())
    return nullptr;
  auto [begin, size] = *std::prev(after);
  if (number + bytes > begin + size)
    return nullptr;
  return reinterpret_cast<char *>(number & ~kDevice);
}

Result<std::shared_ptr<void>> FakeDevice::allocate(plan::Space space, uint64_t bytes) {
  void *memory = std::aligned_alloc(256, (bytes + 256) / 256 * 256);
  std::memset(memory, 0xee, bytes);
  uintptr_t address = reinterpret_cast<uintptr_t>(memory) | (space == plan::DEVICE ? kDevice : 0);
  allocations_[address] = bytes;
  return std::shared_ptr<void>(reinterpret_cast<void *>(address), [this, memory, address](void *) {
    allocations_.erase(address);
    std::free(memory);
  });
}

Status FakeDevice::write(void *to, const void *from, uint64_t bytes) {
  CLEAVE_TRY(synchronize());
  char *target = at(to, bytes);
  if (!target || !isDevice(to))
    return Status::defect("a write outside device memory");
  std::memcpy(target, from, bytes);
  return Status::ok();
}

Status FakeDevice::read(const void *from, void *to, uint64_t bytes) {
  CLEAVE_TRY(synchronize());
  const char *source = at(from, bytes);
  if (!source || !isDevice(from))
    return Status::defect("a read outside device memory");
  std::memcpy(to, source, bytes);
  return Status::ok();
}

namespace {
class Enqueue final : public device::Action {
public:
  Enqueue(FakeQueue &queue, std::function<Status()> work) : queue_(queue), work_(std::move(work)) {}
  Status run() override {
    queue_.work.push_back(work_);
    return Status::ok();
  }

private:
  FakeQueue &queue_;
  std::function<Status()> work_;
};
} // namespace

device::PreparedAction FakeDevice::transfer(const void *from, bool fromDevice, void *to,
                                            bool toDevice, uint64_t bytes) {
  if (isDevice(from) != fromDevice || isDevice(to) != toDevice || !at(from, bytes) ||
      !at(to, bytes))
    return Status::defect("a transfer outside allocations, or in the wrong direction");
  return device::PreparedAction(std::make_unique<Enqueue>(queues_[queue_], [=, this] {
    char *target = at(to, bytes);
    const char *source = at(from, bytes);
    if (bytes == sizeof(uint32_t)) { // a word at once, which other threads may read
      uint32_t word;
      std::memcpy(&word, source, sizeof word);
      std::atomic_ref(*reinterpret_cast<uint32_t *>(target)).store(word, std::memory_order_relaxed);
    } else {
      std::memcpy(target, source, bytes);
    }
    return Status::ok();
  }));
}

device::PreparedAction FakeDevice::copy(const void *from, void *to, uint64_t bytes) {
  return transfer(from, true, to, true, bytes);
}
device::PreparedAction FakeDevice::upload(const void *from, void *to, uint64_t bytes, double) {
  return transfer(from, false, to, true, bytes);
}
device::PreparedAction FakeDevice::download(const void *from, void *to, uint64_t bytes, double) {
  return transfer(from, true, to, false, bytes);
}

Status FakeDevice::synchronize(uint32_t queue) {
  std::deque<std::function<Status()>> &work = queues_[queue].work;
  while (!work.empty()) {
    Status status = work.front()();
    work.pop_front();
    CLEAVE_TRY(status);
  }
  return Status::ok();
}

// Queues run at the same time.
Status FakeDevice::synchronize() {
  std::vector<std::future<Status>> ends;
  for (uint32_t queue = 0; queue < kQueues; ++queue)
    if (!queues_[queue].work.empty())
      ends.push_back(std::async(std::launch::async, [this, queue] { return synchronize(queue); }));
  Status status;
  for (std::future<Status> &end : ends)
    if (Status one = end.get(); !one && status)
      status = std::move(one);
  return status;
}

} // namespace cleave::comm
