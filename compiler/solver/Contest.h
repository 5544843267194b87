// Contest: the public instances of the ASPLOS 2025 contest on intra-operator parallelism
// (google/iopddl).
//
//   {"problem": {"name", "nodes": {"intervals": [[begin, end)…], "costs": [[…]…], "usages":
//   [[…]…]},
//                "edges": {"nodes": [[u, v]…], "costs": [[row-major]…]}, "usage_limit": N}}
//
// One interval per node, one memory space; costs of 10^18 and more are forbidden.
#pragma once

#include "compiler/solver/Problem.h"

namespace cleave::solver {

// Reads a JSON file, plain or compressed by gzip; the second form reads text. User errors name the
// file or the field.
Result<Problem> readContestFile(const std::string &path);
Result<Problem> contestFromJson(const std::string &text);

} // namespace cleave::solver
