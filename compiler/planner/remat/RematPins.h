// RematPins: the recompute decisions that the user's pins determine.
#pragma once

#include "compiler/planner/choices/Pins.h"
#include "compiler/planner/remat/ChooseRemat.h"

namespace cleave::planner {

// The decision on every op that the pins determine; a recipe for recomputation determines all ops.
// Where a recipe gathers parameters again (fsdp), ops that read parameters alone are recomputed,
// such as casts to a low type, whose results, if kept, would hold the gathered parameters. Rules of
// a file come later and win. A user error if a rule matches no op, recomputes an op that cannot be
// recomputed, or wants a space of which `spaces` has no bytes.
Result<PinnedRemat> pinnedRemat(const StepModel &model, const Pins &pins,
                                const OtherSpaces &spaces = {});

// Whether the pins decide on every op.
bool isDetermined(const PinnedRemat &pinned);

// The pinned decisions; all other ops are kept.
RematPolicy policyOf(const StepModel &model, const PinnedRemat &pinned);

// The policy with the pinned decisions in place of its own.
RematPolicy withPinned(const StepModel &model, RematPolicy policy, const PinnedRemat &pinned);

} // namespace cleave::planner
