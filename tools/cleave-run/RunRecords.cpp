#include "tools/cleave-run/RunRecords.h"

#include "tools/cleave-run/RunReport.h"
#include "tools/cleave-run/Speed.h"

#include <cstdio>
#include <filesystem>

namespace cleave::run {

// Whether the run has no steps to record and the file has those of an earlier one.
bool RunRecords::isKept(const std::string &path) const {
  std::error_code ignored;
  return inputs_.count == 0 && inputs_.first > 0 && std::filesystem::exists(path, ignored);
}

Status RunRecords::open() {
  if (!options_.report.empty())
    log_.keepLines();
  if (session_.isFirst() && !options_.tensorBoard.empty())
    CLEAVE_TRY(tensorBoard_.open(options_.tensorBoard));
  if (options_.log.empty() || !session_.isFirst() || isKept(options_.log))
    return Status::ok();
  const bool goesOn = inputs_.checkpoint || options_.restart > 0;
  CLEAVE_TRY(log_.open(options_.log, goesOn ? std::optional(inputs_.first) : std::nullopt));
  return options_.restart == 0 ? Status::ok()
                               : log_.restart(options_.restart, session_.environment().size,
                                              inputs_.first, options_.restartReason);
}

void RunRecords::begin() {
  progress_.emplace(inputs_.first, inputs_.count, plan_, inputs_.data, options_,
                    session_.isFirst());
  summary_.emplace(inputs_.first, plan_, inputs_.data);
}

// The metrics of the step that was finished last, and its learning rates.
std::vector<executor::MetricValue> RunRecords::metricsOf(int64_t step,
                                                         const executor::Executor &executor) const {
  std::vector<executor::MetricValue> all = executor.metrics(), rates = inputs_.rates.at(step);
  all.insert(all.end(), rates.begin(), rates.end());
  return all;
}

// The epochs after a step, if they are known, and what its seconds mean.
Numbers RunRecords::speedOf(int64_t step, double seconds) const {
  Numbers numbers = Speed(plan_, inputs_.data).numbers(seconds);
  if (inputs_.data.hasEpochs())
    numbers.emplace(numbers.begin(), "epoch", inputs_.data.epochsAt(step + 1));
  return numbers;
}

// Metrics, seconds, and their speed.
Numbers RunRecords::numbersOf(int64_t step, double seconds,
                              const executor::Executor &executor) const {
  Numbers numbers;
  for (const executor::MetricValue &metric : metricsOf(step, executor))
    numbers.emplace_back(metric.name, metric.value);
  numbers.emplace_back("seconds", seconds);
  for (const auto &number : speedOf(step, seconds))
    numbers.push_back(number);
  return numbers;
}

// Gathers numbers only for records that exist, so that a quiet run without a log allocates nothing
// here.
Status RunRecords::step(int64_t step, double seconds, const executor::Executor &executor,
                        bool isSkipped) {
  summary_->step(step, seconds, executor.metrics());
  if (!session_.isFirst())
    return Status::ok();
  if (log_.takesLines())
    CLEAVE_TRY(log_.step(step, metricsOf(step, executor), seconds, executor.hostSeconds(),
                         speedOf(step, seconds), isSkipped));
  if (tensorBoard_.isOpen())
    CLEAVE_TRY(tensorBoard_.step(step, numbersOf(step, seconds, executor)));
  if (inputs_.rates.hasSchedule() && !progress_->isQuiet())
    progress_->step(step, metricsOf(step, executor));
  else
    progress_->step(step, executor.metrics());
  return Status::ok();
}

Status RunRecords::evaluation(int64_t step, const Numbers &numbers, double seconds) {
  if (!session_.isFirst())
    return Status::ok();
  CLEAVE_TRY(log_.evaluation(step, numbers, seconds));
  CLEAVE_TRY(tensorBoard_.step(step, numbers));
  progress_->evaluation(step, numbers, seconds);
  return Status::ok();
}

void RunRecords::warn(const std::string &text) {
  if (!text.empty())
    progress_->finish();
  session_.warn(text);
}

void RunRecords::end() const {
  if (std::string text = summary_->text(); !text.empty() && !options_.generates)
    std::printf("%s\n", text.c_str());
  if (plan_.trains() && options_.save.empty() && inputs_.count > 0)
    std::printf("the trained parameters were not saved; --save DIR keeps them\n");
}

Status RunRecords::endLog(const std::string &saved, const std::vector<std::string> &ranks) {
  if (std::string line = summary_->line(saved); !line.empty())
    CLEAVE_TRY(log_.line(line));
  for (const std::string &line : ranks)
    CLEAVE_TRY(log_.line(line));
  return Status::ok();
}

Status RunRecords::writePage(const Status &ended) const {
  if (options_.report.empty() || !session_.isFirst() || isKept(options_.report))
    return Status::ok();
  return writeReport(options_.report, plan_,
                     {.planPath = options_.plan,
                      .options = options_.trainFile,
                      .lines = log_.lines(),
                      .samples = inputs_.data.samplesPerStep(),
                      .error = ended.message()});
}

} // namespace cleave::run
