// Stages: the stages of a pipeline as units of a compilation (--stages).
//
// The phase `train` puts borders into the step, `primitive` splits it into a unit per stage, each
// of which is planned on its own ranks, and `scheduled` makes a program of each.
#pragma once

#include "passes/driver/Compile.h"
#include "passes/stage/Cut.h"

namespace cleave::driver {

// A user error if the options cannot be combined with --stages.
Status checkStages(const CompileOptions &options);

// The number of chunks into which the model is cut. A user error if the schedule is not defined for
// the numbers of stages and micro-batches.
Result<int64_t> chunksOf(const CompileOptions &options);

// The seconds of work and of messages by which the step is cut, on c.cluster.
Result<stage::CutCosts> cutCosts(Compilation &c);

// Replaces the step by one unit per stage, with the order in which it runs its micro-batches.
Status splitStages(Compilation &c);

// Plans each stage. The decisions of the slowest one become those of the compilation, since no
// order of micro-batches takes less than that stage is busy.
Status planStages(Compilation &c);

// Adds the stages as the outermost mesh axis. Until then, the mesh of a unit covers the ranks of
// its stage only.
void addStageAxis(Compilation &c);

} // namespace cleave::driver
