// ParallelRows: rows of large batches are filled on several cores. Private to this folder.
#pragma once

#include "runtime/base/Parallel.h"
#include "runtime/base/Status.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace cleave::data {

// Calls fill(begin, count) for runs of rows that together are [0, rows), several at a time. A run,
// but for the last one, has at least 4 MiB. Returns the failure of the first run that has one. The
// calls must not depend on each other.
template <typename Fill> Status fillInParallel(int64_t rows, int64_t rowBytes, Fill fill) {
  constexpr int64_t kBytes = 4 << 20;
  const int64_t run =
      std::max<int64_t>(1, (kBytes + rowBytes - 1) / std::max<int64_t>(1, rowBytes));
  std::vector<Status> results(size_t((rows + run - 1) / run));
  inParallel(results.size(), [&](size_t i) {
    const int64_t begin = int64_t(i) * run;
    results[i] = fill(begin, std::min(run, rows - begin));
  });
  for (const Status &result : results)
    CLEAVE_TRY(result);
  return Status::ok();
}

} // namespace cleave::data
