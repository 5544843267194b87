// Pareto: memory against time (--pareto). Each point is a plan.
#pragma once

#include "passes/driver/Variants.h"

namespace cleave::driver {

// A plan that no other point beats in both memory and time.
struct ParetoPoint {
  int64_t budget = 0; // bytes of one rank that --memory was; `bytes` where it was without a limit
  int64_t bytes = 0;  // that one rank takes of it
  double seconds = 0; // per step
  double bound = 0;   // Plan::boundSeconds
  std::string mesh;
  size_t recomputed = 0; // ops
};

// From the plan without a limit to the smallest that is found, by rising memory. Each plan has a
// seventh less than the one before; the end is searched by halves, until the budget that fits and
// the one that does not differ by a fiftieth. At most 24 plans. Calls `onPoint` with the
// points so far after each new one. Errors as of planModule and of `onPoint`.
using OnPoint = std::function<Status(const std::vector<ParetoPoint> &)>;
Result<std::vector<ParetoPoint>> paretoPoints(Variants &variants, CompileOptions options,
                                              const OnPoint &onPoint = nullptr);

// The points that no other one beats, by rising memory.
std::vector<ParetoPoint> notDominated(std::vector<ParetoPoint> points);

// One line per point; sizes in bytes, times in seconds.
std::string paretoCsv(const std::vector<ParetoPoint> &points);

// A picture in SVG: memory to the right, time upwards; the budget is marked by a line.
std::string paretoSvg(const std::vector<ParetoPoint> &points, const planner::Budget &budget,
                      const std::string &title);

} // namespace cleave::driver
