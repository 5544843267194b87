// See TimedDevice.h.
#include "compiler/cluster/device/TimedDevice.h"

#include "compiler/cluster/device/MeasureKernels.h"
#include "runtime/base/Float16.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

namespace cleave::cluster {

namespace {
constexpr int kRounds = 3;             // of which the fastest counts
constexpr double kRoundSeconds = 0.02; // of work
constexpr int kMostRepeats = 200, kCollectives = 10;

// Writes normally distributed values. On constant values GPUs draw less power and multiply faster
// than in training.
void drawNormal(DType type, int64_t count, char *to) {
  constexpr int64_t kDrawn = 65537; // then they repeat
  const int64_t size = byteSize(type);
  std::minstd_rand random;
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < std::min(count, kDrawn); ++i) {
    const float value = normal(random);
    const uint16_t half = type == DType::BF16 ? toBF16(value) : toF16(value);
    std::memcpy(to + i * size, size == 4 ? static_cast<const void *>(&value) : &half, size_t(size));
  }
  for (int64_t i = kDrawn; i < count; i += kDrawn)
    std::memcpy(to + i * size, to, size_t(std::min(kDrawn, count - i) * size));
}
} // namespace

Status TimedDevice::begin() {
  std::vector<int> ranks(size_t(world_.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  CLEAVE_TRY_ASSIGN(everyone_, world_.connect(ranks));
  CLEAVE_TRY(device_.loadKernels(measureKernels()));
  CLEAVE_TRY_ASSIGN(begin_, device_.createEvent(/*isTimed=*/true));
  CLEAVE_TRY_ASSIGN(end_, device_.createEvent(/*isTimed=*/true));
  return Status::ok();
}

// The block with this index, at least `bytes` long. Its values are not set.
Result<void *> TimedDevice::memory(plan::Space space, int index, int64_t bytes) {
  Block &block = blocks_[{space, index}];
  if (block.bytes < bytes) {
    block.data.reset();
    CLEAVE_TRY_ASSIGN(block.data, device_.allocate(space, uint64_t(bytes)));
    block.bytes = bytes;
  }
  return block.data.get();
}

// Seconds of one execution, the fastest round of many: in one recording where the device can
// record, as in a training step, so that the time is not that of the host, which enqueues.
Result<double> TimedDevice::seconds(device::Action &action, uint32_t queue, int repeats) {
  std::unique_ptr<device::Action> recording;
  if (repeats > 1 && queue == kComputeQueue && device_.canRecord()) {
    CLEAVE_TRY(device_.beginRecording());
    for (int k = 0; k < repeats; ++k)
      CLEAVE_TRY(action.run());
    CLEAVE_TRY_ASSIGN(recording, device_.endRecording());
  }
  device_.prepareFor(queue);
  CLEAVE_TRY_ASSIGN(auto begin, device_.record(begin_));
  CLEAVE_TRY_ASSIGN(auto end, device_.record(end_));
  double least = 1e30;
  for (int round = 0; round < kRounds; ++round) {
    CLEAVE_TRY(begin->run());
    if (recording)
      CLEAVE_TRY(recording->run());
    for (int k = 0; k < repeats && !recording; ++k)
      CLEAVE_TRY(action.run());
    CLEAVE_TRY(end->run());
    CLEAVE_TRY(devices_.await([this] { return device_.synchronize(); }));
    CLEAVE_TRY_ASSIGN(double taken, device_.secondsBetween(begin_, end_));
    least = std::min(least, taken / repeats);
  }
  return least;
}

// The largest of all ranks' seconds.
Result<double> TimedDevice::agreed(double own) {
  double all = own;
  CLEAVE_TRY(everyone_->allReduce(&all, &all, 1, DType::F64, comm::Reduce::Max));
  return all;
}

// The time of an action that no other rank takes part in. It is prepared for the queue in which it
// is timed.
Result<double> TimedDevice::own(uint32_t queue, const Prepare &prepare) {
  device_.prepareFor(queue);
  CLEAVE_TRY_ASSIGN(std::unique_ptr<device::Action> action, prepare());
  CLEAVE_TRY(device_.finishPreparing());
  CLEAVE_TRY_ASSIGN(double first, seconds(*action, queue, 1));
  int repeats = int(std::clamp(kRoundSeconds / std::max(first, 1e-9), 1.0, double(kMostRepeats)));
  CLEAVE_TRY_ASSIGN(double least, seconds(*action, queue, repeats));
  return agreed(least);
}

Result<double> TimedDevice::launch(const plan::Kernel &kernel, std::vector<void *> buffers) {
  return own(kComputeQueue, [&] { return device_.launch(kernel, std::move(buffers)); });
}

Result<double> TimedDevice::emptyKernel() { return launch(cluster::emptyKernel(), {}); }

Result<double> TimedDevice::addition(int64_t bytes) {
  int64_t elements = std::max<int64_t>(bytes / 12 / 1024, 1) * 1024;
  std::vector<void *> buffers(3);
  for (int i = 0; i < 3; ++i) {
    CLEAVE_TRY_ASSIGN(buffers[size_t(i)], memory(plan::DEVICE, i, elements * 4));
  }
  CLEAVE_TRY_ASSIGN(double taken, launch(additionKernel(elements), std::move(buffers)));
  return taken * double(bytes) / double(elements * 12);
}

Result<double> TimedDevice::arithmetic(double flops) {
  int64_t elements = std::max<int64_t>(int64_t(flops / (2 * kFmasPerElement)) / 256, 1) * 256;
  CLEAVE_TRY_ASSIGN(void *data, memory(plan::DEVICE, 0, elements * 4));
  CLEAVE_TRY_ASSIGN(double taken, launch(arithmeticKernel(elements), {data}));
  return taken * flops / double(2 * kFmasPerElement * elements);
}

Result<double> TimedDevice::product(const std::string &elementType, int64_t size) {
  constexpr int64_t kWorkspace = 32 << 20;
  DType type = elementType == "bf16" ? DType::BF16 : elementType == "f16" ? DType::F16 : DType::F32;
  void *operands[3];
  const int64_t bytes = size * size * byteSize(type);
  for (int i = 0; i < 3; ++i) {
    CLEAVE_TRY_ASSIGN(operands[i], memory(plan::DEVICE, i, bytes));
  }
  CLEAVE_TRY_ASSIGN(void *values, memory(plan::HOST, 0, bytes));
  drawNormal(type, size * size, static_cast<char *>(values));
  device_.prepareFor(kTransferQueue);
  for (int i = 0; i < 2; ++i) {
    CLEAVE_TRY_ASSIGN(auto upload, device_.upload(values, operands[i], uint64_t(bytes)));
    CLEAVE_TRY(upload->run());
    CLEAVE_TRY(devices_.await([this] { return device_.synchronize(); }));
  }
  CLEAVE_TRY_ASSIGN(void *workspace, memory(plan::DEVICE, 3, kWorkspace));
  plan::Matmul matmul;
  matmul.set_tf32(elementType == "tf32");
  matmul.set_m(size), matmul.set_n(size), matmul.set_k(size);
  for (plan::StridedOperand *operand :
       {matmul.mutable_lhs(), matmul.mutable_rhs(), matmul.mutable_out()}) {
    operand->add_strides(size);
    operand->add_strides(1);
  }
  return own(kComputeQueue, [&] {
    return device_.matmul(matmul, {.dtype = type,
                                   .outDtype = type,
                                   .lhs = operands[0],
                                   .rhs = operands[1],
                                   .out = operands[2],
                                   .workspace = {workspace, kWorkspace}});
  });
}

Result<double> TimedDevice::upload(int64_t bytes) {
  CLEAVE_TRY_ASSIGN(void *from, memory(plan::HOST, 0, bytes));
  CLEAVE_TRY_ASSIGN(void *to, memory(plan::DEVICE, 0, bytes));
  return own(kTransferQueue, [&] { return device_.upload(from, to, uint64_t(bytes)); });
}

Result<double> TimedDevice::collective(CollectiveKind kind, int ranks, int64_t bytes) {
  double taken = 0; // of ranks outside the group
  if (world_.rank() < ranks) {
    std::unique_ptr<comm::DeviceGroup> &group = groups_[ranks];
    std::vector<int> members(size_t(ranks), 0);
    std::iota(members.begin(), members.end(), 0);
    if (!group) {
      CLEAVE_TRY_ASSIGN(group, devices_.connect(members));
    }
    CLEAVE_TRY_ASSIGN(void *send, memory(plan::DEVICE, 0, bytes));
    CLEAVE_TRY_ASSIGN(void *recv, memory(plan::DEVICE, 1, bytes));
    comm::Call call = measuredCall(kind, world_.rank(), ranks, bytes / 4, send, recv);
    if (!call.pairs.empty()) {
      CLEAVE_TRY_ASSIGN(auto action, group->prepare(call, kCommunicationQueue));
      CLEAVE_TRY_ASSIGN(taken, seconds(*action, kCommunicationQueue, kCollectives));
    }
  }
  return agreed(taken);
}

} // namespace cleave::cluster
