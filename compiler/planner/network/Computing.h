// Computing: the seconds of an op's kernel, on a rank's rows in order or in zigzag (Zigzag.h).
#pragma once

#include "compiler/planner/network/Costs.h"

namespace cleave::planner {

// Seconds of one run on the rank that computes the most, with the rows in order.
double inOrder(const Costs &costs, const Op &op, const OpChoice &choice);

// Seconds of one run in zigzag, with its exchanges and copies; nothing if that is impossible.
std::optional<double> inZigzag(const Costs &costs, const Op &op, const OpChoice &choice);

// Whether zigzag is faster.
bool isFasterInZigzag(const Costs &costs, const Op &op, const OpChoice &choice);

// Seconds of one run in the faster way.
double computingSeconds(const Costs &costs, const Op &op, const OpChoice &choice);

} // namespace cleave::planner
