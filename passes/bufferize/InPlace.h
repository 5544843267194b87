// InPlace: results of a kernel group that may be written in place of an operand.
#pragma once

#include "dialects/graph/Graph.h"

namespace cleave::bufferize {

// Whether the group, at every point of its loops, reads `operand` only at the element of `result`
// that it writes there, so that both may share memory. Their shapes are then equal; the caller
// compares layouts and element types.
bool readsElementwise(graph::FusionOp fusion, unsigned operand, unsigned result);

} // namespace cleave::bufferize
