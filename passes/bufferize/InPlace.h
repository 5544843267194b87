// InPlace: which results of a kernel group may be written where an operand lies.
#pragma once

#include "dialects/graph/Graph.h"

namespace cleave::bufferize {

// Whether the group reads operand `operand` at every point of its loops only where it writes result `result` at that point,
// so that both may share memory. Their shapes are then equal; layouts and element types are the caller's business.
bool readsElementwise(graph::FusionOp fusion, unsigned operand, unsigned result);

} // namespace cleave::bufferize
