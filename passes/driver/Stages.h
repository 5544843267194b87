// Stages: the stages of a pipeline as units of a compilation (--stages).
//
// The phase `train` puts borders into the step, `primitive` splits it into a unit per stage, each
// of which is planned on its own ranks, and `scheduled` makes a program of each.
#pragma once

#include "passes/driver/Compile.h"

namespace cleave::driver {

// A user error if the options cannot be combined with --stages.
Status checkStages(const CompileOptions &options);

// The stage of each chunk of the model. A user error if the schedule is not defined for the numbers
// of stages and micro-batches.
Result<std::vector<int64_t>> placementOf(const CompileOptions &options);

// Replaces the step by one unit per stage, with the order in which it runs its micro-batches.
Status splitStages(Compilation &c);

// Plans each stage. The decisions of the slowest one become those of the compilation, since no
// order of micro-batches takes less than that stage is busy.
Status planStages(Compilation &c);

// Adds the stages as the outermost mesh axis. Until then, the mesh of a unit covers the ranks of
// its stage only.
void addStageAxis(Compilation &c);

} // namespace cleave::driver
