// See RunRank.h.
#include "tools/cleave-run/RunRank.h"

#include "runtime/base/FileWriter.h"
#include "runtime/base/Units.h"
#include "runtime/checkpoint/Resume.h"
#include "runtime/executor/Executor.h"
#include "runtime/executor/OutputCollector.h"
#include "runtime/executor/TensorLoader.h"
#include "runtime/executor/Trace.h"
#include "runtime/memory/MemoryReport.h"
#include "tools/cleave-run/ChooseDevice.h"
#include "tools/cleave-run/Describe.h"
#include "tools/cleave-run/EndVote.h"
#include "tools/cleave-run/Gather.h"
#include "tools/cleave-run/NotFinite.h"
#include "tools/cleave-run/Restart.h"
#include "tools/cleave-run/RunInputs.h"
#include "tools/cleave-run/RunRecords.h"
#include "tools/cleave-run/Saver.h"
#include "tools/cleave-run/Session.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <utility>

namespace cleave::run {
namespace {

using Clock = std::chrono::steady_clock;

// Rank 0 prints its own profile and writes a trace of all ranks. Collective.
Status writeProfile(const plan::Plan &plan, const Options &options, const Session &session,
                    const executor::Executor &executor) {
  CLEAVE_TRY_ASSIGN(
      auto events,
      gatherStrings(session.everyone(),
                    executor::traceEvents(plan, session.environment().rank, *executor.profile())));
  if (!session.isFirst())
    return Status::ok();
  if (!options.quiet)
    std::printf("time of rank 0 by kind of instruction\n%s", executor.profile()->summary().c_str());
  return executor::writeTrace(options.profile, events);
}

// The run of one rank. Private methods are called in their order.
class RankRun {
public:
  RankRun(const plan::Plan &plan, const Options &options,
          const launch::RankEnvironment &environment, launch::StepReporter &reporter)
      : plan_(plan), options_(options), reporter_(reporter),
        session_(options, environment, reporter), records_(plan, options, session_, inputs_),
        saver_(options, {{"plan", plan.content_hash()},
                         {"model", plan.source().path()},
                         {checkpoint::kUntrainedKey, untrainedOf(plan)}}),
        notFinite_(options.onNan) {}

  // The failure is reported before this object is destroyed: threads that wait for other ranks may
  // delay that.
  Status run() {
    Status status = runAll();
    if (Status written = records_.writePage(status); status && !written)
      status = written;
    reporter_.fail(status);
    return session_.described(status);
  }

private:
  Status runAll() {
    CLEAVE_TRY(session_.join());
    CLEAVE_TRY(
        session_.agreeAfter("reading inputs", inputs_.intentAfter(openInputs(), plan_, options_)));
    CLEAVE_TRY(session_.agreeAfter("opening files", {openOutputs(), {}}));
    CLEAVE_TRY(load());
    const Status ran = runSteps();
    records_.endSteps();
    CLEAVE_TRY(ran);
    CLEAVE_TRY(save(end()));
    reportEnd();
    return finish();
  }

  bool isFirst() const { return session_.isFirst(); }
  // The step after the last one.
  int64_t end() const { return inputs_.first + inputs_.count; }

  // Compares the model file with the plan, which cleave-run's own launcher has done before.
  Status checkModel(bool compareHash) const {
    return session_.environment().launcher == "cleave-run"
               ? Status::ok()
               : executor::TensorLoader(plan_, options_.model).checkModel(compareHash);
  }

  Status openInputs() {
    const launch::RankEnvironment &environment = session_.environment();
    CLEAVE_TRY(checkRanks(plan_, environment.size, environment.launcher));
    CLEAVE_TRY(checkModel(/*compareHash=*/false));
    CLEAVE_TRY_ASSIGN(device_, chooseDevice(options_.device, plan_, environment, session_.threads(),
                                            options_.fileSpace));
    deviceName_ = device_->name();
    return inputs_.open(plan_, options_, session_);
  }

  // After all ranks have agreed: this may change files.
  Status openOutputs() {
    if (isFirst())
      CLEAVE_TRY(checkModel(/*compareHash=*/true));
    CLEAVE_TRY(saver_.open(session_.environment().rank, inputs_.checkpoint.get()));
    if (isFirst() && !options_.save.empty())
      CLEAVE_TRY(
          writeFile(options_.save + "/train.toml", plan_.compile_options() + options_.repetition));
    saver_.add(kOriginKey, concat(inputs_.origin));
    saver_.add(checkpoint::kOptimizerKey, inputs_.rates.optimizer());
    saver_.add(checkpoint::kScheduleKey, inputs_.rates.schedule());
    return records_.open();
  }

  Status load() {
    if (isFirst() && inputs_.count > 0)
      CLEAVE_TRY(inputs_.data.start(inputs_.first));
    executor::ExecutorOptions options;
    options.modelPath = options_.model;
    options.seed = options_.seed;
    options.keepOutputs = !options_.out.empty() || options_.generates;
    options.profiledSteps = options_.profile.empty() ? 0 : options_.profiledSteps;
    options.resume = inputs_.checkpoint.get();
    options.weights = inputs_.weights.tensors.get();
    options.restartOptimizer = options_.restartOptimizer;
    options.evaluation = inputs_.evaluator.data();
    options.canUndo = plan_.trains() && options_.onNan == OnNan::Skip;
    options.checked = options_.checked;
    options.waits = options_.waits;
    options.position = &reporter_.position();
    options.communication = session_.communication();
    CLEAVE_TRY_ASSIGN(executor_,
                      executor::Executor::create(plan_, session_.world(), std::move(device_),
                                                 inputs_.data.source(), options));
    describeRun(plan_, options_, session_, inputs_, *executor_);
    if (!options_.out.empty())
      outputs_ = std::make_unique<executor::OutputCollector>(plan_, session_.everyone());
    // A rank that fails to load is reported with its own error instead of as unresponsive.
    CLEAVE_TRY(session_.barrier().wait("loading"));
    return options_.verbose
               ? describeRanks(plan_, options_, session_, inputs_, deviceName_, *executor_)
               : Status::ok();
  }

  Status runSteps() {
    records_.begin();
    if (inputs_.count == 0 && inputs_.first > 0 && isFirst() && !options_.quiet)
      std::printf("nothing to do: '%s' is at step %lld already\n", options_.resume.c_str(),
                  static_cast<long long>(inputs_.first));
    std::optional<Begun> next; // the next step, if it was begun already
    for (int64_t step = inputs_.first; step < end(); ++step) {
      reporter_.step(step);
      const Begun begun = next ? *std::exchange(next, std::nullopt) : begin(step);
      session_.setJoint(begun.isJoint);
      CLEAVE_TRY(begun.status);
      if (!begun.hasData) {
        records_.warn(concat("the data command ended after step ", step, " of ", end()));
        inputs_.count = step - inputs_.first;
        break;
      }
      // A failure of the next step is reported after this one.
      if (mayBeginNext(step))
        next = begin(step + 1);
      CLEAVE_TRY(executor_->finish());
      const double seconds = secondsSince(begun.time);
      CLEAVE_TRY(notFinite_.examine(step, *executor_));
      CLEAVE_TRY(records_.step(step, seconds, *executor_, notFinite_.isSkipped()));
      records_.warn(notFinite_.warning());
      CLEAVE_TRY(notFinite_.verdict(saver_.lastGood()));
      if (outputs_)
        CLEAVE_TRY(outputs_->add(executor_->storedOutputs()));
      if (Generation *generation = inputs_.data.generation())
        CLEAVE_TRY(generation->take(executor_->storedOutputs(), session_.everyone()));
      if (inputs_.evaluator.isDue(step))
        CLEAVE_TRY(evaluate(step));
      if (isSavedAfter(step))
        CLEAVE_TRY(saveNow(step + 1));
      CLEAVE_TRY(voteOnEnd(next ? step + 1 : step, seconds));
    }
    // A run that a signal ends saves at once.
    const int64_t last = end() - 1;
    if (inputs_.evaluator.data() && evaluated_ != last && !endVote_.isDecided())
      CLEAVE_TRY(evaluate(last));
    records_.warn(notFinite_.summary(inputs_.count));
    return Status::ok();
  }

  // A step that was begun: its data and learning rates are set, and the executor has started it.
  struct Begun {
    Clock::time_point time;
    Status status = Status::ok();
    bool hasData = true;  // false: a data command ended before the step, which was not started
    bool isJoint = false; // all ranks have this failure, with one message
  };

  Begun begin(int64_t step) {
    Begun begun{.time = Clock::now()};
    Result<bool> hasData = inputs_.data.prepare(step, session_.everyone());
    begun.status = hasData.status();
    begun.isJoint = begun.status.kind() == StatusKind::UserError;
    begun.hasData = !hasData || *hasData;
    if (!hasData || !*hasData)
      return begun;
    begun.status = inputs_.rates.apply(step, *executor_);
    if (begun.status)
      begun.status = executor_->start(step);
    return begun;
  }

  // Whether the next step may begin before this one is finished: its data do not depend on the
  // results of this one (a data command may read the log), and nothing between the two steps needs
  // the parameters. Equal on all ranks.
  bool mayBeginNext(int64_t step) const {
    return executor_->runsAhead() && step + 1 < end() && !isSavedAfter(step) &&
           !inputs_.evaluator.isDue(step) && !options_.generates && options_.dataCommand.empty();
  }

  bool isSavedAfter(int64_t step) const {
    return options_.saveEvery && (step + 1 - inputs_.origin) % options_.saveEvery == 0;
  }

  // Seconds of the step that was finished just now: from its begin, or from the end of the step
  // before if that was later.
  double secondsSince(Clock::time_point begin) {
    const Clock::time_point last = std::exchange(finished_, Clock::now());
    return std::chrono::duration<double>(finished_ - std::max(begin, last)).count();
  }

  // Evaluates after a step; saves a checkpoint if it is the best one by --keep-best.
  Status evaluate(int64_t step) {
    const auto begin = Clock::now();
    CLEAVE_TRY_ASSIGN(Numbers numbers, inputs_.evaluator.run(*executor_));
    const std::chrono::duration<double> seconds = Clock::now() - begin;
    evaluated_ = step;
    CLEAVE_TRY(records_.evaluation(step, numbers, seconds.count()));
    const double value = numberOf(numbers, options_.keepBest);
    if (!saver_.isBest(value) || !notFinite_.isFinite())
      return Status::ok();
    CLEAVE_TRY(saveNow(step + 1));
    if (saver_.hasSaved(step + 1))
      if (Status noted = saver_.setBest(step + 1, value, session_.environment().rank); !noted)
        records_.warn(noted.message());
    return Status::ok();
  }

  // Lets a signal end the training after step `last`, the last one that was begun.
  Status voteOnEnd(int64_t last, double seconds) {
    if (!plan_.trains() || endVote_.isDecided())
      return Status::ok();
    CLEAVE_TRY_ASSIGN(int signal,
                      endVote_.after(session_.everyone(), reporter_.endingSignal(), seconds));
    if (signal == 0)
      return Status::ok();
    reporter_.askToEnd(signal);
    inputs_.count = last + 1 - inputs_.first;
    return Status::ok();
  }

  // Writes a checkpoint whose next step is `next`.
  Status save(int64_t next) {
    reporter_.place(launch::Place::Saving);
    if (std::string state = inputs_.data.stateAt(next); !state.empty())
      saver_.add(kDataKey, state);
    const auto begin = Clock::now();
    CLEAVE_TRY_ASSIGN(bool isSaved, saver_.save(next, notFinite_.isFinite(), executor_->slices(),
                                                session_.everyone(), session_.barrier()));
    const std::chrono::duration<double> seconds = Clock::now() - begin;
    if (isSaved && isFirst() && options_.verbose)
      std::printf("saved '%s' in %s\n", saver_.lastSaved().c_str(),
                  secondsText(seconds.count()).c_str());
    return Status::ok();
  }

  // The same between two steps, where a failure to write does not end the run.
  Status saveNow(int64_t next) {
    if (options_.verbose)
      records_.endLine(); // save() prints a line
    Status status = save(next);
    if (status.kind() != StatusKind::UserError || next == end())
      return status;
    const std::string attempt =
        options_.saveEvery ? concat("after ", options_.saveEvery, " more steps") : "at the end";
    records_.warn(concat("saved nothing: ", status.message(), "; the next attempt is ", attempt));
    return Status::ok();
  }

  void reportEnd() {
    if (isFirst() && inputs_.data.generation())
      std::printf("%s\n", inputs_.data.generation()->text().c_str());
    if (!isFirst() || options_.quiet)
      return;
    records_.end();
    if (saver_.hasSaved())
      std::printf("saved in '%s', next step %lld\n", options_.save.c_str(),
                  static_cast<long long>(end()));
  }

  Status finish() {
    reporter_.place(launch::Place::Finishing);
    if (outputs_ && isFirst()) {
      const data::DataSource *source = inputs_.data.source();
      bool areWhole = source && !options_.steps; // epochs
      CLEAVE_TRY(outputs_->write(options_.out,
                                 areWhole ? source->samples() * options_.epochs.value_or(1) : -1,
                                 areWhole ? source->samplesPerMicroBatch() : 0));
    }
    CLEAVE_TRY(session_.barrier().wait("writing the outputs"));
    CLEAVE_TRY_ASSIGN(auto report, memory::memoryReport(executor_->memoryRanges()));
    CLEAVE_TRY_ASSIGN(auto lines,
                      gatherStrings(session_.everyone(), rankLine(session_.environment().rank,
                                                                  executor_->memory(), report)));
    CLEAVE_TRY(records_.endLog(saver_.hasSaved() ? saver_.lastSaved() : "", lines));
    if (options_.memoryReport)
      CLEAVE_TRY(session_.printFromAll("memory of rank ", report.str()));
    return executor_->profile() ? writeProfile(plan_, options_, session_, *executor_)
                                : Status::ok();
  }

  const plan::Plan &plan_;
  const Options &options_;
  launch::StepReporter &reporter_;
  // Each depends on those before it; destroyed in reverse order.
  Session session_;
  RunInputs inputs_;
  RunRecords records_;
  std::unique_ptr<device::Device> device_; // until the executor has it
  std::string deviceName_;                 // of device_
  std::unique_ptr<executor::Executor> executor_;
  std::unique_ptr<executor::OutputCollector> outputs_;
  Saver saver_;
  NotFinite notFinite_;
  EndVote endVote_;
  int64_t evaluated_ = -2;       // the last step after which was evaluated; -1: before step 0
  Clock::time_point finished_{}; // when the last step was finished
};

} // namespace

Status runRank(const plan::Plan &plan, const Options &options,
               const launch::RankEnvironment &environment, launch::StepReporter &reporter) {
  return RankRun(plan, options, environment, reporter).run();
}

} // namespace cleave::run
