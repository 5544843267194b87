// StageSearch: chooses the number of stages of a pipeline (--stages auto), the number of
// micro-batches that pass through them (--micro-batch auto with --stages), and their order
// (--schedule auto), and where the model is cut.
#pragma once

#include "passes/driver/Compile.h"

namespace cleave::driver {

// Whether the options leave a number open that chooseStages() chooses.
bool leavesStagesOpen(const CompileOptions &options);

// The least seconds in which any order can run `microBatches` micro-batches on `stages` stages that
// share no ranks, with one chunk per stage and full backward parts. `seconds`: of the forward and
// backward part of one micro-batch, summed over the stages. Holds for each division of the work
// among the stages:
//
//   Stage s is busy for M w_s. It cannot begin before the first micro-batch has passed the stages
//   before it, whose backward parts of the last micro-batch come after its own:
//   T >= M w_s + w_0 + … + w_{s-1}. The largest of these is least where they are equal, which is
//   w_{s+1} = w_s (1 - 1/M), and then T = M w_0 = seconds / (1 - (1 - 1/M)^P).
double pipelineBound(double seconds, int64_t stages, int64_t microBatches);

// The seconds of a step by the simulation of its programs, bubbles and messages included. The
// compilation is after the phase `program`.
Result<double> makespanOf(Compilation &c);

// Compiles the step for numbers of stages that divide --ranks, and for numbers of micro-batches
// that divide the batch where those are open. Keeps the plan whose simulated step takes the fewest
// seconds. The first number of stages is one with small bubbles; then come fewer, and then more,
// each until two in a row were slower; micro-batches rise. Not compiled are numbers whose bound by
// the model's FLOPs at the devices' peak exceeds the best step so far. Not planned to the end are
// those whose first stage takes as long as that step in the planner's model, in which nothing
// overlaps, with the bubbles that it has to wait. Other schedules are tried for the best numbers
// only. Then the best model is cut again, by the seconds that its chunks take in its plan, as long
// as that is faster.
//
// The compilation is then that of the best plan after the phase `program`. If the options ask for
// output of earlier phases, it has the chosen options and no module. A remark names what was tried.
// Numbers for which the model cannot be cut or no plan fits are left out; if none remains, fails as
// the smallest number for which no plan fits.
Status chooseStages(Compilation &c);

} // namespace cleave::driver
