// A plan made by hand: two matmuls in a row on a 2x2 mesh, their sum, a loss, and an update of the
// weights.
#pragma once

#include "runtime/artifact/program.pb.h"

// Valid in the verifier's eyes. Rows of x are split over dp; the micro-batch segment runs twice a
// step.
cleave::plan::Plan smallPlan();
