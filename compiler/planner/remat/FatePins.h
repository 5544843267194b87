// FatePins: the fates that the user's pins determine.
#pragma once

#include "compiler/planner/choices/Pins.h"
#include "compiler/planner/remat/ChooseFates.h"

namespace cleave::planner {

// Per op its fate if the pins determine it; a recipe for recomputation determines all. Where a
// recipe gathers parameters again (fsdp), what is made of them alone is made again, such as casts
// to a low type, whose results would keep what was gathered. Rules of a file come later and win. A
// user error if a rule matches no op, or wants an op computed again that cannot be, or if one wants
// a space of which `spaces` has no bytes.
Result<ForcedFates> forcedFates(const StepModel &model, const Pins &pins,
                                const OtherSpaces &spaces = {});

// Whether every fate is determined.
bool isDetermined(const ForcedFates &forced);

// The forced fates; all others are kept.
Fates fatesOf(const StepModel &model, const ForcedFates &forced);

// These fates, but for those that are forced.
Fates withForced(const StepModel &model, Fates fates, const ForcedFates &forced);

} // namespace cleave::planner
