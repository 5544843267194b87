// See NcclWorld.h.
#include "runtime/comm/nccl/NcclWorld.h"

#include "runtime/comm/nccl/NcclWatch.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

namespace cleave::comm {
namespace {

using namespace nccl;

// NCCL's type, if it has one.
std::optional<Type> typeOf(DType dtype) {
  switch (dtype) {
  case DType::F32:
    return Type::Float32;
  case DType::F64:
    return Type::Float64;
  case DType::F16:
    return Type::Float16;
  case DType::BF16:
    return Type::Bfloat16;
  case DType::I64:
    return Type::Int64;
  case DType::I32:
    return Type::Int32;
  case DType::I8:
    return Type::Int8;
  case DType::U64:
    return Type::Uint64;
  case DType::U32:
    return Type::Uint32;
  case DType::U8:
  case DType::Bool:
    return Type::Uint8;
  case DType::I16:
  case DType::U16:
    return std::nullopt;
  }
  return std::nullopt;
}

// Bools are bytes, whose maximum is their `or`.
Op opOf(Reduce reduce, DType dtype) {
  if (reduce == Reduce::Sum && dtype == DType::Bool)
    return Op::Max;
  return reduce == Reduce::Sum ? Op::Sum : reduce == Reduce::Max ? Op::Max : Op::Min;
}

// One tensor in NCCL's units; types that it does not have are transferred as bytes.
struct Tensor {
  const char *send;
  char *recv;
  size_t count;
  Type type;
  Op op;
  size_t chunkBytes;
};

Tensor tensorOf(const BufferPair &pair, Reduce reduce) {
  std::optional<Type> type = typeOf(pair.dtype);
  size_t bytes = size_t(pair.count) * byteSize(pair.dtype);
  return {static_cast<const char *>(pair.send),
          static_cast<char *>(pair.recv),
          type ? size_t(pair.count) : bytes,
          type.value_or(Type::Uint8),
          opOf(reduce, pair.dtype),
          bytes};
}

// Tells the watch how far the GPU is: each call is followed by a copy of another number to a word
// of host memory.
class Progress {
public:
  explicit Progress(device::Device &device) : device_(device) {}

  Status begin(NcclWatch &watch) {
    if (word_)
      return Status::ok();
    std::vector<uint32_t> numbers(kNumbers);
    std::iota(numbers.begin(), numbers.end(), 1);
    CLEAVE_TRY_ASSIGN(numbers_, device_.allocate(plan::DEVICE, kNumbers * sizeof(uint32_t)));
    CLEAVE_TRY(device_.write(numbers_.get(), numbers.data(), kNumbers * sizeof(uint32_t)));
    CLEAVE_TRY_ASSIGN(word_, device_.allocate(plan::HOST, sizeof(uint32_t)));
    *static_cast<uint32_t *>(word_.get()) = 0;
    watch.watchProgress(static_cast<const uint32_t *>(word_.get()));
    return Status::ok();
  }

  // The next number, in `queue`.
  device::PreparedAction prepare(uint32_t queue) {
    device_.prepareFor(queue);
    const auto *number = static_cast<const uint32_t *>(numbers_.get()) + next_++ % kNumbers;
    return device_.download(number, word_.get(), sizeof *number);
  }

private:
  static constexpr size_t kNumbers = 1024; // neighbouring calls have different ones
  device::Device &device_;
  std::shared_ptr<void> numbers_, word_;
  size_t next_ = 0;
};

class NcclGroup final : public DeviceGroup {
public:
  NcclGroup(const Table &table, NcclWatch &watch, std::unique_ptr<Communicator> host, Comm comm,
            device::Device &device, Progress &progress)
      : table_(table), watch_(watch), host_(std::move(host)), comm_(comm), device_(device),
        progress_(progress) {
    watch_.add(comm_);
  }
  ~NcclGroup() override { watch_.release(comm_); }

  device::PreparedAction prepare(const Call &call, uint32_t queue) override;

  // Enqueues a call: all tensors and messages as one group of NCCL's.
  Status enqueue(const Call &call, Stream stream) {
    CLEAVE_TRY(watch_.failure());
    Code code = table_.groupStart();
    for (const BufferPair &pair : call.pairs)
      if (code == Code::Success && pair.count > 0)
        code = enqueuePair(call, tensorOf(pair, call.reduce), stream);
    Code ended = table_.groupEnd();
    Status status = watch_.settle(comm_, code == Code::Success ? ended : code,
                                  concat(name(call.kind), " of ", host_->size(), " ranks"));
    if (!status)
      watch_.abort(status);
    return status;
  }

private:
  Code enqueuePair(const Call &call, const Tensor &t, Stream stream) const {
    switch (call.kind) {
    case CollectiveKind::AllReduce:
      return table_.allReduce(t.send, t.recv, t.count, t.type, t.op, comm_, stream);
    case CollectiveKind::AllGather:
      return table_.allGather(t.send, t.recv, t.count, t.type, comm_, stream);
    case CollectiveKind::ReduceScatter:
      return table_.reduceScatter(t.send, t.recv, t.count, t.type, t.op, comm_, stream);
    case CollectiveKind::Send:
      return table_.send(t.send, t.count, t.type, call.peer, comm_, stream);
    case CollectiveKind::Recv:
      return table_.recv(t.recv, t.count, t.type, call.peer, comm_, stream);
    case CollectiveKind::AllToAll:
      return exchange(t, stream);
    case CollectiveKind::Permute:
      return permute(call, t, stream);
    }
    return Code::InvalidArgument;
  }

  // Every member sends a chunk to every member, itself included.
  Code exchange(const Tensor &t, Stream stream) const {
    Code code = Code::Success;
    for (int member = 0; code == Code::Success && member < host_->size(); ++member) {
      size_t at = size_t(member) * t.chunkBytes;
      code = table_.send(t.send + at, t.count, t.type, member, comm_, stream);
      if (code == Code::Success)
        code = table_.recv(t.recv + at, t.count, t.type, member, comm_, stream);
    }
    return code;
  }

  Code permute(const Call &call, const Tensor &t, Stream stream) const {
    auto target = std::find(call.sources.begin(), call.sources.end(), host_->rank());
    Code code =
        table_.send(t.send, t.count, t.type, int(target - call.sources.begin()), comm_, stream);
    return code == Code::Success ? table_.recv(t.recv, t.count, t.type,
                                               call.sources[size_t(host_->rank())], comm_, stream)
                                 : code;
  }

  const Table &table_;
  NcclWatch &watch_;
  std::unique_ptr<Communicator> host_;
  Comm comm_;
  device::Device &device_;
  Progress &progress_;
};

class NcclAction final : public device::Action {
public:
  NcclAction(NcclGroup &group, Call call, Stream stream, std::unique_ptr<device::Action> report)
      : group_(group), call_(std::move(call)), stream_(stream), report_(std::move(report)) {}
  Status run() override {
    CLEAVE_TRY(group_.enqueue(call_, stream_));
    return report_->run();
  }

private:
  NcclGroup &group_;
  Call call_;
  Stream stream_;
  std::unique_ptr<device::Action> report_; // of progress
};

device::PreparedAction NcclGroup::prepare(const Call &call, uint32_t queue) {
  CLEAVE_TRY(checkCall(call, host_->size(), host_->rank()));
  for (const BufferPair &pair : call.pairs)
    if (reduces(call.kind) && !typeOf(pair.dtype))
      return Status::userError("NCCL has no reduction of ", cleave::name(pair.dtype),
                               "; CLEAVE_DEVICE_COMM=staged has");
  CLEAVE_TRY_ASSIGN(auto report, progress_.prepare(queue));
  return device::PreparedAction(
      std::make_unique<NcclAction>(*this, call, device_.handleOf(queue), std::move(report)));
}

class NcclWorld final : public DeviceWorld {
public:
  NcclWorld(const Table &table, World &world, device::Device &device, const Options &options)
      : table_(table), world_(world), device_(device), progress_(device),
        watch_(table, world, options.timeout) {}

  // The first member makes the identifier, the hosts distribute it, and all members connect.
  Result<std::unique_ptr<DeviceGroup>> connect(const std::vector<int> &members) override {
    CLEAVE_TRY(progress_.begin(watch_));
    CLEAVE_TRY_ASSIGN(auto host, world_.connect(members));
    UniqueId own{};
    Code code = host->rank() == 0 ? table_.getUniqueId(&own) : Code::Success;
    std::vector<UniqueId> ids(members.size());
    CLEAVE_TRY(host->allGather(&own, ids.data(), sizeof own, DType::U8));
    if (code != Code::Success)
      return Status::lost("NCCL gave no identifier: ", table_.getErrorString(code));
    Comm comm = nullptr;
    Config config;
    code = table_.commInitRankConfig(&comm, host->size(), ids[0], host->rank(), &config);
    Status status = watch_.settle(comm, code, concat("connecting ", members.size(), " GPUs"));
    if (!status) {
      if (comm)
        table_.commAbort(comm);
      return status;
    }
    return std::unique_ptr<DeviceGroup>(
        std::make_unique<NcclGroup>(table_, watch_, std::move(host), comm, device_, progress_));
  }

  bool canRecord() const override { return true; }
  Status await(const std::function<Status()> &wait) override { return watch_.await(wait); }
  std::string implementation() const override {
    int version = 0;
    table_.getVersion(&version);
    return concat("NCCL ", versionText(version));
  }

private:
  const Table &table_;
  World &world_;
  device::Device &device_;
  Progress progress_; // the watch reads its memory
  NcclWatch watch_;
};

} // namespace

std::unique_ptr<DeviceWorld> makeNcclWorld(const nccl::Table &table, World &world,
                                           device::Device &device, const Options &options) {
  return std::make_unique<NcclWorld>(table, world, device, options);
}

} // namespace cleave::comm
