// Simulated: the simulation of a timeline that is expected to end, or to be refused.
#pragma once

#include "compiler/schedule/Simulate.h"

#include <catch2/catch.hpp>
#include <string>

namespace cleave::schedule {

inline Simulation simulated(const Timeline &timeline) {
  Result<Simulation> found = simulate(timeline);
  INFO(found.status().message());
  REQUIRE(found);
  return *found;
}

// The message of the user error.
inline std::string refusal(const Timeline &timeline) {
  Result<Simulation> found = simulate(timeline);
  REQUIRE_FALSE(found);
  CHECK(found.status().kind() == StatusKind::UserError);
  return found.status().message();
}

} // namespace cleave::schedule
