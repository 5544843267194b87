// --fates: values that are kept for the backward pass, and values that are computed again there.
#include "runtime/base/Concat.h"
#include "runtime/base/Table.h"
#include "runtime/base/Units.h"
#include "tools/cleave-dump/Fold.h"
#include "tools/cleave-dump/PlanText.h"
#include "tools/cleave-dump/Views.h"

#include <cmath>
#include <map>

namespace cleave::dump {

// A reason without what the table says in another column: `again, it would take 3.32 us; …`.
static std::string reasonText(const std::string &reason) {
  if (!reason.starts_with("again, it would take") && !reason.starts_with("again takes"))
    return reason;
  const size_t end = reason.find("; ");
  return end == std::string::npos ? "" : reason.substr(end + 2);
}

// Values of one fate, in program order; those of repeated blocks share a row, with the numbers of
// the first one.
static std::string fateTable(const plan::Plan &plan, const std::string &kind,
                             const std::string &heading) {
  struct Row {
    const plan::Decision *first;
    std::vector<std::string> names;
    double seconds = 0; // of computing all of them again
  };
  std::vector<Row> rows;
  std::map<std::string, size_t> index;
  for (const plan::Decision &decision : plan.decisions()) {
    if (decision.kind() != kind)
      continue;
    auto [entry, isNew] = index.try_emplace(nameShape(decision.name()), rows.size());
    if (isNew)
      rows.push_back({&decision, {}});
    Row &row = rows[entry->second];
    row.names.push_back(decision.name());
    for (const plan::Alternative &alternative : decision.alternatives())
      row.seconds += std::abs(alternative.seconds());
  }
  Table table({heading, ">values", "each", ">again takes", "why"});
  for (const Row &row : rows)
    table.add({foldedName(row.names), concat(row.names.size()), row.first->choice(),
               row.seconds > 0 ? secondsText(row.seconds) : "", reasonText(row.first->reason())});
  return table.isEmpty() ? "" : tableText(table);
}

std::string fatesView(const plan::Plan &plan) {
  const std::string again = fateTable(plan, "recompute", "computed again"),
                    kept = fateTable(plan, "kept", "kept");
  if (again.empty() && kept.empty())
    return "No fates: nothing of the forward pass is read in a backward pass.\n";
  return titled("What the backward pass reads of the forward pass (rank 0)") + "\n" + again +
         (again.empty() || kept.empty() ? "" : "\n") + kept;
}

} // namespace cleave::dump
