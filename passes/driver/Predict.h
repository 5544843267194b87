// Predict: predicts the seconds of every instruction by the planner's cost model.
#pragma once

#include "compiler/cluster/Cluster.h"
#include "dialects/interfaces/Sharding.h"
#include "runtime/artifact/program.pb.h"

namespace cleave::driver {

// Sets Instruction::seconds in all programs. `cluster`: as the mesh's ranks see it
// (cluster::forRanks).
void predictInstructions(plan::Plan &plan, const cluster::Cluster &cluster, const Mesh &mesh);

} // namespace cleave::driver
