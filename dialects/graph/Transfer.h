// Transfer: the op graph.transfer, the border between two pipeline stages.
#pragma once

#include "dialects/graph/Graph.h"

#define GET_OP_CLASSES
#include "dialects/graph/Transfer.h.inc"
