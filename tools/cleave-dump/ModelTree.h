// ModelTree: the modules of a model, by the names of its parameters, with what a step does for
// each, and the edges between them, as JSON for the page of --html.
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
//
// An edge is {"from", "to", "names", "copies", "skip", "values"}: what a node computes in the
// forward pass for another one, or for another layer of its own. `from` and `to` number the nodes,
// each before its parts; `names` are those of all modules at both ends, folded. `copies` is there
// if the ends are in different ones of the equal layers around them, `skip` if a longer path leads
// from one to the other. `values` are rows of [type and shape, bytes, layout, what moves it between
// ranks] of one rank; the texts at the end of a row are left out while they are empty.
#pragma once

#include "tools/cleave-dump/PlanJson.h"

namespace cleave::dump {

// The nodes of the highest level, and the edges; both are empty for a model without parameters.
struct ModelJson {
  Json nodes, edges;
};
ModelJson modelTree(const plan::Plan &plan);

} // namespace cleave::dump
