// Evaluation of the parameters on data of their own, during a training (--eval).
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"
#include "runtime/data/DataSource.h"
#include "runtime/executor/Executor.h"
#include "tools/cleave-run/Options.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cleave::run {

// Numbers by name: `eval_loss`, `eval_accuracy`, `eval_perplexity`, and of moving averages
// `eval_ema_loss` and so on.
using Numbers = std::vector<std::pair<std::string, double>>;

// The number with this name; not a number if there is none.
double numberOf(const Numbers &numbers, const std::string &name);
// Whether the metric is the better the smaller it is: all but accuracies are.
bool isBetterBelow(const std::string &metric);

class Evaluator {
public:
  // Opens the data of --eval; without that option, nothing is evaluated. User errors: the plan has
  // no evaluation, the data do not fit, or --keep-best names another number than the evaluation
  // gives, or their classes have other names than those of `training` (null: no data). `threads`
  // decode images.
  Status open(const plan::Plan &plan, const Options &options, const data::DataSource *training,
              int threads);

  // The data of the evaluation; null without --eval.
  const data::DataSource *data() const { return data_.get(); }
  // What the user should know about them; empty if there is nothing.
  const std::vector<std::string> &notes() const { return notes_; }
  // Whether --eval-every asks for an evaluation behind this step.
  bool isDue(int64_t step) const { return data_ && every_ && (step + 1) % every_ == 0; }

  // One pass over the data, at most --eval-steps micro-batches. The same numbers on all ranks.
  // Errors as of Executor::evaluate().
  Result<Numbers> run(executor::Executor &executor) const;

private:
  // What becomes of the metrics `X.sum`, `X.count` and `X.mean` of a micro-batch.
  struct Metric {
    std::string name; // X
    double sum = 0, count = 0;
  };

  Status checkBest(const std::string &metric) const;
  Numbers numbersOf(const std::vector<Metric> &metrics) const;
  // Those of the parameters, or with the prefix of the moving averages those of these.
  Numbers numbersOf(const std::vector<Metric> &metrics, const std::string &prefix) const;
  Status countBatches(const Options &options);

  std::unique_ptr<data::DataSource> data_;
  std::vector<Metric> metrics_; // the plan's, all of them 0
  std::string whyWholeBatches_; // empty: the last batch is filled up
  bool isOfTokens_ = false;     // labels are tokens of a sequence: a loss has a perplexity
  int64_t every_ = 0, batches_ = 0;
  std::vector<std::string> notes_;
};

} // namespace cleave::run
