// Live: the live bytes of each space over the time of a step.
#pragma once

#include "compiler/schedule/Clock.h"
#include "compiler/schedule/Simulate.h"

#include <vector>

namespace cleave::schedule {

// Simulation::live, by space.
std::vector<LiveBytes> liveBytes(const Timeline &timeline, const Clock &clock);

} // namespace cleave::schedule
