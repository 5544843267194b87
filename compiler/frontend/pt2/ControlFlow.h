// Control flow: the higher-order operators of torch.export that choose between graphs or run one
// several times (torch.cond, while_loop, scan, map, associative_scan).
//
// It is decided while importing. A branch whose condition is known runs by itself; where the
// condition depends on data, both branches run and their results and writes are selected. A loop
// whose number of rounds is known is unrolled.
#pragma once

#include "compiler/frontend/aten/OpCall.h"
#include "compiler/frontend/pt2/Program.h"

namespace cleave::pt2 {

// Rounds of one loop, or samples of one torch.vmap, that are unrolled.
inline constexpr int64_t kMaxRounds = 4096;

// Runs a graph on arguments and returns its results.
using CallGraph = llvm::function_ref<aten::IValueList(const Graph &, const aten::IValueList &)>;

// Whether the target is one of these operators.
bool isControlFlow(const std::string &target);

// Computes the node's results. `arguments` are its arguments, None in the places of graphs.
aten::IValueList callControlFlow(aten::Context &context, const Node &node,
                                 const aten::IValueList &arguments, CallGraph call);

} // namespace cleave::pt2
