// Predict: predicts the seconds of every instruction by the planner's cost model.
#pragma once

#include "compiler/cluster/Cluster.h"
#include "dialects/interfaces/Sharding.h"
#include "runtime/artifact/program.pb.h"

#include <vector>

namespace cleave::driver {

// Sets Instruction::seconds in all programs. `cluster`: as the mesh's ranks see it
// (cluster::forRanks).
void predictInstructions(plan::Plan &plan, const cluster::Cluster &cluster, const Mesh &mesh);

// How often a step runs each segment of a program.
std::vector<int64_t> runsOf(const plan::Program &program);

// The sum of the seconds of all instructions that a step runs.
double secondsOfStep(const plan::Program &program);

} // namespace cleave::driver
