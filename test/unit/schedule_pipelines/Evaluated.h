// Evaluated: orders and their evaluations for tests, which fail where there is none.
#pragma once

#include "compiler/schedule/pipelines/Evaluate.h"
#include "compiler/schedule/pipelines/Schedules.h"

#include <random>
#include <string>

namespace cleave::pipelines {

// The order of a schedule, which check() accepts.
Order made(const std::string &schedule, const Shape &shape);

// Equal costs of `stages` stages, in seconds.
Costs equalCosts(uint32_t stages, const StageCosts &costs, double transfer = 0);

// Under the same costs of all stages.
Evaluation evaluated(const Order &order, const StageCosts &costs, double transfer = 0);

// The message of a failed result; the test fails if there is a value.
std::string refusal(const Status &status);

// Random sizes and costs. Costs are multiples of 1/8 of a second, so that sums are exact.
class RandomCase {
public:
  explicit RandomCase(unsigned seed) : random_(seed) {}
  uint32_t from(uint32_t least, uint32_t most) { return least + random_() % (most - least + 1); }
  double seconds() { return from(1, 40) / 8.0; }

private:
  std::mt19937 random_;
};

} // namespace cleave::pipelines
