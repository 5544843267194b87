// Steps, machines and files of facts for tests against results of other systems.
#pragma once

#include "compiler/planner/search/Planner.h"
#include "runtime/base/Json.h"

#include <string>

namespace cleave::test {

constexpr double kFast = 1e30; // per second: takes no time

// A file of facts, which is not part of the repository; null, with a warning, if it is not there.
Json readFacts(const std::string &name);

// The step of a graph program as text.
planner::StepModel modelOf(const std::string &text);

// Devices that take 1 / `flops` seconds per FLOP of a product, and nothing for all else.
// Collectives take `latency` seconds and 1 / `bandwidth` per byte.
cluster::Cluster plainCluster(double flops, double latency, double bandwidth);

// The plan on a mesh; the test fails if there is none.
planner::PlanReport planOn(const planner::StepModel &model, const cluster::Cluster &cluster,
                           const std::string &mesh, const planner::Pins &pins = {});

} // namespace cleave::test
