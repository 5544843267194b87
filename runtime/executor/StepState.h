// StepState: the position within the step that is being run or enqueued, read by the actions, and
// the values that a step reports. Private to this folder.
#pragma once

#include "runtime/base/DType.h"
#include "runtime/executor/Executor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cleave::executor {

struct StepState {
  int64_t step = 0;     // number of the step, which selects the data
  size_t scheduled = 0; // index of the current schedule step
  uint32_t slot = 0;    // index of the current micro-batch
  // The sum of a metric over the micro-batches of the step.
  struct Report {
    std::string name;
    double sum;
    int64_t count;
  };
  std::vector<Report> reports; // one per metric
  std::vector<StoredOutput> outputs;

  // To be called before a step reports values.
  void clearReports() {
    outputs.clear();
    for (Report &report : reports)
      report.sum = 0, report.count = 0;
  }

  // Adds a value, F32 or F64 in memory of this process, to a metric (index into `reports`).
  void report(size_t metric, DType dtype, const void *value) {
    reports[metric].sum += dtype == DType::F64 ? *static_cast<const double *>(value)
                                               : double(*static_cast<const float *>(value));
    ++reports[metric].count;
  }
};

} // namespace cleave::executor
