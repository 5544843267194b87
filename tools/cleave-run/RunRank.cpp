// See RunRank.h.
#include "tools/cleave-run/RunRank.h"

#include "runtime/base/Units.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/data/DataSource.h"
#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/executor/Executor.h"
#include "runtime/executor/OutputCollector.h"
#include "runtime/executor/TensorLoader.h"
#include "runtime/memory/MemoryReport.h"
#include "tools/cleave-run/Gather.h"
#include "tools/cleave-run/Progress.h"
#include "tools/cleave-run/RunLog.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <thread>

namespace cleave::run {
namespace {

// Maximum time that ranks wait while one reads weights or writes a checkpoint; a dead rank is
// detected at once.
constexpr std::chrono::minutes kSlow{30};

// The run of one rank. Private methods are called in their order.
class RankRun {
public:
  RankRun(const plan::Plan &plan, const Options &options,
          const launch::RankEnvironment &environment, launch::StepReporter &reporter)
      : plan_(plan), options_(options), environment_(environment), reporter_(reporter) {}

  Status run() {
    CLEAVE_TRY(join());
    CLEAVE_TRY(checkModel());
    CLEAVE_TRY(openFiles());
    CLEAVE_TRY(load());
    if (Status status = runSteps(); !status)
      return environment_.launcher == "cleave-run" // its launcher adds the step
                 ? status
                 : status.withContext(concat("step ", step_));
    CLEAVE_TRY(save(first_ + count_));
    return finish();
  }

private:
  bool isFirst() const { return environment_.rank == 0; }

  Status join() {
    comm::Options communication;
    communication.timeout = std::chrono::seconds(options_.timeoutSeconds);
    CLEAVE_TRY_ASSIGN(world_, launch::joinWorld(environment_, communication));
    std::vector<int> ranks(static_cast<size_t>(environment_.size));
    std::iota(ranks.begin(), ranks.end(), 0);
    CLEAVE_TRY_ASSIGN(everyone_, world_->connect(ranks));
    return Status::ok();
  }

  // Compares the content hash of the model file, which only cleave-run's own launcher has done
  // before. This may take long, so it runs after all ranks have joined.
  Status checkModel() {
    bool isDone = environment_.launcher == "cleave-run" || !isFirst();
    return isDone ? Status::ok()
                  : executor::TensorLoader(plan_, options_.model).checkModel(/*compareHash=*/true);
  }

  Status openFiles() {
    if (!options_.resume.empty()) {
      CLEAVE_TRY_ASSIGN(checkpoint_, checkpoint::Checkpoint::open(options_.resume));
      first_ = checkpoint_->progress().step;
      CLEAVE_TRY(checkConstants());
    }
    std::vector<data::InputDescription> inputs = executor::inputsOf(plan_);
    if (!inputs.empty() && !options_.data.empty()) {
      data::DataOptions data{options_.data, {}, executor::slotsOf(plan_), plan_.trains()};
      if (options_.shuffles)
        data.shuffleSeed = options_.shuffleSeed.value_or(options_.seed);
      CLEAVE_TRY_ASSIGN(data_, data::DataSource::open(data, inputs));
    }
    if (!options_.save.empty())
      CLEAVE_TRY(
          checkpoint::checkSaveFolder(options_.save, checkpoint_ ? checkpoint_->path() : ""));
    if (!options_.log.empty() && isFirst())
      CLEAVE_TRY(log_.open(options_.log));
    int64_t end = options_.steps.value_or(first_ + stepsOfOnePass());
    count_ = std::max<int64_t>(0, end - first_);
    return Status::ok();
  }

  // Refuses a checkpoint that has trained a tensor which is a constant of this plan: the plan may
  // contain values derived from the constant.
  Status checkConstants() const {
    for (const plan::Tensor &tensor : plan_.tensors())
      if (tensor.role() == plan::CONSTANT && checkpoint_->tensors().contains(tensor.name()))
        return Status::userError(
            "'", checkpoint_->path(), "' has a trained '", tensor.name(),
            "', which is a constant in this plan; resume under a plan that trains the same "
            "parameters, or compile the model that cleave-export writes from the checkpoint");
    return Status::ok();
  }

  int64_t stepsOfOnePass() const {
    if (!data_ || data_->samplesPerMicroBatch() == 0)
      return 1;
    int64_t samples = data_->samplesPerMicroBatch() * executor::slotsOf(plan_);
    return (data_->samples() + samples - 1) / samples;
  }

  Status load() {
    executor::ExecutorOptions options;
    int cores = std::max(1, int(std::thread::hardware_concurrency()));
    int threads = options_.threads ? options_.threads : std::max(1, cores / environment_.localSize);
    options.modelPath = options_.model;
    options.seed = options_.seed;
    options.keepOutputs = !options_.out.empty();
    options.profiledSteps = options_.profile.empty() ? 0 : options_.profiledSteps;
    options.resume = checkpoint_.get();
    options.checked = options_.checked;
    CLEAVE_TRY_ASSIGN(executor_,
                      executor::Executor::create(plan_, *world_, device::makeCpuDevice(threads),
                                                 data_.get(), options));
    describe(threads);
    if (!options_.out.empty())
      outputs_ = std::make_unique<executor::OutputCollector>(plan_, *everyone_);
    // A rank that fails to load is reported with its own error instead of as unresponsive.
    return everyone_->barrier(kSlow);
  }

  // `4 ranks (dp 2, tp 2) over shm, 1 thread each; 33.1 MiB of arenas on rank 0`
  void describe(int threads) const {
    if (!isFirst() || options_.quiet)
      return;
    std::string mesh;
    for (const plan::MeshAxis &axis : plan_.mesh())
      mesh += concat(mesh.empty() ? "" : ", ", axis.name(), ' ', axis.size());
    std::string ranks =
        concat(environment_.size, " ranks (", mesh, ") over ", world_->implementation());
    if (environment_.size == 1)
      ranks = "1 rank";
    std::printf("%s, %d thread%s each; %s of arenas on rank 0\n", ranks.c_str(), threads,
                threads == 1 ? "" : "s", bytesText(executor_->memory().allocated).c_str());
    std::fflush(stdout);
  }

  Status runSteps() {
    Progress progress(first_, count_, options_.quiet || !isFirst());
    if (count_ == 0 && first_ > 0 && isFirst() && !options_.quiet)
      std::printf("nothing to do: '%s' is at step %lld already\n", options_.resume.c_str(),
                  static_cast<long long>(first_));
    for (int64_t step = first_; step < first_ + count_; ++step) {
      step_ = step;
      reporter_.step(step);
      auto begin = std::chrono::steady_clock::now();
      CLEAVE_TRY(executor_->step(step));
      std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      if (isFirst()) {
        CLEAVE_TRY(log_.step(step, executor_->metrics(), seconds.count()));
        progress.step(step, executor_->metrics());
        warnIfNotFinite(step, progress);
      }
      if (outputs_)
        CLEAVE_TRY(outputs_->add(executor_->storedOutputs()));
      if (options_.saveEvery && (step + 1 - first_) % options_.saveEvery == 0)
        CLEAVE_TRY(save(step + 1));
    }
    return Status::ok();
  }

  void warnIfNotFinite(int64_t step, Progress &progress) {
    for (const executor::MetricValue &metric : executor_->metrics())
      if (!std::isfinite(metric.value) && !warned_) {
        warned_ = true;
        progress.finish();
        std::fprintf(stderr, "cleave-run: warning: %s is %f in step %lld\n", metric.name.c_str(),
                     metric.value, static_cast<long long>(step));
      }
  }

  // Writes a checkpoint whose next step is `next`.
  Status save(int64_t next) {
    if (options_.save.empty() || saved_ == next)
      return Status::ok();
    if (checkpoint_ && next == first_ && checkpoint::isIn(*checkpoint_, options_.save))
      return Status::ok(); // already saved
    saved_ = next;
    checkpoint::SaveOptions where;
    where.directory = options_.save;
    where.rank = environment_.rank, where.size = environment_.size;
    where.barrier = [this] { return everyone_->barrier(kSlow); };
    checkpoint::Progress progress;
    progress.step = next;
    progress.extra["plan"] = plan_.content_hash();
    progress.extra["model"] = plan_.source().path();
    CLEAVE_TRY(checkpoint::save(where, executor_->slices(), progress));
    if (isFirst() && !options_.quiet && next == first_ + count_)
      std::printf("saved in '%s', next step %lld\n", options_.save.c_str(),
                  static_cast<long long>(next));
    return Status::ok();
  }

  Status finish() {
    if (outputs_ && isFirst()) {
      bool isOnePass = data_ && !options_.steps;
      CLEAVE_TRY(outputs_->write(options_.out, isOnePass ? data_->samples() : -1,
                                 isOnePass ? data_->samplesPerMicroBatch() : 0));
    }
    CLEAVE_TRY_ASSIGN(auto report, memory::memoryReport(executor_->memoryRanges()));
    CLEAVE_TRY_ASSIGN(auto lines, gatherStrings(*everyone_, rankLine(environment_.rank,
                                                                     executor_->memory(), report)));
    for (const std::string &line : lines)
      CLEAVE_TRY(log_.line(line));
    if (options_.memoryReport)
      CLEAVE_TRY(printFromAll("memory of rank ", report.str()));
    if (executor_->profile())
      CLEAVE_TRY(writeProfile());
    return Status::ok();
  }

  Status printFromAll(const char *title, const std::string &text) {
    CLEAVE_TRY_ASSIGN(auto texts, gatherStrings(*everyone_, text));
    for (size_t rank = 0; rank < texts.size(); ++rank)
      std::printf("%s%zu\n%s", title, rank, texts[rank].c_str());
    std::fflush(stdout);
    return Status::ok();
  }

  Status writeProfile() {
    CLEAVE_TRY_ASSIGN(auto events, gatherStrings(*everyone_, executor_->profile()->events()));
    if (!isFirst())
      return Status::ok();
    if (!options_.quiet)
      std::printf("time of rank 0 by kind of instruction\n%s",
                  executor_->profile()->summary().c_str());
    return executor::writeTrace(options_.profile, events);
  }

  const plan::Plan &plan_;
  const Options &options_;
  const launch::RankEnvironment &environment_;
  launch::StepReporter &reporter_;
  // Each depends on those before it; destroyed in reverse order.
  std::unique_ptr<comm::World> world_;
  std::unique_ptr<comm::Communicator> everyone_;
  std::unique_ptr<checkpoint::Checkpoint> checkpoint_;
  std::unique_ptr<data::DataSource> data_;
  std::unique_ptr<executor::Executor> executor_;
  std::unique_ptr<executor::OutputCollector> outputs_;
  RunLog log_;
  int64_t first_ = 0, count_ = 0; // steps of this run
  int64_t step_ = 0;              // current
  int64_t saved_ = -1;            // next step of the last checkpoint
  bool warned_ = false;
};

} // namespace

Status runRank(const plan::Plan &plan, const Options &options,
               const launch::RankEnvironment &environment, launch::StepReporter &reporter) {
  return RankRun(plan, options, environment, reporter).run();
}

} // namespace cleave::run
