// See RunRank.h.
#include "tools/cleave-run/RunRank.h"

#include "runtime/base/Units.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/data/DataSource.h"
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

// How long one rank may read weights or write a checkpoint while others wait; a dead one is noticed at once.
constexpr std::chrono::minutes kSlow{30};

// One rank's run. The parts are called in their order.
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
      return environment_.launcher == "cleave-run" // which adds the step itself
                 ? status
                 : status.withContext("step " + std::to_string(step_));
    CLEAVE_TRY(save(first_ + count_));
    return finish();
  }

private:
  bool isFirst() const { return environment_.rank == 0; }

  Status join() {
    comm::Options communication;
    communication.timeout = std::chrono::seconds(options_.timeoutSeconds);
    auto world = launch::joinWorld(environment_, communication);
    CLEAVE_TRY(world.status());
    world_ = std::move(*world);
    std::vector<int> ranks(static_cast<size_t>(environment_.size));
    std::iota(ranks.begin(), ranks.end(), 0);
    auto everyone = world_->connect(ranks);
    CLEAVE_TRY(everyone.status());
    everyone_ = std::move(*everyone);
    return Status::ok();
  }

  // Under other launchers nobody has compared the model file's content yet. That may take long, so it is
  // done when all ranks are known to be there.
  Status checkModel() {
    bool isDone = environment_.launcher == "cleave-run" || !isFirst();
    return isDone ? Status::ok()
                  : executor::TensorLoader(plan_, options_.model).checkModel(/*compareHash=*/true);
  }

  Status openFiles() {
    if (!options_.resume.empty()) {
      auto checkpoint = checkpoint::Checkpoint::open(options_.resume);
      CLEAVE_TRY(checkpoint.status());
      checkpoint_ = std::move(*checkpoint);
      first_ = checkpoint_->progress().step;
      CLEAVE_TRY(checkConstants());
    }
    std::vector<data::InputDescription> inputs = executor::inputsOf(plan_);
    if (!inputs.empty() && !options_.data.empty()) {
      data::DataOptions data{options_.data, {}, executor::slotsOf(plan_), plan_.trains()};
      if (options_.shuffles)
        data.shuffleSeed = options_.shuffleSeed.value_or(options_.seed);
      auto source = data::DataSource::open(data, inputs);
      CLEAVE_TRY(source.status());
      data_ = std::move(*source);
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

  // What the plan does not train has the model's values, and perhaps consequences of them in the program: it
  // cannot go on with those of a checkpoint.
  Status checkConstants() const {
    for (const plan::Tensor &tensor : plan_.tensors())
      if (tensor.role() == plan::CONSTANT && checkpoint_->tensors().contains(tensor.name()))
        return Status::userError(
            "'" + checkpoint_->path() + "' has a trained '" + tensor.name() +
            "', which this plan takes from the model as it was; resume under a plan that trains "
            "the same, or compile what cleave-export writes of the checkpoint");
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
    options.threads =
        options_.threads ? options_.threads : std::max(1, cores / environment_.localSize);
    options.modelPath = options_.model;
    options.seed = options_.seed;
    options.keepOutputs = !options_.out.empty();
    options.profiledSteps = options_.profile.empty() ? 0 : options_.profiledSteps;
    options.resume = checkpoint_.get();
    options.checked = options_.checked;
    auto executor = executor::Executor::create(plan_, *world_, data_.get(), options);
    CLEAVE_TRY(executor.status());
    executor_ = std::move(*executor);
    describe(options.threads);
    if (!options_.out.empty())
      outputs_ = std::make_unique<executor::OutputCollector>(plan_, *everyone_);
    // So that a rank that could not load is reported as such, and not as one that does not answer.
    return everyone_->barrier(kSlow);
  }

  // `4 ranks (dp 2, tp 2) over shm, 1 thread each; 33.1 MiB of arenas on rank 0`
  void describe(int threads) const {
    if (!isFirst() || options_.quiet)
      return;
    std::string mesh;
    for (const plan::MeshAxis &axis : plan_.mesh())
      mesh += (mesh.empty() ? "" : ", ") + axis.name() + " " + std::to_string(axis.size());
    std::string ranks = std::to_string(environment_.size) + " ranks (" + mesh + ") over " +
                        world_->implementation();
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

  // Writes a checkpoint from which `next` is the next step.
  Status save(int64_t next) {
    if (options_.save.empty() || saved_ == next)
      return Status::ok();
    if (checkpoint_ && next == first_ && checkpoint::isIn(*checkpoint_, options_.save))
      return Status::ok(); // it is there already
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
    auto report = memory::memoryReport(executor_->memoryRanges());
    CLEAVE_TRY(report.status());
    auto lines = gatherTexts(*everyone_, rankLine(environment_.rank, executor_->memory(), *report));
    CLEAVE_TRY(lines.status());
    for (const std::string &line : *lines)
      CLEAVE_TRY(log_.line(line));
    if (options_.memoryReport)
      CLEAVE_TRY(printFromAll("memory of rank ", report->str()));
    if (executor_->profile())
      CLEAVE_TRY(writeProfile());
    return Status::ok();
  }

  Status printFromAll(const char *title, const std::string &text) {
    auto texts = gatherTexts(*everyone_, text);
    CLEAVE_TRY(texts.status());
    for (size_t rank = 0; rank < texts->size(); ++rank)
      std::printf("%s%zu\n%s", title, rank, (*texts)[rank].c_str());
    std::fflush(stdout);
    return Status::ok();
  }

  Status writeProfile() {
    auto events = gatherTexts(*everyone_, executor_->profile()->events());
    CLEAVE_TRY(events.status());
    if (!isFirst())
      return Status::ok();
    if (!options_.quiet)
      std::printf("time of rank 0 by kind of instruction\n%s",
                  executor_->profile()->summary().c_str());
    return executor::writeTrace(options_.profile, *events);
  }

  const plan::Plan &plan_;
  const Options &options_;
  const launch::RankEnvironment &environment_;
  launch::StepReporter &reporter_;
  // In the order in which they depend on each other; ended in the opposite one.
  std::unique_ptr<comm::World> world_;
  std::unique_ptr<comm::Communicator> everyone_;
  std::unique_ptr<checkpoint::Checkpoint> checkpoint_;
  std::unique_ptr<data::DataSource> data_;
  std::unique_ptr<executor::Executor> executor_;
  std::unique_ptr<executor::OutputCollector> outputs_;
  RunLog log_;
  int64_t first_ = 0, count_ = 0; // steps of this run
  int64_t step_ = 0;              // the one that runs
  int64_t saved_ = -1;            // the last one saved
  bool warned_ = false;
};

} // namespace

Status runRank(const plan::Plan &plan, const Options &options,
               const launch::RankEnvironment &environment, launch::StepReporter &reporter) {
  return RankRun(plan, options, environment, reporter).run();
}

} // namespace cleave::run
