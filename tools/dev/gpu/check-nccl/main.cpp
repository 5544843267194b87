// check-nccl: every call over NCCL in a group of one GPU, enqueued and recorded, with its results.
// Plans for one rank have no collectives, and ranks that share a GPU communicate through the host:
// this is what a machine with one GPU can show of NCCL. Prints one line; exit codes of cleave-run.
#include "runtime/comm/local/LocalWorld.h"
#include "runtime/comm/nccl/NcclWorld.h"
#include "runtime/device/cuda/CudaDevice.h"

#include <cstdio>
#include <cstring>

using namespace cleave;
using namespace cleave::comm;

namespace {

constexpr int64_t kCount = 4099;
constexpr int kReplays = 3;
constexpr DType kTypes[] = {DType::F32, DType::BF16, DType::I64, DType::U8, DType::I16};

// A call and the memory of its tensor. With one member, every call gives what was sent.
struct Case {
  Call call;
  std::shared_ptr<void> send, recv;
  uint64_t bytes;
};

std::vector<unsigned char> pattern(uint64_t bytes, int seed) {
  std::vector<unsigned char> values(bytes);
  for (uint64_t i = 0; i < bytes; ++i)
    values[i] = static_cast<unsigned char>((i * 7 + uint64_t(seed)) % 60); // no NaN of any type
  return values;
}

Result<std::vector<Case>> casesOn(device::Device &device) {
  std::vector<Case> cases;
  for (CollectiveKind kind :
       {CollectiveKind::AllReduce, CollectiveKind::AllGather, CollectiveKind::ReduceScatter,
        CollectiveKind::AllToAll, CollectiveKind::Permute})
    for (DType dtype : kTypes) {
      const bool reduces = cleave::reduces(kind);
      if (reduces && dtype == DType::I16) // NCCL has no such reduction
        continue;
      Case one;
      one.bytes = uint64_t(kCount * byteSize(dtype));
      CLEAVE_TRY_ASSIGN(one.send, device.allocate(plan::DEVICE, one.bytes));
      CLEAVE_TRY_ASSIGN(one.recv, device.allocate(plan::DEVICE, one.bytes));
      one.call = {.kind = kind, .pairs = {{one.send.get(), one.recv.get(), kCount, dtype}}};
      if (kind == CollectiveKind::Permute)
        one.call.sources = {0};
      cases.push_back(std::move(one));
    }
  return cases;
}

Status write(device::Device &device, const std::vector<Case> &cases, int seed) {
  for (const Case &one : cases) {
    CLEAVE_TRY(device.write(one.send.get(), pattern(one.bytes, seed).data(), one.bytes));
    CLEAVE_TRY(device.write(one.recv.get(), pattern(one.bytes, seed + 1).data(), one.bytes));
  }
  return Status::ok();
}

Status compare(device::Device &device, const std::vector<Case> &cases, int seed, const char *how) {
  for (const Case &one : cases) {
    std::vector<unsigned char> found(one.bytes);
    CLEAVE_TRY(device.read(one.recv.get(), found.data(), one.bytes));
    if (found != pattern(one.bytes, seed))
      return Status::defect(how, ": ", name(one.call.kind), " of ",
                            cleave::name(one.call.pairs[0].dtype),
                            " gives other bytes than were sent");
  }
  return Status::ok();
}

Status check() {
  CLEAVE_TRY_ASSIGN(const nccl::Table *table, nccl::loadNccl());
  auto worlds = makeLocalWorlds(1);
  CLEAVE_TRY_ASSIGN(std::unique_ptr<device::Device> device, device::makeCudaDevice(0));
  std::unique_ptr<DeviceWorld> world = makeNcclWorld(*table, *worlds[0], *device, {});
  CLEAVE_TRY_ASSIGN(std::vector<Case> cases, casesOn(*device));
  {
    CLEAVE_TRY_ASSIGN(std::unique_ptr<DeviceGroup> group, world->connect({0}));
    std::vector<std::unique_ptr<device::Action>> actions;
    for (const Case &one : cases) {
      CLEAVE_TRY_ASSIGN(auto action, group->prepare(one.call, kCommunicationQueue));
      actions.push_back(std::move(action));
    }
    CLEAVE_TRY_ASSIGN(device::Event begin, device->createEvent(false));
    CLEAVE_TRY_ASSIGN(device::Event end, device->createEvent(false));
    device->prepareFor(kComputeQueue);
    CLEAVE_TRY_ASSIGN(auto fork, device->record(begin));
    CLEAVE_TRY_ASSIGN(auto join, device->wait(end));
    device->prepareFor(kCommunicationQueue);
    CLEAVE_TRY_ASSIGN(auto start, device->wait(begin));
    CLEAVE_TRY_ASSIGN(auto stop, device->record(end));
    auto runAll = [&]() -> Status {
      for (device::Action *action : {fork.get(), start.get()})
        CLEAVE_TRY(action->run());
      for (auto &action : actions)
        CLEAVE_TRY(action->run());
      CLEAVE_TRY(stop->run());
      return join->run();
    };
    auto synchronize = [&] { return device->synchronize(); };
    CLEAVE_TRY(write(*device, cases, 1));
    CLEAVE_TRY(runAll());
    CLEAVE_TRY(world->await(synchronize));
    CLEAVE_TRY(compare(*device, cases, 1, "enqueued"));
    CLEAVE_TRY(device->beginRecording());
    Status recorded = runAll();
    CLEAVE_TRY_ASSIGN(auto step, device->endRecording());
    CLEAVE_TRY(recorded);
    for (int seed = 2; seed < 2 + kReplays; ++seed) {
      CLEAVE_TRY(write(*device, cases, seed));
      CLEAVE_TRY(step->run());
      CLEAVE_TRY(world->await(synchronize));
      CLEAVE_TRY(compare(*device, cases, seed, "recorded"));
    }
  }
  std::printf("%s: %zu calls, enqueued and recorded, give what was sent\n",
              world->implementation().c_str(), cases.size());
  return Status::ok();
}

} // namespace

int main() {
  Status status = check();
  if (!status)
    std::fprintf(stderr, "check-nccl: %s\n", status.message().c_str());
  return status.exitCode();
}
