// Speed: what the seconds of a step mean for the user: samples, tokens, model FLOPs utilization.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "tools/cleave-run/RunData.h"

#include <string>
#include <utility>
#include <vector>

namespace cleave::run {

class Speed {
public:
  // Both outlive the speed.
  Speed(const plan::Plan &plan, const RunData &data) : plan_(plan), data_(data) {}

  // Numbers of a step that takes these seconds, as far as they are known: `samples_per_second`, of
  // tokens also `tokens_per_second`, and `mfu` (runtime/artifact/Utilization.h).
  std::vector<std::pair<std::string, double>> numbers(double seconds) const;

  // The same for people: `1.20k tokens/s` or `98.4 samples/s`, and `MFU 41.2 %`.
  std::vector<std::string> texts(double seconds) const;

private:
  const plan::Plan &plan_;
  const RunData &data_;
};

} // namespace cleave::run
