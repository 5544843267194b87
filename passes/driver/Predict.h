// Predict: the seconds of every instruction of a program, by the same cost model that the planner uses.
#pragma once

#include "compiler/cluster/Cluster.h"
#include "dialects/interfaces/Sharding.h"
#include "runtime/artifact/program.pb.h"

namespace cleave::driver {

// FLOPs of a matmul, a convolution or a kernel; 0 of others.
double flopsOf(const plan::Program &program, const plan::Instruction &instruction);

// Sets Instruction::seconds in all programs. `cluster` as the mesh's ranks see it (cluster::forRanks).
void predictInstructions(plan::Plan &plan, const cluster::Cluster &cluster, const Mesh &mesh);

} // namespace cleave::driver
