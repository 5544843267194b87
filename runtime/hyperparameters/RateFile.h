// A file with learning rates: one per step, or the points of a curve.
#pragma once

#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cleave::hyperparameters {

class RateFile {
public:
  // Each line has a rate, that of the next step from 0 on; or each has a step and a rate, in the
  // order of steps, between which rates are interpolated. Two lines of one step make a jump. Empty
  // lines and those that begin with `#` are skipped. A user error names the line.
  static Result<RateFile> read(const std::string &path);

  // The rate in a step; before the first step of the file and behind its last one, those of these
  // steps.
  double at(int64_t step) const;

  // Different for files with different rates.
  const std::string &digest() const { return digest_; }

private:
  std::vector<std::pair<double, double>> points_; // step and rate, by step
  std::string digest_;
};

} // namespace cleave::hyperparameters
