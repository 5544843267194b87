// The passes of this folder, for cleave-opt.
#pragma once

namespace cleave::shard {

// --cleave-shard-annotate: plans @step and states the plan as attributes. Options ranks, mesh,
// memory, pin, cluster.
// --cleave-shard-partition: turns an annotated @step into the program of one rank. Option cluster.
void registerShardPasses();

} // namespace cleave::shard
