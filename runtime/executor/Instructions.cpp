// See Instructions.h.
#include "runtime/executor/Instructions.h"

#include "runtime/artifact/Access.h"
#include "runtime/artifact/Mesh.h"

#include <algorithm>
#include <cstring>

namespace cleave::executor {
namespace {

using device::Action;
using device::PreparedAction;

const plan::Buffer &bufferAt(const Surroundings &around, uint32_t buffer) {
  return around.program.buffers(int(buffer));
}

DType dtypeOf(const plan::Buffer &buffer) { return static_cast<DType>(buffer.dtype()); }

// Runs a call and waits for it.
class CollectiveAction : public Action {
public:
  CollectiveAction(comm::Communicator &group, comm::Call call)
      : group_(group), call_(std::move(call)) {}
  Status run() override { return group_.run(call_); }

private:
  comm::Communicator &group_;
  comm::Call call_;
};

// Starts a call; its event's WaitAction waits for it.
class StartAction : public Action {
public:
  StartAction(comm::Communicator &group, comm::Call call, uint32_t event,
              const Surroundings &around)
      : group_(group), call_(std::move(call)), ticket_(around.tickets[event]),
        startedBy_(around.startedBy[event]) {}
  Status run() override {
    ticket_ = group_.start(call_);
    startedBy_ = &group_;
    return Status::ok();
  }

private:
  comm::Communicator &group_;
  comm::Call call_;
  comm::Ticket &ticket_;
  comm::Communicator *&startedBy_;
};

class WaitAction : public Action {
public:
  WaitAction(uint32_t event, const Surroundings &around)
      : ticket_(around.tickets[event]), startedBy_(around.startedBy[event]) {}
  Status run() override { return startedBy_->wait(ticket_); }

private:
  const comm::Ticket &ticket_;
  comm::Communicator *const &startedBy_;
};

class LoadInputAction : public Action {
public:
  LoadInputAction(const Surroundings &around, size_t input, artifact::Block block, void *to)
      : around_(around), input_(input), block_(std::move(block)), to_(to) {}
  Status run() override {
    return around_.data->fill(input_, around_.context.step, around_.context.slot, block_.begin,
                              block_.shape, to_);
  }

private:
  const Surroundings around_;
  size_t input_;
  artifact::Block block_;
  void *to_;
};

class StoreOutputAction : public Action {
public:
  StoreOutputAction(const Surroundings &around, int tensor, const void *from, uint64_t bytes)
      : context_(around.context), tensor_(tensor), from_(static_cast<const char *>(from)),
        bytes_(bytes) {}
  Status run() override {
    context_.outputs.push_back({tensor_, context_.slot, std::vector<char>(from_, from_ + bytes_)});
    return Status::ok();
  }

private:
  StepContext &context_;
  int tensor_;
  const char *from_;
  uint64_t bytes_;
};

template <typename T> class MetricAction : public Action {
public:
  MetricAction(const Surroundings &around, size_t report, const void *from)
      : context_(around.context), report_(report), from_(static_cast<const T *>(from)) {}
  Status run() override {
    context_.reports[report_].sum += double(*from_);
    ++context_.reports[report_].count;
    return Status::ok();
  }

private:
  StepContext &context_;
  size_t report_;
  const T *from_;
};

class NoAction : public Action {
  Status run() override { return Status::ok(); }
};

// The elements that Communicator.h counts for a pair.
int64_t countOf(const Surroundings &around, const plan::Collective &collective, int i) {
  uint32_t buffer = collective.kind() == plan::Collective::REDUCE_SCATTER ||
                            collective.kind() == plan::Collective::RECV
                        ? collective.recv(i)
                        : collective.send(i);
  return artifact::elementCount(bufferAt(around, buffer).shape());
}

comm::Call callOf(const Surroundings &around, const plan::Collective &collective, int ranks) {
  comm::Call call;
  call.kind = static_cast<comm::Kind>(collective.kind());
  call.reduce = static_cast<comm::Reduce>(collective.reduce());
  call.root = int(collective.root()), call.peer = int(collective.peer());
  call.tag = int(collective.tag());
  for (int i = 0; i < std::max(collective.send_size(), collective.recv_size()); ++i) {
    comm::BufferPair pair;
    if (i < collective.send_size()) {
      pair.send = addressOf(around, collective.send(i));
      pair.dtype = dtypeOf(bufferAt(around, collective.send(i)));
    }
    if (i < collective.recv_size()) {
      pair.recv = addressOf(around, collective.recv(i));
      pair.dtype = dtypeOf(bufferAt(around, collective.recv(i)));
    }
    pair.count = countOf(around, collective, i);
    if (call.kind == comm::Kind::AllToAll)
      pair.count /= ranks;
    call.pairs.push_back(pair);
  }
  return call;
}

PreparedAction prepareCollective(const Surroundings &around, const plan::Collective &collective) {
  std::vector<int> axes(collective.axes().begin(), collective.axes().end());
  comm::Communicator &group = *around.groups.at(axes);
  comm::Call call = callOf(around, collective, group.size());
  if (collective.event())
    return PreparedAction(
        std::make_unique<StartAction>(group, std::move(call), collective.event(), around));
  return PreparedAction(std::make_unique<CollectiveAction>(group, std::move(call)));
}

PreparedAction prepareMatmul(const Surroundings &around, const plan::Matmul &matmul) {
  device::MatmulOperands operands{
      dtypeOf(bufferAt(around, matmul.out().buffer())), addressOf(around, matmul.lhs().buffer()),
      addressOf(around, matmul.rhs().buffer()), addressOf(around, matmul.out().buffer()),
      matmul.bias_plus_one() ? addressOf(around, matmul.bias_plus_one() - 1) : nullptr};
  return around.device.matmul(matmul, operands);
}

PreparedAction prepareLaunch(const Surroundings &around, const plan::Launch &launch) {
  std::vector<void *> buffers;
  for (uint32_t buffer : launch.buffers())
    buffers.push_back(addressOf(around, buffer));
  return around.device.launch(around.program.kernels(int(launch.kernel())), std::move(buffers));
}

PreparedAction prepareLoadInput(const Surroundings &around, uint32_t index) {
  const plan::Buffer &buffer = bufferAt(around, index);
  const plan::Tensor &tensor = around.plan.tensors(buffer.tensor());
  if (!around.data)
    return Status::userError("the plan has an input '" + tensor.name() +
                             "' and no data are given; --data names them");
  size_t input = 0; // among the inputs, as inputsOf() lists them
  for (int i = 0; i < buffer.tensor(); ++i)
    input += around.plan.tensors(i).role() == plan::INPUT;
  return PreparedAction(std::make_unique<LoadInputAction>(
      around, input, artifact::blockOf(around.plan, tensor, around.rank),
      addressOf(around, index)));
}

PreparedAction prepareStoreOutput(const Surroundings &around, uint32_t index) {
  if (!around.keepOutputs)
    return PreparedAction(std::make_unique<NoAction>());
  const plan::Buffer &buffer = bufferAt(around, index);
  uint64_t bytes = uint64_t(artifact::elementCount(buffer.shape()) * byteSize(dtypeOf(buffer)));
  return PreparedAction(std::make_unique<StoreOutputAction>(around, buffer.tensor(),
                                                            addressOf(around, index), bytes));
}

PreparedAction prepareMetric(const Surroundings &around, const plan::Metric &metric) {
  std::vector<StepContext::Report> &reports = around.context.reports;
  auto at = std::find_if(reports.begin(), reports.end(),
                         [&](const auto &report) { return report.name == metric.name(); });
  size_t report = size_t(at - reports.begin());
  if (at == reports.end())
    reports.push_back({metric.name(), 0, 0});
  const void *from = addressOf(around, metric.buffer());
  if (dtypeOf(bufferAt(around, metric.buffer())) == DType::F64)
    return PreparedAction(std::make_unique<MetricAction<double>>(around, report, from));
  return PreparedAction(std::make_unique<MetricAction<float>>(around, report, from));
}

} // namespace

void *addressOf(const Surroundings &around, uint32_t buffer) {
  return around.arenas.address(bufferAt(around, buffer));
}

PreparedAction prepare(const Surroundings &around, const plan::Instruction &instruction) {
  switch (instruction.kind_case()) {
  case plan::Instruction::kLaunch:
    return prepareLaunch(around, instruction.launch());
  case plan::Instruction::kMatmul:
    return prepareMatmul(around, instruction.matmul());
  case plan::Instruction::kConvolution: {
    const plan::Convolution &c = instruction.convolution();
    return around.device.convolution(
        c, {dtypeOf(bufferAt(around, c.input())), addressOf(around, c.input()),
            addressOf(around, c.weight()), addressOf(around, c.output())});
  }
  case plan::Instruction::kCollective:
    return prepareCollective(around, instruction.collective());
  case plan::Instruction::kWait:
    return PreparedAction(std::make_unique<WaitAction>(instruction.wait().event(), around));
  case plan::Instruction::kCopy:
    return around.device.copy(addressOf(around, instruction.copy().from()),
                              addressOf(around, instruction.copy().to()),
                              bufferAt(around, instruction.copy().from()).bytes());
  case plan::Instruction::kFill: {
    const plan::Buffer &buffer = bufferAt(around, instruction.fill().buffer());
    return around.device.fill(addressOf(around, instruction.fill().buffer()), dtypeOf(buffer),
                              artifact::elementCount(buffer.shape()), instruction.fill().value());
  }
  case plan::Instruction::kLoadInput:
    return prepareLoadInput(around, instruction.load_input().buffer());
  case plan::Instruction::kStoreOutput:
    return prepareStoreOutput(around, instruction.store_output().buffer());
  case plan::Instruction::kMetric:
    return prepareMetric(around, instruction.metric());
  case plan::Instruction::KIND_NOT_SET:
    break;
  }
  return Status::defect("an instruction of no known kind");
}

} // namespace cleave::executor
