// See Executor.h.
#include "runtime/executor/Executor.h"

#include "runtime/artifact/Access.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/artifact/Programs.h"
#include "runtime/comm/devices/ConnectDevices.h"
#include "runtime/executor/Instructions.h"
#include "runtime/executor/MemoryCheck.h"
#include "runtime/executor/Staging.h"
#include "runtime/executor/StepActions.h"
#include "runtime/executor/StepBackup.h"
#include "runtime/executor/StepsInFlight.h"
#include "runtime/executor/TensorLoader.h"
#include "runtime/memory/Arenas.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace cleave::executor {
namespace {

std::vector<int64_t> shapeOf(const plan::Tensor &tensor) {
  return {tensor.shape().begin(), tensor.shape().end()};
}

class ProgramExecutor : public Executor {
public:
  ProgramExecutor(const plan::Plan &plan, comm::World &world,
                  std::unique_ptr<device::Device> device, const data::DataSource *data,
                  const ExecutorOptions &options)
      : plan_(plan), world_(world), data_(data), options_(options), rank_(uint32_t(world.rank())),
        program_(artifact::stepOf(plan, rank_)), loader_(plan, options.modelPath, options.seed),
        device_(std::move(device)), step_(program_), inFlight_(*device_) {}

  // Memory must not be freed while the device uses it.
  ~ProgramExecutor() override {
    while (inFlight_.size() > 0 && awaitStep())
      inFlight_.remove();
  }

  Status prepareAll() {
    CLEAVE_TRY(allocate());
    CLEAVE_TRY(fillPersistent());
    CLEAVE_TRY(connectGroups());
    CLEAVE_TRY(device_->loadKernels(plan_));
    CLEAVE_TRY(prepareActions());
    CLEAVE_TRY(inFlight_.prepare());
    return device_->finishPreparing();
  }

  bool runsAhead() const override {
    return !device_->isHost() && devices_->canRecord() && !profile_ && !check_ && !backup_ &&
           !options_.waits;
  }

  Status start(int64_t step) override {
    if (!inFlight_.canAdd(step) || (inFlight_.size() > 0 && !runsAhead()))
      return Status::defect("step ", step, " is started before step ", inFlight_.oldest(),
                            " is finished");
    inFlight_.begin();
    step_.state.step = step;
    if (backup_)
      CLEAVE_TRY(backup_->save());
    if (profile_)
      profile_->beginStep(step);
    if (step_.staging) {
      CLEAVE_TRY(step_.staging->fill(step));
      CLEAVE_TRY(step_.staging->uploadHyperparameters(step));
    } else {
      step_.state.clearReports();
    }
    CLEAVE_TRY(step_.actions->run());
    return inFlight_.add(step);
  }

  Status finish() override {
    if (inFlight_.size() == 0)
      return Status::defect("a step is finished that was not started");
    const int64_t step = inFlight_.oldest();
    if (step_.staging && inFlight_.size() == 1) // else the step before may read the blocks
      step_.staging->prefetch(step + 1);
    CLEAVE_TRY(awaitStep());
    inFlight_.remove();
    if (step_.staging)
      step_.staging->collect(step);
    if (profile_)
      CLEAVE_TRY(step_.actions->noteTimes());
    if (check_)
      CLEAVE_TRY(check_->endStep());
    step_.setMetrics();
    return Status::ok();
  }

  Status setHyperparameter(const std::string &name, double value) override {
    if (std::ranges::none_of(hyperparametersOf(plan_),
                             [&](const Hyperparameter &known) { return known.name == name; }))
      return Status::defect("the plan has no hyperparameter '", name, "'");
    for (const plan::Buffer &buffer : program_.buffers())
      if (buffer.role() == plan::HYPERPARAMETER && plan_.tensors(buffer.tensor()).name() == name)
        return step_.staging ? step_.staging->setHyperparameter(name, value)
                             : device_->write(arenas_.address(buffer), &value, sizeof value); // F64
    return Status::ok(); // other ranks read it
  }

  Status evaluate(int64_t batch) override {
    if (inFlight_.size() > 0)
      return Status::defect("an evaluation begins before step ", inFlight_.oldest(),
                            " is finished");
    evaluation_->state.step = batch;
    evaluation_->state.clearReports();
    if (evaluation_->staging)
      CLEAVE_TRY(evaluation_->staging->fill(batch));
    CLEAVE_TRY(evaluation_->actions->run());
    CLEAVE_TRY(devices_->await([this] { return device_->synchronize(); }));
    inFlight_.noteOtherWork();
    if (evaluation_->staging)
      evaluation_->staging->collect(batch);
    if (check_)
      CLEAVE_TRY(check_->forget());
    evaluation_->setMetrics();
    return Status::ok();
  }

  const std::vector<MetricValue> &evaluation() const override { return evaluation_->metrics; }

  Status undoStep() override { return backup_ ? backup_->restore() : Status::ok(); }

  std::optional<double> hostSeconds() const override { return inFlight_.hostSeconds(); }
  const std::vector<MetricValue> &metrics() const override { return step_.metrics; }
  const std::vector<StoredOutput> &storedOutputs() const override { return step_.state.outputs; }
  std::string communication() const override { return devices_->implementation(); }
  const ExecutionProfile *profile() const override { return profile_.get(); }

  MemoryNumbers memory() const override {
    uint64_t planned = 0;
    for (const plan::Arena &arena : artifact::arenasOf(plan_, rank_))
      planned += arena.bytes();
    return {.planned = planned, .allocated = arenas_.bytes(), .library = device_->libraryBytes()};
  }

  std::vector<memory::KnownRange> memoryRanges() const override {
    std::vector<memory::KnownRange> ranges;
    for (const memory::Arenas::Range &range : arenas_.ranges())
      if (device_->isInProcess(range.space))
        ranges.push_back({"arenas", range.begin, range.bytes});
    for (const Staging *staging :
         {step_.staging.get(), evaluation_ ? evaluation_->staging.get() : nullptr})
      if (staging)
        for (memory::KnownRange &range : staging->ranges())
          ranges.push_back(std::move(range));
    if (backup_)
      ranges.push_back({"copy of parameters and states", backup_->memory(), backup_->bytes()});
    return ranges;
  }

  std::vector<checkpoint::Slice> slices() const override {
    std::vector<checkpoint::Slice> slices;
    for (const plan::Buffer &buffer : program_.buffers()) {
      if (buffer.role() != plan::PARAMETER && buffer.role() != plan::STATE)
        continue;
      const plan::Tensor &tensor = plan_.tensors(buffer.tensor());
      artifact::RankBlock block = artifact::blockOf(plan_, tensor, rank_);
      slices.push_back(
          {.name = tensor.name(),
           .dtype = static_cast<DType>(tensor.dtype()),
           .globalShape = shapeOf(tensor),
           .offset = block.begin,
           .blockShape = block.shape,
           .data = arenas_.address(buffer),
           .read = readerOf(buffer),
           .owned = artifact::firstWithBlock(plan_, uint32_t(buffer.tensor()), rank_) == rank_});
    }
    return slices;
  }

private:
  // A program of this rank with what its runs need.
  struct Unit {
    explicit Unit(const plan::Program &program) : program(program) {}

    void setMetrics() {
      for (size_t i = 0; i < metrics.size(); ++i) {
        const StepState::Report &report = state.reports[i];
        metrics[i].value = report.count ? report.sum / double(report.count) : 0;
      }
    }

    const plan::Program &program;
    StepState state;
    std::unique_ptr<Staging> staging; // null if this process addresses the device's memory
    std::vector<MetricValue> metrics; // of the last run that is complete
    std::unique_ptr<StepActions> actions;
  };

  // Whether this process addresses the memory of the buffer.
  bool isInProcess(const plan::Buffer &buffer) const {
    return device_->isInProcess(program_.arenas(int(buffer.arena())).space());
  }

  Status allocate() {
    auto allocator = [this](plan::Space space) -> memory::Allocator {
      if (options_.checked && device_->isInProcess(space))
        return memory::allocateGuardedPages;
      return [this, space](uint64_t bytes) { return device_->allocate(space, bytes); };
    };
    CLEAVE_TRY_ASSIGN(arenas_,
                      memory::Arenas::allocate(artifact::arenasOf(plan_, rank_), allocator));
    if (options_.checked) {
      check_ = std::make_unique<MemoryCheck>(program_, arenas_, *device_);
      CLEAVE_TRY(check_->begin());
    }
    if (options_.canUndo) {
      CLEAVE_TRY_ASSIGN(backup_, StepBackup::create(program_, arenas_, *device_));
    }
    return Status::ok();
  }

  Status fillPersistent() {
    for (const plan::Buffer &buffer : program_.buffers())
      if (artifact::isPersistent(buffer) && buffer.bytes())
        CLEAVE_TRY(fill(buffer));
    return Status::ok();
  }

  // Writes the first value of a persistent buffer: in place, or by way of this process's memory.
  Status fill(const plan::Buffer &buffer) {
    if (isInProcess(buffer))
      return writeFirstValue(buffer, arenas_.address(buffer));
    CLEAVE_TRY_ASSIGN(std::shared_ptr<void> copy, memory::allocatePages(buffer.bytes()));
    CLEAVE_TRY(writeFirstValue(buffer, copy.get()));
    return device_->write(arenas_.address(buffer), copy.get(), buffer.bytes());
  }

  Status writeFirstValue(const plan::Buffer &buffer, void *to) {
    if (buffer.role() == plan::COORDINATES) {
      std::vector<uint32_t> coordinates = artifact::coordinatesOf(plan_, rank_);
      std::copy(coordinates.begin(), coordinates.end(), static_cast<int64_t *>(to));
      return Status::ok();
    }
    const plan::Tensor &tensor = plan_.tensors(buffer.tensor());
    if (buffer.role() == plan::HYPERPARAMETER)
      return loader_.load(tensor, rank_, to);
    bool isFresh = buffer.role() == plan::CONSTANT ||
                   (options_.restartOptimizer && artifact::isOptimizerState(tensor));
    if (options_.resume && !isFresh)
      return readFrom(*options_.resume, tensor, to);
    if (options_.weights && isGivenByWeights(tensor))
      return readFrom(*options_.weights, tensor, to);
    return loader_.load(tensor, rank_, to);
  }

  bool isGivenByWeights(const plan::Tensor &tensor) const {
    return (tensor.role() != plan::STATE || artifact::isModelState(tensor)) &&
           options_.weights->tensors().contains(tensor.name());
  }

  // Of a buffer outside this process's memory: copies its values into it. Else empty.
  std::function<Status(void *)> readerOf(const plan::Buffer &buffer) const {
    if (isInProcess(buffer))
      return {};
    return [this, &buffer](void *to) {
      return device_->read(arenas_.address(buffer), to, buffer.bytes());
    };
  }

  // Waits for the step that was started first.
  Status awaitStep() {
    return devices_->await([this] { return inFlight_.await(); });
  }

  Status readFrom(const checkpoint::TensorStore &store, const plan::Tensor &tensor, void *to) {
    artifact::RankBlock block = artifact::blockOf(plan_, tensor, rank_);
    return store.read(tensor.name(), static_cast<DType>(tensor.dtype()), shapeOf(tensor),
                      block.begin, block.shape, to);
  }

  // Adds the groups of the program's collectives on all of its ranks.
  void addGroups(const plan::Program &program, std::set<comm::GroupKey> &keys) const {
    using Facts =
        std::tuple<std::vector<uint32_t>, int, uint32_t, uint32_t>; // that groups depend on
    std::map<Facts, const plan::Instruction *> calls;
    for (const plan::Segment &segment : program.segments())
      for (const plan::Instruction &instruction : segment.instructions())
        if (instruction.has_collective()) {
          const plan::Collective &call = instruction.collective();
          calls[{{call.axes().begin(), call.axes().end()},
                 call.kind(),
                 call.peer(),
                 instruction.queue()}] = &instruction;
        }
    for (const auto &[facts, call] : calls)
      for (uint32_t rank : program.ranks())
        keys.insert(groupKeyOf(plan_, rank, call->collective(), call->queue()));
  }

  // Connects the groups of the collectives of all programs and ranks, in the same order on all
  // ranks.
  Status connectGroups() {
    std::set<comm::GroupKey> keys;
    for (const plan::Program &program : plan_.programs())
      addGroups(program, keys);
    CLEAVE_TRY_ASSIGN(devices_, comm::connectDevices(world_, *device_, options_.communication));
    CLEAVE_TRY_ASSIGN(groups_, comm::makeDeviceGroups(*devices_, world_.rank(),
                                                      artifact::meshOf(plan_).sizes(), keys));
    return Status::ok();
  }

  Status prepareActions() {
    if (options_.profiledSteps)
      profile_ = std::make_unique<ExecutionProfile>(plan_, program_, options_.profiledSteps);
    CLEAVE_TRY(prepare(step_, data_, check_.get(), profile_.get(), *position_));
    if (step_.staging)
      for (const plan::Buffer &buffer : program_.buffers())
        if (buffer.role() == plan::HYPERPARAMETER)
          CLEAVE_TRY(step_.staging->addHyperparameter(plan_.tensors(buffer.tensor()).name(),
                                                      arenas_.address(buffer)));
    if (!options_.evaluation)
      return Status::ok();
    const plan::Program *program = artifact::findProgram(plan_, plan::Program::EVALUATION, rank_);
    if (!program)
      return Status::defect("the plan has no evaluation for rank ", rank_);
    evaluation_ = std::make_unique<Unit>(*program);
    return prepare(*evaluation_, options_.evaluation, nullptr, nullptr, unreported_);
  }

  // `check` and `profile` may be null.
  Status prepare(Unit &unit, const data::DataSource *data, MemoryCheck *check,
                 ExecutionProfile *profile, std::atomic<uint64_t> &position) {
    if (!device_->isHost())
      unit.staging = std::make_unique<Staging>(unit.program, *device_, unit.state);
    unit.actions = std::make_unique<StepActions>(contextOf(unit, data), check, profile, position);
    CLEAVE_TRY(unit.actions->prepare());
    for (const StepState::Report &report : unit.state.reports)
      unit.metrics.push_back({report.name, 0});
    return Status::ok();
  }

  ExecutionContext contextOf(Unit &unit, const data::DataSource *data) {
    return {.plan = plan_,
            .program = unit.program,
            .rank = rank_,
            .arenas = arenas_,
            .device = *device_,
            .groups = groups_,
            .canRecordCalls = devices_->canRecord(),
            .data = data,
            .keepOutputs = options_.keepOutputs,
            .waits = options_.waits,
            .runsAhead = runsAhead(),
            .state = unit.state,
            .staging = unit.staging.get()};
  }

  const plan::Plan &plan_;
  comm::World &world_;
  const data::DataSource *data_;
  ExecutorOptions options_;
  uint32_t rank_;
  const plan::Program &program_; // the step
  TensorLoader loader_;
  std::unique_ptr<device::Device> device_; // outlives its memory
  memory::Arenas arenas_;
  std::unique_ptr<MemoryCheck> check_; // null unless options.checked
  std::unique_ptr<StepBackup> backup_; // null unless options.canUndo
  Unit step_;
  StepsInFlight inFlight_;
  std::atomic<uint64_t> ownPosition_{0}; // unless options.position
  std::atomic<uint64_t> unreported_{0};  // of evaluations
  std::atomic<uint64_t> *position_ = options_.position ? options_.position : &ownPosition_;
  std::unique_ptr<ExecutionProfile> profile_;
  std::unique_ptr<Unit> evaluation_; // null unless options.evaluation
  std::unique_ptr<comm::DeviceWorld> devices_;
  comm::DeviceGroups groups_; // destroyed first: its threads may still access the arenas
};

} // namespace

std::vector<Hyperparameter> hyperparametersOf(const plan::Plan &plan) {
  std::vector<Hyperparameter> found;
  for (const plan::Tensor &tensor : plan.tensors())
    if (tensor.role() == plan::HYPERPARAMETER)
      found.push_back({tensor.name(), tensor.source().fill()});
  return found;
}

std::vector<data::InputDescription> inputsOf(const plan::Plan &plan) {
  std::vector<data::InputDescription> inputs;
  for (const plan::Tensor &tensor : plan.tensors())
    if (tensor.role() == plan::INPUT && tensor.all_of().empty()) {
      inputs.push_back({.name = tensor.name(),
                        .dtype = static_cast<DType>(tensor.dtype()),
                        .shape = shapeOf(tensor),
                        .label = tensor.is_label()});
      if (tensor.vocabulary() > 0)
        inputs.back().vocabulary = tensor.vocabulary();
      inputs.back().lowest = tensor.lowest();
      if (tensor.has_ignored())
        inputs.back().ignored = tensor.ignored();
    }
  return inputs;
}

int64_t slotsOf(const plan::Plan &plan) {
  int64_t slots = 1;
  for (const plan::Program &program : plan.programs())
    for (const plan::ScheduleStep &step : program.schedule())
      slots = std::max<int64_t>(slots, int64_t(step.slot()) + 1);
  return slots;
}

Result<std::unique_ptr<Executor>> Executor::create(const plan::Plan &plan, comm::World &world,
                                                   std::unique_ptr<device::Device> device,
                                                   const data::DataSource *data,
                                                   const ExecutorOptions &options) {
  if (uint32_t(world.size()) != artifact::rankCount(plan))
    return Status::userError("the plan is for ", artifact::rankCount(plan), " ranks, the job has ",
                             world.size(), "; start as many ranks as the plan has");
  auto executor = std::make_unique<ProgramExecutor>(plan, world, std::move(device), data, options);
  CLEAVE_TRY(executor->prepareAll());
  return Result<std::unique_ptr<Executor>>(std::move(executor));
}

} // namespace cleave::executor
