// See Staging.h.
#include "runtime/executor/Staging.h"

#include <utility>

namespace cleave::executor {

using device::Action;
using device::PreparedAction;

// The transfer of one instruction: in every run that of the step's set and of the schedule step.
class Staging::TransferAction : public Action {
public:
  using Transfers = std::array<std::vector<std::unique_ptr<Action>>, kSets>;
  TransferAction(const StepState &state, Transfers transfers)
      : state_(state), transfers_(std::move(transfers)) {}
  Status run() override { return transfers_[size_t(state_.step) % kSets][state_.scheduled]->run(); }

private:
  const StepState &state_;
  Transfers transfers_;
};

Result<Staging::Blocks> Staging::allocate(uint32_t segment, uint64_t bytes, bool isShared) const {
  Blocks blocks;
  for (std::vector<Block> &set : blocks) {
    std::shared_ptr<void> last;
    for (const plan::ScheduleStep &step : program_.schedule()) {
      set.push_back({nullptr, bytes});
      if (step.segment() != segment || !bytes)
        continue;
      if (!last || !isShared) {
        CLEAVE_TRY_ASSIGN(last, device_.allocate(plan::HOST, bytes));
      }
      set.back().memory = last;
    }
  }
  return blocks;
}

PreparedAction Staging::transfer(const Blocks &blocks, void *address, bool isUpload) {
  TransferAction::Transfers transfers;
  for (size_t set = 0; set < kSets; ++set)
    for (const Block &block : blocks[set]) {
      transfers[set].push_back(std::make_unique<device::NoAction>());
      if (!block.memory)
        continue;
      CLEAVE_TRY_ASSIGN(transfers[set].back(),
                        isUpload ? device_.upload(block.memory.get(), address, block.bytes)
                                 : device_.download(address, block.memory.get(), block.bytes));
    }
  return PreparedAction(std::make_unique<TransferAction>(state_, std::move(transfers)));
}

PreparedAction Staging::loadInput(uint32_t segment, InputBlock block, void *to, uint64_t bytes) {
  CLEAVE_TRY_ASSIGN(Blocks blocks, allocate(segment, bytes, block.isOfWholeStep()));
  inputs_.push_back({std::move(block), std::move(blocks)});
  return transfer(inputs_.back().blocks, to, /*isUpload=*/true);
}

PreparedAction Staging::storeOutput(uint32_t segment, int tensor, const void *from,
                                    uint64_t bytes) {
  CLEAVE_TRY_ASSIGN(Blocks blocks, allocate(segment, bytes));
  outputs_.push_back({segment, tensor, std::move(blocks)});
  return transfer(outputs_.back().blocks, const_cast<void *>(from), /*isUpload=*/false);
}

PreparedAction Staging::metric(uint32_t segment, size_t report, const void *from, DType dtype) {
  CLEAVE_TRY_ASSIGN(Blocks blocks, allocate(segment, uint64_t(byteSize(dtype))));
  metrics_.push_back({report, dtype, std::move(blocks)});
  return transfer(metrics_.back().blocks, const_cast<void *>(from), /*isUpload=*/false);
}

Status Staging::addHyperparameter(const std::string &name, void *to) {
  Hyperparameter added{.name = name, .memory = {}, .uploads = {}};
  device_.prepareFor(kComputeQueue);
  for (size_t set = 0; set < kSets; ++set) {
    CLEAVE_TRY_ASSIGN(added.memory[set], device_.allocate(plan::HOST, sizeof(double)));
    CLEAVE_TRY_ASSIGN(added.uploads[set],
                      device_.upload(added.memory[set].get(), to, sizeof(double)));
  }
  hyperparameters_.push_back(std::move(added));
  return Status::ok();
}

Status Staging::setHyperparameter(const std::string &name, double value) {
  for (Hyperparameter &one : hyperparameters_)
    if (one.name == name) {
      one.value = value, one.isSet = true;
      return Status::ok();
    }
  return Status::defect("the program has no hyperparameter '", name, "'");
}

Status Staging::uploadHyperparameters(int64_t step) {
  for (Hyperparameter &one : hyperparameters_)
    if (std::exchange(one.isSet, false)) {
      *static_cast<double *>(one.memory[setOf(step)].get()) = one.value;
      CLEAVE_TRY(one.uploads[setOf(step)]->run());
    }
  return Status::ok();
}

Status Staging::fill(int64_t step) {
  size_t set = setOf(step);
  if (filled_[set] == step)
    return Status::ok();
  filled_[set] = -1;
  for (const Input &input : inputs_) {
    const void *filled = nullptr; // memory that several runs share is filled once
    for (size_t scheduled = 0; scheduled < input.blocks[set].size(); ++scheduled) {
      const Block &block = input.blocks[set][scheduled];
      if (!block.memory || block.memory.get() == filled)
        continue;
      CLEAVE_TRY(
          input.block.fill(step, program_.schedule(int(scheduled)).slot(), block.memory.get()));
      filled = block.memory.get();
    }
  }
  filled_[set] = step;
  return Status::ok();
}

void Staging::prefetch(int64_t step) { (void)fill(step); }

void Staging::collect(int64_t step) {
  state_.clearReports();
  size_t set = setOf(step);
  for (const Metric &metric : metrics_)
    for (const Block &block : metric.blocks[set])
      if (block.memory)
        state_.report(metric.report, metric.dtype, block.memory.get());
  for (const Output &output : outputs_)
    for (size_t scheduled = 0; scheduled < output.blocks[set].size(); ++scheduled) {
      const Block &block = output.blocks[set][scheduled];
      const char *from = static_cast<const char *>(block.memory.get());
      if (program_.schedule(int(scheduled)).segment() == output.segment)
        state_.outputs.push_back({output.tensor, program_.schedule(int(scheduled)).slot(),
                                  std::vector<char>(from, from + block.bytes)});
    }
}

std::vector<memory::KnownRange> Staging::ranges() const {
  std::vector<memory::KnownRange> ranges;
  auto add = [&](const auto &users) {
    for (const auto &user : users)
      for (const std::vector<Block> &set : user.blocks)
        for (const Block &block : set)
          if (block.memory && (ranges.empty() || ranges.back().begin != block.memory.get()))
            ranges.push_back({"staging", block.memory.get(), block.bytes});
  };
  add(inputs_), add(outputs_), add(metrics_);
  for (const Hyperparameter &one : hyperparameters_)
    for (const std::shared_ptr<void> &memory : one.memory)
      ranges.push_back({"staging", memory.get(), sizeof(double)});
  return ranges;
}

} // namespace cleave::executor
