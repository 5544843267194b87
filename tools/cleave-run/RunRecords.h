// RunRecords: the log of a run, its TensorBoard file, line of progress, summary and page. Rank 0
// writes them; all ranks count steps for the summary.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/executor/Executor.h"
#include "tools/cleave-run/Progress.h"
#include "tools/cleave-run/RunInputs.h"
#include "tools/cleave-run/RunLog.h"
#include "tools/cleave-run/RunSummary.h"
#include "tools/cleave-run/TensorBoard.h"

#include <optional>
#include <string>
#include <vector>

namespace cleave::run {

// Keeps references to the constructor's arguments.
class RunRecords {
public:
  RunRecords(const plan::Plan &plan, const Options &options, const Session &session,
             const RunInputs &inputs)
      : plan_(plan), options_(options), session_(session), inputs_(inputs) {}

  // Creates the files; after a restart, the log goes on. User errors name the file.
  Status open();
  // Call before the first step.
  void begin();
  // A step that was finished; `isSkipped`: its update was undone.
  Status step(int64_t step, double seconds, const executor::Executor &executor, bool isSkipped);
  Status evaluation(int64_t step, const Numbers &numbers, double seconds);
  // A warning of rank 0 below the line of progress, unless it is empty.
  void warn(const std::string &text);
  // Ends the line of progress.
  void endLine() { progress_->finish(); }
  // Call after the last step, or after a failure.
  void endSteps() { progress_.reset(); }
  // Prints the summary.
  void end() const;
  // Writes the summary and the lines of all ranks to the log. `saved`: the last checkpoint; empty:
  // there is none.
  Status endLog(const std::string &saved, const std::vector<std::string> &ranks);
  // Writes the page of --report, however the run ended.
  Status writePage(const Status &ended) const;

private:
  bool isKept(const std::string &path) const;
  std::vector<executor::MetricValue> metricsOf(int64_t step,
                                               const executor::Executor &executor) const;
  Numbers speedOf(int64_t step, double seconds) const;
  Numbers numbersOf(int64_t step, double seconds, const executor::Executor &executor) const;

  const plan::Plan &plan_;
  const Options &options_;
  const Session &session_;
  const RunInputs &inputs_;
  RunLog log_;
  TensorBoard tensorBoard_;
  std::optional<Progress> progress_;  // from begin() to endSteps()
  std::optional<RunSummary> summary_; // from begin() on
};

} // namespace cleave::run
