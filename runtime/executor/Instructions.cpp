// See Instructions.h.
#include "runtime/executor/Instructions.h"

#include "runtime/artifact/Access.h"
#include "runtime/artifact/Enums.h"
#include "runtime/artifact/Mesh.h"

#include <algorithm>
#include <cstring>

namespace cleave::executor {
namespace {

using device::Action;
using device::PreparedAction;

const plan::Buffer &bufferAt(const ExecutionContext &context, uint32_t buffer) {
  return context.program.buffers(int(buffer));
}

const plan::Arena &arenaOf(const ExecutionContext &context, uint32_t buffer) {
  return context.program.arenas(int(bufferAt(context, buffer).arena()));
}

DType dtypeOf(const plan::Buffer &buffer) { return static_cast<DType>(buffer.dtype()); }

// Runs a call to its completion.
class LoadInputAction : public Action {
public:
  LoadInputAction(const ExecutionContext &context, InputBlock block, void *to, uint64_t bytes)
      : state_(context.state), block_(std::move(block)), to_(to), bytes_(bytes) {}
  Status run() override {
    if (!block_.isOfWholeStep())
      return block_.fill(state_.step, state_.slot, to_);
    if (step_ != state_.step) {
      read_.resize(bytes_);
      CLEAVE_TRY(block_.fill(state_.step, state_.slot, read_.data()));
      step_ = state_.step;
    }
    std::memcpy(to_, read_.data(), bytes_);
    return Status::ok();
  }

private:
  const StepState &state_;
  InputBlock block_;
  void *to_;
  uint64_t bytes_;
  std::vector<char> read_; // the block of a whole step, for its next micro-batches
  int64_t step_ = -1;      // the step of `read_`
};

class StoreOutputAction : public Action {
public:
  StoreOutputAction(const ExecutionContext &context, int tensor, const void *from, uint64_t bytes)
      : state_(context.state), tensor_(tensor), from_(static_cast<const char *>(from)),
        bytes_(bytes) {}
  Status run() override {
    state_.outputs.push_back({tensor_, state_.slot, std::vector<char>(from_, from_ + bytes_)});
    return Status::ok();
  }

private:
  StepState &state_;
  int tensor_;
  const char *from_;
  uint64_t bytes_;
};

class MetricAction : public Action {
public:
  MetricAction(const ExecutionContext &context, size_t report, const plan::Buffer &buffer)
      : state_(context.state), report_(report), dtype_(dtypeOf(buffer)),
        from_(context.arenas.address(buffer)) {}
  Status run() override {
    state_.report(report_, dtype_, from_);
    return Status::ok();
  }

private:
  StepState &state_;
  size_t report_;
  DType dtype_;
  const void *from_;
};

// The elements of a pair as BufferPair::count has them: those of one chunk.
int64_t countOf(const ExecutionContext &context, const plan::Collective &collective, int i,
                int64_t ranks) {
  const bool isSent = i < collective.send_size();
  const CollectiveKind kind = artifact::kindOf(collective);
  const plan::Buffer &buffer = bufferAt(context, isSent ? collective.send(i) : collective.recv(i));
  return artifact::elementCount(buffer.shape()) /
         (isSent ? chunksSent(kind, ranks) : chunksReceived(kind, ranks));
}

comm::Call callOf(const ExecutionContext &context, const plan::Collective &collective, int ranks) {
  comm::Call call;
  call.kind = artifact::kindOf(collective);
  call.reduce = static_cast<comm::Reduce>(collective.reduce());
  call.peer = int(collective.peer());
  for (int i = 0; i < std::max(collective.send_size(), collective.recv_size()); ++i) {
    comm::BufferPair pair;
    if (i < collective.send_size()) {
      pair.send = addressOf(context, collective.send(i));
      pair.dtype = dtypeOf(bufferAt(context, collective.send(i)));
    }
    if (i < collective.recv_size()) {
      pair.recv = addressOf(context, collective.recv(i));
      pair.dtype = dtypeOf(bufferAt(context, collective.recv(i)));
    }
    pair.count = countOf(context, collective, i, ranks);
    call.pairs.push_back(pair);
  }
  return call;
}

// Of a permute: per member of this rank's group the index of the member that it receives from.
std::vector<int> sourcesOf(const ExecutionContext &context, const plan::Collective &collective) {
  std::vector<uint32_t> axes(collective.axes().begin(), collective.axes().end());
  std::vector<uint32_t> to(collective.to_axes().begin(), collective.to_axes().end());
  std::vector<uint32_t> members = artifact::groupOf(context.plan, context.rank, axes);
  std::vector<uint32_t> receivers = artifact::groupOf(context.plan, context.rank, to);
  if (collective.reversed())
    std::ranges::reverse(receivers);
  std::vector<int> sources;
  for (uint32_t member : members) // its position among the receivers is the index of its source
    sources.push_back(int(std::ranges::find(receivers, member) - receivers.begin()));
  return sources;
}

PreparedAction prepareCollective(const ExecutionContext &context,
                                 const plan::Collective &collective, uint32_t queue) {
  const std::vector<uint32_t> along(collective.axes().begin(), collective.axes().end());
  size_t ranks = artifact::groupOf(context.plan, context.rank, along).size();
  comm::Call call = callOf(context, collective, int(ranks));
  if (call.kind == CollectiveKind::Permute)
    call.sources = sourcesOf(context, collective);
  const comm::GroupKey key = groupKeyOf(context.plan, context.rank, collective, queue);
  return context.groups.at(key)->prepare(call, queue);
}

// `list` has at most one buffer.
template <typename List>
device::Workspace workspaceOf(const ExecutionContext &context, const List &list) {
  if (list.empty())
    return {};
  return {addressOf(context, list[0]), bufferAt(context, list[0]).bytes()};
}

PreparedAction prepareMatmul(const ExecutionContext &context, const plan::Matmul &matmul) {
  device::MatmulOperands operands{
      .dtype = dtypeOf(bufferAt(context, matmul.lhs().buffer())),
      .outDtype = dtypeOf(bufferAt(context, matmul.out().buffer())),
      .lhs = addressOf(context, matmul.lhs().buffer()),
      .rhs = addressOf(context, matmul.rhs().buffer()),
      .out = addressOf(context, matmul.out().buffer()),
      .bias = matmul.bias().empty() ? nullptr : addressOf(context, matmul.bias(0)),
      .workspace = workspaceOf(context, matmul.workspace())};
  return context.device.matmul(matmul, operands);
}

PreparedAction prepareAttention(const ExecutionContext &context, const plan::Attention &a) {
  auto address = [&](bool isPresent, const plan::StridedOperand &operand) -> void * {
    return isPresent ? addressOf(context, operand.buffer()) : nullptr;
  };
  device::AttentionOperands operands{
      .dtype = dtypeOf(bufferAt(context, a.query().buffer())),
      .biasDtype =
          dtypeOf(bufferAt(context, a.has_bias() ? a.bias().buffer() : a.query().buffer())),
      .query = address(true, a.query()),
      .key = address(true, a.key()),
      .value = address(true, a.value()),
      .result = address(true, a.result()),
      .lse = address(true, a.lse()),
      .bias = address(a.has_bias(), a.bias()),
      .mask = address(a.has_mask(), a.mask()),
      .grad = address(a.has_grad(), a.grad()),
      .queryGrad = address(a.has_grad(), a.query_grad()),
      .keyGrad = address(a.has_grad(), a.key_grad()),
      .valueGrad = address(a.has_grad(), a.value_grad()),
      .seed = a.seed_size() ? addressOf(context, a.seed(0)) : nullptr,
      .scratch = a.scratch_size() ? addressOf(context, a.scratch(0)) : nullptr,
      .workspace = workspaceOf(context, a.workspace())};
  for (uint32_t offset : a.offsets())
    operands.offsets.push_back(addressOf(context, offset));
  return context.device.attention(a, operands);
}

PreparedAction prepareGroupedMatmul(const ExecutionContext &context, const plan::GroupedMatmul &m) {
  auto dtypeAt = [&](uint32_t buffer) { return dtypeOf(bufferAt(context, buffer)); };
  auto scalar = [&](const auto &list) {
    return list.empty() ? nullptr : addressOf(context, list[0]);
  };
  const uint32_t result = m.weight_gradient() ? m.weight().buffer() : m.output().buffer();
  return context.device.groupedMatmul(m, {.dtype = dtypeAt(m.input().buffer()),
                                          .resultDtype = dtypeAt(result),
                                          .endsDtype = dtypeAt(m.ends()),
                                          .input = addressOf(context, m.input().buffer()),
                                          .weight = addressOf(context, m.weight().buffer()),
                                          .output = addressOf(context, m.output().buffer()),
                                          .ends = addressOf(context, m.ends()),
                                          .firstRow = scalar(m.first_row()),
                                          .firstGroup = scalar(m.first_group())});
}

PreparedAction prepareLaunch(const ExecutionContext &context, const plan::Launch &launch) {
  std::vector<void *> buffers;
  for (uint32_t buffer : launch.buffers())
    buffers.push_back(addressOf(context, buffer));
  return context.device.launch(context.program.kernels(int(launch.kernel())), std::move(buffers));
}

uint64_t bytesOf(const plan::Buffer &buffer) {
  return uint64_t(artifact::elementCount(buffer.shape()) * byteSize(dtypeOf(buffer)));
}

PreparedAction prepareLoadInput(const ExecutionContext &context, uint32_t segment, uint32_t index) {
  const plan::Buffer &buffer = bufferAt(context, index);
  const plan::Tensor &tensor = context.plan.tensors(buffer.tensor());
  if (!context.data)
    return Status::userError("the plan has an input '", tensor.name(),
                             "' and no data are given; --data names them");
  InputBlock block(context.plan, tensor, context.rank, *context.data);
  void *to = addressOf(context, index);
  if (context.staging)
    return context.staging->loadInput(segment, std::move(block), to, bytesOf(buffer));
  return PreparedAction(
      std::make_unique<LoadInputAction>(context, std::move(block), to, bytesOf(buffer)));
}

PreparedAction prepareStoreOutput(const ExecutionContext &context, uint32_t segment,
                                  uint32_t index) {
  if (!context.keepOutputs)
    return PreparedAction(std::make_unique<device::NoAction>());
  const plan::Buffer &buffer = bufferAt(context, index);
  if (context.staging)
    return context.staging->storeOutput(segment, buffer.tensor(), addressOf(context, index),
                                        bytesOf(buffer));
  return PreparedAction(std::make_unique<StoreOutputAction>(
      context, buffer.tensor(), addressOf(context, index), bytesOf(buffer)));
}

PreparedAction prepareMetric(const ExecutionContext &context, uint32_t segment,
                             const plan::Metric &metric) {
  std::vector<StepState::Report> &reports = context.state.reports;
  auto at = std::find_if(reports.begin(), reports.end(),
                         [&](const auto &report) { return report.name == metric.name(); });
  size_t report = size_t(at - reports.begin());
  if (at == reports.end())
    reports.push_back({metric.name(), 0, 0});
  const plan::Buffer &buffer = bufferAt(context, metric.buffer());
  if (context.staging)
    return context.staging->metric(segment, report, context.arenas.address(buffer),
                                   dtypeOf(buffer));
  return PreparedAction(std::make_unique<MetricAction>(context, report, buffer));
}

// A copy between spaces takes as long as the plan says of its link.
PreparedAction prepareCopy(const ExecutionContext &context, const plan::Copy &copy) {
  const void *from = addressOf(context, copy.from());
  void *to = addressOf(context, copy.to());
  const uint64_t bytes = bufferAt(context, copy.from()).bytes();
  const plan::Arena &source = arenaOf(context, copy.from()), &target = arenaOf(context, copy.to());
  if (source.space() == target.space())
    return context.device.copy(from, to, bytes);
  const bool isIn = target.space() == plan::DEVICE;
  const plan::Arena &other = isIn ? source : target;
  const double seconds = other.bytes_per_second() == 0
                             ? 0
                             : other.latency_seconds() + double(bytes) / other.bytes_per_second();
  return isIn ? context.device.upload(from, to, bytes, seconds)
              : context.device.download(from, to, bytes, seconds);
}

} // namespace

comm::GroupKey groupKeyOf(const plan::Plan &plan, uint32_t rank, const plan::Collective &collective,
                          uint32_t queue) {
  comm::GroupKey key{{collective.axes().begin(), collective.axes().end()}};
  const CollectiveKind kind = artifact::kindOf(collective);
  if (!isPointToPoint(kind) || queue == kComputeQueue)
    return key;
  const std::vector<uint32_t> along(collective.axes().begin(), collective.axes().end());
  const std::vector<uint32_t> group = artifact::groupOf(plan, rank, along);
  const auto own = static_cast<uint32_t>(std::ranges::find(group, rank) - group.begin());
  key.channel = kind == CollectiveKind::Send ? comm::messageChannel(own, collective.peer())
                                             : comm::messageChannel(collective.peer(), own);
  return key;
}

void *addressOf(const ExecutionContext &context, uint32_t buffer) {
  return context.arenas.address(bufferAt(context, buffer));
}

PreparedAction prepare(const ExecutionContext &context, uint32_t segment,
                       const plan::Instruction &instruction) {
  switch (instruction.kind_case()) {
  case plan::Instruction::kLaunch:
    return prepareLaunch(context, instruction.launch());
  case plan::Instruction::kMatmul:
    return prepareMatmul(context, instruction.matmul());
  case plan::Instruction::kConvolution: {
    const plan::Convolution &c = instruction.convolution();
    artifact::ConvolutionRoles roles = artifact::rolesOf(c);
    return context.device.convolution(c, {.dtype = dtypeOf(bufferAt(context, roles.reads[0])),
                                          .resultDtype = dtypeOf(bufferAt(context, roles.written)),
                                          .input = addressOf(context, c.input()),
                                          .weight = addressOf(context, c.weight()),
                                          .output = addressOf(context, c.output()),
                                          .workspace = workspaceOf(context, c.workspace())});
  }
  case plan::Instruction::kAttention:
    return prepareAttention(context, instruction.attention());
  case plan::Instruction::kGroupedMatmul:
    return prepareGroupedMatmul(context, instruction.grouped_matmul());
  case plan::Instruction::kCollective:
    return prepareCollective(context, instruction.collective(), instruction.queue());
  case plan::Instruction::kCopy:
    return prepareCopy(context, instruction.copy());
  case plan::Instruction::kFill: {
    const plan::Buffer &buffer = bufferAt(context, instruction.fill().buffer());
    return context.device.fill(addressOf(context, instruction.fill().buffer()), dtypeOf(buffer),
                               artifact::elementCount(buffer.shape()), instruction.fill().value());
  }
  case plan::Instruction::kLoadInput:
    return prepareLoadInput(context, segment, instruction.load_input().buffer());
  case plan::Instruction::kStoreOutput:
    return prepareStoreOutput(context, segment, instruction.store_output().buffer());
  case plan::Instruction::kMetric:
    return prepareMetric(context, segment, instruction.metric());
  case plan::Instruction::KIND_NOT_SET:
    break;
  }
  return Status::defect("an instruction of no known kind");
}

} // namespace cleave::executor
