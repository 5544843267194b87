// See RunRank.h.
#include "tools/cleave-run/RunRank.h"

#include "runtime/base/FileWriter.h"
#include "runtime/base/Units.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/checkpoint/Resume.h"
#include "runtime/comm/PatientBarrier.h"
#include "runtime/executor/Executor.h"
#include "runtime/executor/OutputCollector.h"
#include "runtime/executor/TensorLoader.h"
#include "runtime/executor/Trace.h"
#include "runtime/memory/MemoryReport.h"
#include "tools/cleave-run/Agreement.h"
#include "tools/cleave-run/ChooseDevice.h"
#include "tools/cleave-run/Describe.h"
#include "tools/cleave-run/EndVote.h"
#include "tools/cleave-run/Evaluator.h"
#include "tools/cleave-run/Gather.h"
#include "tools/cleave-run/LearningRates.h"
#include "tools/cleave-run/NotFinite.h"
#include "tools/cleave-run/Progress.h"
#include "tools/cleave-run/Restart.h"
#include "tools/cleave-run/Resume.h"
#include "tools/cleave-run/RunData.h"
#include "tools/cleave-run/RunFacts.h"
#include "tools/cleave-run/RunLog.h"
#include "tools/cleave-run/RunReport.h"
#include "tools/cleave-run/RunSummary.h"
#include "tools/cleave-run/Saver.h"
#include "tools/cleave-run/Speed.h"
#include "tools/cleave-run/TensorBoard.h"
#include "tools/cleave-run/Weights.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>

namespace cleave::run {
namespace {

// The key of RankRun::origin_ in the Progress.extra of checkpoints.
constexpr const char *kOriginKey = "run_began";

// The run of one rank. Private methods are called in their order.
class RankRun {
public:
  RankRun(const plan::Plan &plan, const Options &options,
          const launch::RankEnvironment &environment, launch::StepReporter &reporter)
      : plan_(plan), options_(options), environment_(environment), reporter_(reporter),
        saver_(options, {{"plan", plan.content_hash()},
                         {"model", plan.source().path()},
                         {checkpoint::kUntrainedKey, untrainedOf(plan)}}),
        notFinite_(options.onNan) {}

  // The failure is reported before this object is destroyed: threads that wait for other ranks may
  // delay that.
  Status run() {
    Status status = runAll();
    if (Status written = report(status); status && !written)
      status = written;
    reporter_.fail(status);
    if (environment_.launcher == "cleave-run" || isJoint_) // its launcher adds rank and place
      return status;
    launch::RankReport report = reporter_.report(environment_.rank);
    return status.withContext(
        concat("rank ", report.rank, ", ", launch::placeText(report.place, report.step)));
  }

private:
  using Clock = std::chrono::steady_clock;

  Status runAll() {
    CLEAVE_TRY(join());
    CLEAVE_TRY(agreeAfter("reading inputs", intentAfter(openInputs())));
    CLEAVE_TRY(agreeAfter("opening files", {openOutputs(), {}}));
    CLEAVE_TRY(load());
    CLEAVE_TRY(runSteps());
    CLEAVE_TRY(save(first_ + count_));
    reportEnd();
    return finish();
  }

  bool isFirst() const { return environment_.rank == 0; }

  // Rank 0 writes the page of the run, however it ended.
  Status report(const Status &ended) const {
    if (options_.report.empty() || !isFirst())
      return Status::ok();
    return writeReport(options_.report, plan_,
                       {.planPath = options_.plan,
                        .options = options_.trainFile,
                        .lines = log_.lines(),
                        .samples = data_.samplesPerStep(),
                        .error = ended.message()});
  }

  Status join() {
    communication_.timeout = std::chrono::seconds(options_.timeoutSeconds);
    CLEAVE_TRY_ASSIGN(world_, launch::joinWorld(environment_, communication_));
    std::vector<int> ranks(static_cast<size_t>(environment_.size));
    std::iota(ranks.begin(), ranks.end(), 0);
    CLEAVE_TRY_ASSIGN(everyone_, world_->connect(ranks));
    barrier_ = std::make_unique<comm::PatientBarrier>(
        *world_, *everyone_, communication_.timeout,
        [this](uint64_t cpuTime) { reporter_.cpuTime(cpuTime); });
    reporter_.place(launch::Place::Loading);
    return Status::ok();
  }

  Intent intentAfter(const Status &opened) const {
    if (!opened)
      return {opened, {}};
    const checkpoint::TensorStore *values =
        checkpoint_ ? checkpoint_.get() : weights_.tensors.get();
    auto facts = factsOf(plan_, options_, first_, count_, values);
    if (!facts)
      return {facts.status(), {}};
    facts->push_back({"--lr-schedule", rates_.schedule()});
    addContents(*facts, "data", data_.source());
    addContents(*facts, "evaluation", evaluator_.data());
    return {Status::ok(), *facts};
  }

  // Continues if all ranks come here without a failure and intend the same; otherwise all end with
  // one message.
  Status agreeAfter(const std::string &doing, const Intent &own) {
    CLEAVE_TRY(barrier_->wait(doing));
    isJoint_ = true;
    CLEAVE_TRY(agreeOnRun(*everyone_, own));
    isJoint_ = false;
    return Status::ok();
  }

  // Compares the model file with the plan, which cleave-run's own launcher has done before.
  Status checkModel(bool compareHash) const {
    return environment_.launcher == "cleave-run"
               ? Status::ok()
               : executor::TensorLoader(plan_, options_.model).checkModel(compareHash);
  }

  Status openInputs() {
    CLEAVE_TRY(checkRanks(plan_, environment_.size, environment_.launcher));
    CLEAVE_TRY(checkModel(/*compareHash=*/false));
    CLEAVE_TRY_ASSIGN(
        device_, chooseDevice(options_.device, plan_, environment_, threads(), options_.fileSpace));
    deviceName_ = device_->name();
    if (!options_.resume.empty()) {
      CLEAVE_TRY_ASSIGN(checkpoint_, checkpoint::Checkpoint::open(options_.resume));
      first_ = checkpoint_->progress().step;
    }
    if (!options_.weights.empty()) {
      WeightRemarks remarks;
      CLEAVE_TRY_ASSIGN(weights_, weightsFor(plan_, options_, remarks).withContext("--weights"));
      if (!remarks.note.empty())
        note({remarks.note});
      warn(remarks.warning);
    }
    CLEAVE_TRY(data_.open(plan_, options_, checkpoint_.get(), first_, threads()));
    note(data_.notes());
    CLEAVE_TRY(evaluator_.open(plan_, options_, data_.source(), threads()).withContext("--eval"));
    note(evaluator_.notes());
    origin_ = originOfRun();
    const int64_t end = data_.endOf(options_, origin_);
    count_ = std::max<int64_t>(0, end - first_);
    CLEAVE_TRY_ASSIGN(rates_, LearningRates::read(plan_, options_));
    CLEAVE_TRY(rates_.setLength({.steps = end, .stepsPerEpoch = data_.stepsPerEpoch()}));
    if (checkpoint_) {
      CLEAVE_TRY_ASSIGN(auto notes,
                        checkResume(plan_, *checkpoint_, rates_, options_.restartOptimizer));
      note(notes);
    }
    return Status::ok();
  }

  // Prints notes on rank 0.
  void note(const std::vector<std::string> &notes) const {
    for (const std::string &note : notes)
      if (isFirst() && !options_.quiet)
        std::fprintf(stderr, "cleave-run: note: %s\n", note.c_str());
  }

  // After all ranks have agreed: this may change files.
  Status openOutputs() {
    if (isFirst())
      CLEAVE_TRY(checkModel(/*compareHash=*/true));
    CLEAVE_TRY(saver_.open(environment_.rank, checkpoint_.get()));
    if (isFirst() && !options_.save.empty())
      CLEAVE_TRY(
          writeFile(options_.save + "/train.toml", plan_.compile_options() + options_.trainFile));
    saver_.add(kOriginKey, concat(origin_));
    saver_.add(checkpoint::kOptimizerKey, rates_.optimizer());
    saver_.add(checkpoint::kScheduleKey, rates_.schedule());
    return openLog();
  }

  // After a restart, the log goes on.
  Status openLog() {
    if (!options_.report.empty())
      log_.keepLines();
    if (isFirst() && !options_.tensorBoard.empty())
      CLEAVE_TRY(tensorBoard_.open(options_.tensorBoard));
    if (options_.log.empty() || !isFirst())
      return Status::ok();
    bool goesOn = checkpoint_ || options_.restart > 0;
    CLEAVE_TRY(log_.open(options_.log, goesOn ? std::optional(first_) : std::nullopt));
    return options_.restart == 0
               ? Status::ok()
               : log_.restart(options_.restart, environment_.size, first_, options_.restartReason);
  }

  // The step at which the run began before it was restarted: that of this process, or the one in
  // the checkpoint that an attempt before has saved.
  int64_t originOfRun() const {
    if (options_.restart == 0 || !checkpoint_ || options_.save.empty() ||
        !checkpoint::isIn(*checkpoint_, options_.save))
      return first_;
    const auto &extra = checkpoint_->progress().extra;
    auto found = extra.find(kOriginKey);
    return found == extra.end() ? first_ : std::strtoll(found->second.c_str(), nullptr, 10);
  }

  Status load() {
    if (isFirst() && count_ > 0)
      CLEAVE_TRY(data_.start(first_));
    executor::ExecutorOptions options;
    options.modelPath = options_.model;
    options.seed = options_.seed;
    options.keepOutputs = !options_.out.empty() || options_.generates;
    options.profiledSteps = options_.profile.empty() ? 0 : options_.profiledSteps;
    options.resume = checkpoint_.get();
    options.weights = weights_.tensors.get();
    options.restartOptimizer = options_.restartOptimizer;
    options.evaluation = evaluator_.data();
    options.canUndo = plan_.trains() && options_.onNan == OnNan::Skip;
    options.checked = options_.checked;
    options.waits = options_.waits;
    options.position = &reporter_.position();
    options.communication = communication_;
    CLEAVE_TRY_ASSIGN(executor_, executor::Executor::create(plan_, *world_, std::move(device_),
                                                            data_.source(), options));
    describe();
    if (!options_.out.empty())
      outputs_ = std::make_unique<executor::OutputCollector>(plan_, *everyone_);
    // A rank that fails to load is reported with its own error instead of as unresponsive.
    CLEAVE_TRY(barrier_->wait("loading"));
    return options_.verbose ? describeAll() : Status::ok();
  }

  int threads() const {
    int cores = std::max(1, int(std::thread::hardware_concurrency()));
    return options_.threads ? options_.threads : std::max(1, cores / environment_.localSize);
  }

  // Prints on rank 0 what begins.
  void describe() const {
    if (isFirst() && !options_.quiet) {
      std::printf("%s\n", runLine(plan_, environment_.size, threads(), *executor_).c_str());
      if (std::string summary = data_.summary(); !summary.empty())
        std::printf("%s\n", summary.c_str());
      std::fflush(stdout);
    }
    for (const std::string &warning : data_.warnings())
      warn(warning);
    warn(crowdText(plan_, environment_.localSize));
  }

  // The same in full, once all ranks have loaded. Collective.
  Status describeAll() const {
    CLEAVE_TRY_ASSIGN(auto places,
                      gatherStrings(*everyone_, placeOfRank(plan_, environment_, deviceName_,
                                                            threads(), executor_->memory())));
    if (!isFirst())
      return Status::ok();
    std::string text = planLine(plan_, options_.plan) + "\n";
    for (size_t rank = 0; rank < places.size(); ++rank)
      text += concat("rank ", rank, ": ", places[rank], "\n");
    for (const std::string &line : communicatorLines(plan_, environment_.rank))
      text += line + "\n";
    text += memoryLine(plan_, environment_.rank) + "\n";
    const checkpoint::TensorStore *values =
        checkpoint_ ? checkpoint_.get() : weights_.tensors.get();
    CLEAVE_TRY_ASSIGN(auto files, fileLines(plan_, options_, values ? values->path() : ""));
    for (const std::string &line : files)
      text += line + "\n";
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    return Status::ok();
  }

  Status runSteps() {
    Progress progress(first_, count_, plan_, data_, options_, isFirst());
    summary_.emplace(first_, plan_, data_);
    if (count_ == 0 && first_ > 0 && isFirst() && !options_.quiet)
      std::printf("nothing to do: '%s' is at step %lld already\n", options_.resume.c_str(),
                  static_cast<long long>(first_));
    std::optional<Begun> next; // the next step, if it was begun already
    for (int64_t step = first_; step < first_ + count_; ++step) {
      reporter_.step(step);
      const Begun begun = next ? *std::exchange(next, std::nullopt) : begin(step);
      isJoint_ = begun.isJoint;
      CLEAVE_TRY(begun.status);
      if (!begun.hasData) {
        warn(concat("the data command ended after step ", step, " of ", first_ + count_), progress);
        count_ = step - first_;
        break;
      }
      // A failure of the next step is reported after this one.
      if (mayBeginNext(step))
        next = begin(step + 1);
      CLEAVE_TRY(executor_->finish());
      const double seconds = secondsSince(begun.time);
      CLEAVE_TRY(notFinite_.examine(step, *executor_));
      summary_->step(step, seconds, executor_->metrics());
      if (isFirst())
        CLEAVE_TRY(reportStep(step, seconds, progress));
      warn(notFinite_.warning(), progress);
      CLEAVE_TRY(notFinite_.verdict(saver_.lastGood()));
      if (outputs_)
        CLEAVE_TRY(outputs_->add(executor_->storedOutputs()));
      if (Generation *generation = data_.generation())
        CLEAVE_TRY(generation->take(executor_->storedOutputs(), *everyone_));
      if (evaluator_.isDue(step))
        CLEAVE_TRY(evaluate(step, progress));
      if (isSavedAfter(step))
        CLEAVE_TRY(saveNow(step + 1, progress));
      CLEAVE_TRY(voteOnEnd(next ? step + 1 : step, seconds));
    }
    // A run that a signal ends saves at once.
    const int64_t last = first_ + count_ - 1;
    if (evaluator_.data() && evaluated_ != last && !isEnded_)
      CLEAVE_TRY(evaluate(last, progress));
    warn(notFinite_.summary(count_), progress);
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
    Result<bool> hasData = data_.prepare(step, *everyone_);
    begun.status = hasData.status();
    begun.isJoint = begun.status.kind() == StatusKind::UserError;
    begun.hasData = !hasData || *hasData;
    if (!hasData || !*hasData)
      return begun;
    begun.status = rates_.apply(step, *executor_);
    if (begun.status)
      begun.status = executor_->start(step);
    return begun;
  }

  // Whether the next step may begin before this one is finished: its data do not depend on the
  // results of this one (a data command may read the log), and nothing between the two steps needs
  // the parameters. Equal on all ranks.
  bool mayBeginNext(int64_t step) const {
    return executor_->runsAhead() && step + 1 < first_ + count_ && !isSavedAfter(step) &&
           !evaluator_.isDue(step) && !options_.generates && options_.dataCommand.empty();
  }

  bool isSavedAfter(int64_t step) const {
    return options_.saveEvery && (step + 1 - origin_) % options_.saveEvery == 0;
  }

  // Seconds of the step that was finished just now: from its begin, or from the end of the step
  // before if that was later.
  double secondsSince(Clock::time_point begin) {
    const Clock::time_point last = std::exchange(finished_, Clock::now());
    return std::chrono::duration<double>(finished_ - std::max(begin, last)).count();
  }

  // Evaluates after a step; saves a checkpoint if it is the best one by --keep-best.
  Status evaluate(int64_t step, Progress &progress) {
    const auto begin = Clock::now();
    CLEAVE_TRY_ASSIGN(Numbers numbers, evaluator_.run(*executor_));
    const std::chrono::duration<double> seconds = Clock::now() - begin;
    evaluated_ = step;
    if (isFirst()) {
      CLEAVE_TRY(log_.evaluation(step, numbers, seconds.count()));
      CLEAVE_TRY(tensorBoard_.step(step, numbers));
      progress.evaluation(step, numbers, seconds.count());
    }
    const double value = numberOf(numbers, options_.keepBest);
    if (!saver_.isBest(value) || !notFinite_.isFinite())
      return Status::ok();
    CLEAVE_TRY(saveNow(step + 1, progress));
    if (saver_.hasSaved(step + 1))
      if (Status noted = saver_.setBest(step + 1, value, environment_.rank); !noted)
        warn(noted.message(), progress);
    return Status::ok();
  }

  // Lets a signal end the training after step `last`, the last one that was begun.
  Status voteOnEnd(int64_t last, double seconds) {
    if (!plan_.trains() || isEnded_)
      return Status::ok();
    CLEAVE_TRY_ASSIGN(int signal, endVote_.after(*everyone_, reporter_.endingSignal(), seconds));
    if (signal == 0)
      return Status::ok();
    reporter_.askToEnd(signal);
    isEnded_ = true;
    count_ = last + 1 - first_;
    return Status::ok();
  }

  // The metrics of the step that was finished last, and its learning rates.
  std::vector<executor::MetricValue> metricsOf(int64_t step) const {
    std::vector<executor::MetricValue> all = executor_->metrics(), rates = rates_.at(step);
    all.insert(all.end(), rates.begin(), rates.end());
    return all;
  }

  // The epochs after a step, if they are known, and what its seconds mean.
  Numbers speedOf(int64_t step, double seconds) const {
    Numbers numbers = Speed(plan_, data_).numbers(seconds);
    if (data_.hasEpochs())
      numbers.emplace(numbers.begin(), "epoch", data_.epochsAt(step + 1));
    return numbers;
  }

  // The same, and the metrics.
  Numbers numbersOf(int64_t step, double seconds) const {
    Numbers numbers;
    for (const executor::MetricValue &metric : metricsOf(step))
      numbers.emplace_back(metric.name, metric.value);
    numbers.emplace_back("seconds", seconds);
    for (const auto &number : speedOf(step, seconds))
      numbers.push_back(number);
    return numbers;
  }

  // Reports a step on rank 0. Gathers numbers only for reports that exist, so that a quiet run
  // without a log allocates nothing here.
  Status reportStep(int64_t step, double seconds, Progress &progress) {
    if (log_.takesLines())
      CLEAVE_TRY(log_.step(step, metricsOf(step), seconds, executor_->hostSeconds(),
                           speedOf(step, seconds), notFinite_.isSkipped()));
    if (tensorBoard_.isOpen())
      CLEAVE_TRY(tensorBoard_.step(step, numbersOf(step, seconds)));
    if (rates_.hasSchedule() && !progress.isQuiet())
      progress.step(step, metricsOf(step));
    else
      progress.step(step, executor_->metrics());
    return Status::ok();
  }

  // Prints a warning on rank 0, unless it is empty.
  void warn(const std::string &text) const {
    if (isFirst() && !text.empty() && !options_.quiet)
      std::fprintf(stderr, "cleave-run: warning: %s\n", text.c_str());
  }

  // The same below the line of progress.
  void warn(const std::string &text, Progress &progress) const {
    if (!text.empty())
      progress.finish();
    warn(text);
  }

  // Writes a checkpoint whose next step is `next`.
  Status save(int64_t next) {
    reporter_.place(launch::Place::Saving);
    if (std::string state = data_.stateAt(next); !state.empty())
      saver_.add(kDataKey, state);
    const auto begin = Clock::now();
    CLEAVE_TRY_ASSIGN(bool isSaved, saver_.save(next, notFinite_.isFinite(), executor_->slices(),
                                                *everyone_, *barrier_));
    const std::chrono::duration<double> seconds = Clock::now() - begin;
    if (isSaved && isFirst() && options_.verbose)
      std::printf("saved '%s' in %s\n", saver_.lastSaved().c_str(),
                  secondsText(seconds.count()).c_str());
    return Status::ok();
  }

  // The same between two steps, where a failure to write does not end the run.
  Status saveNow(int64_t next, Progress &progress) {
    if (options_.verbose)
      progress.finish(); // save() prints a line
    Status status = save(next);
    if (status.kind() != StatusKind::UserError || next == first_ + count_)
      return status;
    const std::string attempt =
        options_.saveEvery ? concat("after ", options_.saveEvery, " more steps") : "at the end";
    warn(concat("saved nothing: ", status.message(), "; the next attempt is ", attempt), progress);
    return Status::ok();
  }

  void reportEnd() {
    if (isFirst() && data_.generation())
      std::printf("%s\n", data_.generation()->text().c_str());
    if (!isFirst() || options_.quiet)
      return;
    if (std::string text = summary_->text(); !text.empty() && !options_.generates)
      std::printf("%s\n", text.c_str());
    if (saver_.hasSaved())
      std::printf("saved in '%s', next step %lld\n", options_.save.c_str(),
                  static_cast<long long>(first_ + count_));
  }

  Status finish() {
    reporter_.place(launch::Place::Finishing);
    if (outputs_ && isFirst()) {
      bool areWhole = data_.source() && !options_.steps; // epochs
      CLEAVE_TRY(outputs_->write(
          options_.out, areWhole ? data_.source()->samples() * options_.epochs.value_or(1) : -1,
          areWhole ? data_.source()->samplesPerMicroBatch() : 0));
    }
    CLEAVE_TRY(barrier_->wait("writing the outputs"));
    CLEAVE_TRY_ASSIGN(auto report, memory::memoryReport(executor_->memoryRanges()));
    CLEAVE_TRY_ASSIGN(auto lines, gatherStrings(*everyone_, rankLine(environment_.rank,
                                                                     executor_->memory(), report)));
    if (std::string line = summary_->line(saver_.hasSaved() ? saver_.lastSaved() : "");
        !line.empty())
      CLEAVE_TRY(log_.line(line));
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
    CLEAVE_TRY_ASSIGN(auto events,
                      gatherStrings(*everyone_, executor::traceEvents(plan_, environment_.rank,
                                                                      *executor_->profile())));
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
  comm::Options communication_;
  std::unique_ptr<comm::World> world_;
  std::unique_ptr<comm::Communicator> everyone_;
  std::unique_ptr<comm::PatientBarrier> barrier_; // of everyone_, after slow parts of the run
  std::unique_ptr<checkpoint::Checkpoint> checkpoint_;
  checkpoint::Weights weights_; // empty without --weights
  RunData data_;
  std::unique_ptr<device::Device> device_; // until the executor has it
  std::string deviceName_;                 // of device_
  std::unique_ptr<executor::Executor> executor_;
  std::unique_ptr<executor::OutputCollector> outputs_;
  Saver saver_;
  NotFinite notFinite_;
  EndVote endVote_;
  LearningRates rates_;
  Evaluator evaluator_;
  int64_t evaluated_ = -2; // the last step after which was evaluated; -1: before step 0
  RunLog log_;
  TensorBoard tensorBoard_;
  std::optional<RunSummary> summary_; // from the first step on
  int64_t first_ = 0, count_ = 0;     // steps of this run
  int64_t origin_ = 0;                // first step of the run, before any restart
  Clock::time_point finished_{};      // when the last step was finished
  bool isEnded_ = false;              // by a signal, on all ranks after the same step
  bool isJoint_ = false;              // all ranks have a failure now, with one message
};

} // namespace

Status runRank(const plan::Plan &plan, const Options &options,
               const launch::RankEnvironment &environment, launch::StepReporter &reporter) {
  return RankRun(plan, options, environment, reporter).run();
}

} // namespace cleave::run
