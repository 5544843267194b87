// See Evaluator.h.
#include "tools/cleave-run/Evaluator.h"

#include "runtime/artifact/Programs.h"
#include "runtime/base/Nearest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace cleave::run {
namespace {

// `loss` and `sum` of `loss.sum`.
std::pair<std::string, std::string> partsOf(const std::string &name) {
  const size_t dot = name.rfind('.');
  return {name.substr(0, dot), dot == std::string::npos ? "" : name.substr(dot + 1)};
}

// The names of the evaluation's metrics, in their order.
std::vector<std::string> metricsOf(const plan::Program &program) {
  std::vector<std::string> names;
  for (const plan::ScheduleStep &step : program.schedule())
    for (const plan::Instruction &instruction :
         program.segments(int(step.segment())).instructions())
      if (instruction.has_metric())
        names.push_back(instruction.metric().name());
  return names;
}

// Whether the model reads tokens, and each has a label.
bool isOfTokens(const plan::Plan &plan) {
  bool readsTokens = false, hasSequences = false;
  for (const plan::Tensor &tensor : plan.tensors())
    if (tensor.role() == plan::INPUT) {
      readsTokens |= !tensor.is_label() && tensor.vocabulary() > 0;
      hasSequences |= tensor.is_label() && tensor.vocabulary() > 0 && tensor.shape_size() > 1;
    }
  return readsTokens && hasSequences;
}

// A user error if the labels of two folders would mean different classes.
Status compareClasses(const std::vector<std::string> &training,
                      const std::vector<std::string> &evaluation) {
  if (training.empty() || evaluation.empty())
    return Status::ok();
  for (size_t i = 0; i < std::max(training.size(), evaluation.size()); ++i) {
    const std::string ours = i < evaluation.size() ? "'" + evaluation[i] + "'" : "nothing";
    const std::string expected = i < training.size() ? "'" + training[i] + "'" : "nothing";
    if (ours != expected)
      return Status::userError("found ", ours, " as class ", i, ", expected ", expected,
                               ", which it is in --data; give both the same folders, empty ones "
                               "of classes without samples left out of both");
  }
  return Status::ok();
}

// Metrics of the moving averages begin so.
constexpr const char *kAverages = "ema_";

bool isLoss(const std::string &metric) { return metric == "loss" || metric.starts_with("loss."); }

} // namespace

double numberOf(const Numbers &numbers, const std::string &name) {
  for (const auto &[known, number] : numbers)
    if (known == name)
      return number;
  return std::numeric_limits<double>::quiet_NaN();
}

bool isBetterBelow(const std::string &metric) {
  return metric.find("accuracy") == std::string::npos;
}

Status Evaluator::open(const plan::Plan &plan, const Options &options,
                       const data::DataSource *training, int threads) {
  if (options.eval.empty())
    return Status::ok();
  const plan::Program *program = artifact::findProgram(plan, plan::Program::EVALUATION, 0);
  if (!program)
    return Status::userError("the plan has no evaluation; compile it with --eval, too");
  every_ = options.evalEvery;
  isOfTokens_ = isOfTokens(plan);
  whyWholeBatches_ = program->no_padding();
  std::set<std::string> seen;
  for (const std::string &name : metricsOf(*program)) {
    const auto [metric, part] = partsOf(name);
    if (seen.insert(metric).second)
      metrics_.push_back({metric});
  }
  CLEAVE_TRY(checkBest(options.keepBest));
  data::DataOptions data{options.eval, {}, /*slots=*/1, /*mayHaveLabels=*/true};
  data.isEvaluation = true;
  data.images = options.images.withoutChance();
  data.threads = threads;
  data.lastBatch = !whyWholeBatches_.empty() ? data::LastBatch::Wrap : data::LastBatch::Pad;
  CLEAVE_TRY_ASSIGN(data_, data::DataSource::open(data, executor::inputsOf(plan)));
  if (training)
    CLEAVE_TRY(compareClasses(training->classes(), data_->classes()));
  return countBatches(options);
}

Status Evaluator::checkBest(const std::string &metric) const {
  if (metric.empty())
    return Status::ok();
  std::vector<std::string> known;
  for (const auto &[name, number] : numbersOf(metrics_)) {
    if (name == metric)
      return Status::ok();
    known.push_back(name);
  }
  return Status::userError("--keep-best: unknown metric '", metric, "'", suggestion(metric, known));
}

Status Evaluator::countBatches(const Options &options) {
  const int64_t samples = data_->samples(), batch = data_->samplesPerMicroBatch();
  batches_ = batch ? (samples + batch - 1) / batch : 1;
  if (batch && !whyWholeBatches_.empty() && samples % batch) {
    batches_ = samples / batch;
    if (batches_ == 0)
      return Status::userError("found ", samples, " samples, expected a whole batch of ", batch,
                               ", since ", whyWholeBatches_);
    notes_.push_back(concat("--eval leaves out the last ", samples % batch, " of ", samples,
                            " samples, since ", whyWholeBatches_));
  }
  if (options.evalSteps)
    batches_ = std::min(batches_, options.evalSteps);
  return Status::ok();
}

Result<Numbers> Evaluator::run(executor::Executor &executor) const {
  std::vector<Metric> metrics = metrics_;
  for (int64_t batch = 0; batch < batches_; ++batch) {
    CLEAVE_TRY(executor.evaluate(batch));
    for (const executor::MetricValue &found : executor.evaluation()) {
      const auto [name, part] = partsOf(found.name);
      Metric &metric = *std::ranges::find(metrics, name, &Metric::name);
      (part == "count" ? metric.count : metric.sum) += found.value;
      metric.count += part == "mean";
    }
  }
  return numbersOf(metrics);
}

Numbers Evaluator::numbersOf(const std::vector<Metric> &metrics) const {
  Numbers numbers;
  for (const std::string prefix : {"", kAverages}) {
    Numbers some = numbersOf(metrics, prefix);
    numbers.insert(numbers.end(), some.begin(), some.end());
  }
  return numbers;
}

Numbers Evaluator::numbersOf(const std::vector<Metric> &metrics, const std::string &prefix) const {
  const std::string head = "eval_" + prefix;
  Numbers numbers{{head + "loss", 0}};
  bool isAny = false, hasAccuracy = false;
  for (const Metric &metric : metrics) {
    if (metric.name.starts_with(kAverages) == prefix.empty())
      continue;
    const std::string name = metric.name.substr(prefix.size());
    const double mean = metric.sum / metric.count;
    isAny = true;
    if (isLoss(name))
      numbers[0].second += mean;
    if (name != "loss")
      numbers.emplace_back(head + name, mean);
    hasAccuracy |= name == "accuracy"; // of the only loss, a cross entropy
  }
  if (hasAccuracy && isOfTokens_)
    numbers.emplace_back(head + "perplexity", std::exp(numbers[0].second));
  return isAny ? numbers : Numbers();
}

} // namespace cleave::run
