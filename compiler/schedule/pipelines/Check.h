// Check: whether an order trains the model: every action runs once, on the rank of its stage, and
// the ranks never wait for each other in a circle.
#pragma once

#include "compiler/schedule/pipelines/Order.h"
#include "runtime/base/Status.h"

namespace cleave::pipelines {

// The most (stage, micro-batch) pairs of an order.
inline constexpr size_t kMostPairs = size_t(1) << 26;

// A user error that names the rank, the place in its list and the action, if an index is out of
// range, an action is on another rank than its stage, twice or missing, a micro-batch has both
// forms of a backward, or a pair cannot run as one task.
Status checkActions(const Order &order);

// checkActions, and a user error if the order cannot end; it names the actions that wait for each
// other, with their ranks.
Status check(const Order &order);

} // namespace cleave::pipelines
