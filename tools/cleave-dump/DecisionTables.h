// DecisionTables: the decisions of a plan and the meshes that were tried, as tables.
#pragma once

#include "runtime/artifact/program.pb.h"

#include <string>

namespace cleave::dump {

// Rows of a table of decisions.
enum class Rows {
  Costliest, // the rest is counted
  All,
};

// A table per kind of decision; those of repeated blocks share a row.
std::string decisionTables(const plan::Plan &plan, Rows rows);

// The meshes that were tried, the fastest first, with the time of a step and the memory of a rank.
// Empty if only one was.
std::string meshTable(const plan::Plan &plan);
// The last cell of a row of that table: `ruled out by its bound`.
std::string meshVerdict(const plan::Plan &plan, const plan::Decision &mesh);

// One paragraph per remark; of each kind, only the first few unless all are asked for.
std::string remarkList(const plan::Plan &plan, Rows rows);

} // namespace cleave::dump
