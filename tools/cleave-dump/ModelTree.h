// ModelTree: the modules of a model, by the names of its parameters, with what a step does for
// each, as JSON for the page of --html.
//
// A node is {"name", "count", "parts", "parameters", "seconds", "kept", "recomputed", "stages",
// "decisions"}: `parts` are nodes in the order of the parameters, `parameters` those of the module
// itself as [name, layout, bytes of one rank], `seconds` rows of [kind, lane of the timeline,
// seconds of one rank per step], bytes those of values that the backward pass reads, and
// `decisions` indices of the plan's. Equal layers share a node, as do equal modules in a row:
// `count` is their number, numbers are sums.
//
// An instruction works for the parameters that it accesses, or whose gathered copies or states it
// accesses; any other one for those of the next instruction that reads its results.
#pragma once

#include "tools/cleave-dump/PlanJson.h"

namespace cleave::dump {

// The nodes of the highest level; empty for a model without parameters.
Json modelTree(const plan::Plan &plan);

} // namespace cleave::dump
