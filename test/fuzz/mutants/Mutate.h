// Mutations of plans by Protobuf's reflection: every field of the format can be changed, also those
// that are added later.
#pragma once

#include "runtime/artifact/program.pb.h"

#include <random>
#include <string>

namespace cleave::fuzz {

// Changes one field, chosen such that every field of the format is equally likely: a scalar becomes
// 0, 1, -1, its type's largest value, itself plus or minus 1, itself with one bit flipped, or the
// value of the same field elsewhere in the plan; a repeated field loses an element, repeats one,
// swaps two, or becomes empty; a message becomes another one of the same field. The library of
// kernels is not changed: its code is trusted. Returns what was changed.
std::string mutate(plan::Plan &plan, std::mt19937 &draw);

} // namespace cleave::fuzz
