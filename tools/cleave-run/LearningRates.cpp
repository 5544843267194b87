// See LearningRates.h.
#include "tools/cleave-run/LearningRates.h"

#include <cmath>
#include <cstdlib>

namespace cleave::run {
namespace {

constexpr const char *kRate = "lr"; // of the optimizer; that of a group is `lr/GROUP`

// The optimizer's text (plan.optimizer) with another rate.
std::string withRate(std::string text, const std::string &name, double rate) {
  const bool isGroups = name != kRate;
  size_t begin = isGroups ? text.find(concat(";group ", name.substr(3), ':')) : 0;
  size_t end = begin == std::string::npos ? begin : text.find(';', begin + 1);
  for (const char *key : {":lr=", ",lr="}) {
    size_t at = begin == std::string::npos ? begin : text.find(key, begin);
    if (at == std::string::npos || at >= end)
      continue;
    size_t value = at + 4, behind = std::min(text.find_first_of(",;", value), text.size());
    return text.replace(value, behind - value, concat(rate));
  }
  return text;
}

} // namespace

Status LearningRates::setBase(const std::string &option) {
  size_t equals = option.rfind('=');
  std::string group = equals == std::string::npos ? "" : option.substr(0, equals);
  std::string text = option.substr(equals + 1); // all of it without `=`
  char *end = nullptr;
  double rate = std::strtod(text.c_str(), &end);
  if (text.empty() || *end || !std::isfinite(rate) || rate < 0)
    return Status::userError("--lr: found '", option,
                             "', expected a number of at least 0, or GROUP=NUMBER");
  std::string name = group.empty() ? kRate : concat(kRate, '/', group), known;
  for (executor::Hyperparameter &base : bases_) {
    known += concat(known.empty() ? "" : ", ",
                    base.name == kRate ? "the optimizer's" : base.name.substr(3));
    if (base.name != name)
      continue;
    base.value = rate;
    optimizer_ = withRate(optimizer_, name, rate);
    return Status::ok();
  }
  return Status::userError("--lr: no parameter has the learning rate of ",
                           group.empty() ? "the optimizer" : concat("a group '", group, "'"),
                           "; the plan's learning rates are: ", known);
}

Result<LearningRates> LearningRates::read(const plan::Plan &plan, const Options &options) {
  LearningRates rates;
  for (const executor::Hyperparameter &one : executor::hyperparametersOf(plan))
    if (one.name == kRate || one.name.starts_with(concat(kRate, '/')))
      rates.bases_.push_back(one);
  rates.optimizer_ = plan.optimizer();
  rates.hasSchedule_ = !options.lrSchedule.empty();
  if (rates.bases_.empty() && (rates.hasSchedule_ || !options.lr.empty()))
    return Status::userError(rates.hasSchedule_ ? "--lr-schedule" : "--lr",
                             ": the plan has no learning rate; compile the model with --train");
  for (const std::string &option : options.lr)
    CLEAVE_TRY(rates.setBase(option));
  if (rates.hasSchedule_) {
    auto schedule = hyperparameters::LrSchedule::parse(options.lrSchedule);
    if (!schedule)
      return schedule.status().withContext("--lr-schedule");
    rates.schedule_ = std::move(*schedule);
  }
  rates.current_.assign(rates.bases_.size(), NAN); // unknown to the executor
  return rates;
}

Status LearningRates::setLength(const hyperparameters::RunLength &length) {
  length_ = length;
  if (schedule_.countsEpochs() && length.stepsPerEpoch == 0)
    return Status::userError("--lr-schedule counts epochs, but the number of samples is not known; "
                             "count steps");
  return Status::ok();
}

Status LearningRates::apply(int64_t step, executor::Executor &executor) {
  for (size_t i = 0; i < bases_.size(); ++i) {
    const double rate = rateOf(bases_[i], step);
    if (rate == current_[i])
      continue;
    current_[i] = rate;
    CLEAVE_TRY(executor.setHyperparameter(bases_[i].name, rate));
  }
  return Status::ok();
}

std::vector<executor::MetricValue> LearningRates::at(int64_t step) const {
  std::vector<executor::MetricValue> rates;
  for (const executor::Hyperparameter &base : bases_)
    rates.push_back({base.name, rateOf(base, step)});
  return rates;
}

} // namespace cleave::run
