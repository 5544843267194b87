#include "tools/cleave-dump/RematTables.h"

#include "runtime/base/Concat.h"
#include "runtime/base/Fold.h"
#include "runtime/base/Table.h"
#include "runtime/base/Units.h"
#include "tools/cleave-dump/PlanText.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

namespace cleave::dump {

namespace {

// Kept or recomputed values that alike ops make.
struct Row {
  const plan::Decision *first = nullptr;
  std::vector<std::string> names;
  std::set<std::string> ops;
  size_t all = 0; // ops of this shape, kept and recomputed
  uint64_t bytes = 0;
  double seconds = 0; // of recomputing all of them

  std::string name() const { return foldedName(names); }
  std::string count() const {
    return ops.size() == all ? concat(all) : concat(ops.size(), " of ", all);
  }
};

} // namespace

// The name of the original op of a recomputed op; other ops keep their names.
static std::string originalName(const std::string &name) {
  return name.substr(0, name.rfind(", recomputed"));
}

// The name of a value in the model: `input of h.0.fc.weight`, or `output of h.0.fc.weight` for the
// result of the op that reads this parameter.
static std::string valueName(const plan::Decision &decision) {
  const std::string &place = decision.place();
  const bool isParameter = !place.empty() && place.find(" of ") == std::string::npos;
  return originalName(isParameter ? "output of " + place : rowName(decision));
}

static std::vector<Row> rowsOf(const plan::Plan &plan, const std::string &kind) {
  std::vector<Row> rows;
  std::map<std::string, size_t> index;
  std::map<std::string, std::set<std::string>> all; // ops by shape
  for (const plan::Decision &decision : plan.decisions()) {
    const std::string name = valueName(decision), op = originalName(decision.name()),
                      shape = nameShape(name);
    if (decision.kind() == "recompute" || decision.kind() == "kept")
      all[shape].insert(op);
    if (decision.kind() != kind)
      continue;
    auto [entry, isNew] = index.try_emplace(shape, rows.size());
    if (isNew)
      rows.push_back({.first = &decision});
    Row &row = rows[entry->second];
    row.names.push_back(name);
    row.ops.insert(op);
    row.bytes += decision.bytes();
    for (const plan::Alternative &alternative : decision.alternatives())
      row.seconds += std::abs(alternative.seconds());
  }
  for (const auto &[shape, row] : index)
    rows[row].all = all[shape].size();
  return rows;
}

// Why the value cannot be recomputed; empty if the only reason is its price, which other columns
// show.
static std::string reasonText(const plan::Decision &decision) {
  const std::string &reason = decision.reason();
  if (decision.choice().ends_with("recomputed")) // only kept values have this
    return "another result of the op is recomputed";
  const bool isPrice =
      reason.starts_with("recomputing it would take") || reason.starts_with("recomputing takes");
  return isPrice ? "" : reason;
}

// The seconds per GiB of the row: `14.5 ms`.
static std::string priceText(const Row &row) {
  constexpr double kGiB = 1 << 30;
  return row.bytes > 0 && row.seconds > 0 ? secondsText(row.seconds / double(row.bytes) * kGiB)
                                          : "";
}

std::string rematTable(const plan::Plan &plan, const std::string &kind) {
  const bool isRecomputed = kind == "recompute";
  Table table({isRecomputed ? "recomputed (activation checkpointing)" : "kept", ">values",
               isRecomputed ? ">not kept" : ">bytes", isRecomputed ? ">time" : ">time to recompute",
               ">per GiB", ""});
  for (const Row &row : rowsOf(plan, kind))
    table.add({row.name(), row.count(), row.bytes > 0 ? bytesText(row.bytes) : "",
               row.seconds > 0 ? secondsText(row.seconds) : "", priceText(row),
               reasonText(*row.first)});
  return table.isEmpty() ? "" : tableText(table);
}

std::string recomputationText(const plan::Plan &plan) {
  std::vector<Row> rows = rowsOf(plan, "recompute");
  size_t copies = 0;
  std::erase_if(rows, [&](const Row &row) {
    copies += row.first->is_of_parameters() ? row.names.size() : 0;
    return row.first->is_of_parameters();
  });
  const std::string ofCopies = copies == 0 ? ""
                               : copies == 1
                                   ? "a copy of a parameter is recomputed"
                                   : concat("copies of ", copies, " parameters are recomputed");
  if (rows.empty())
    return ofCopies;
  uint64_t bytes = 0;
  double seconds = 0;
  size_t count = 0;
  for (const Row &row : rows) {
    bytes += row.bytes;
    seconds += row.seconds;
    count += row.names.size();
  }
  const Row &largest = *std::ranges::max_element(rows, {}, &Row::bytes),
            &longest = *std::ranges::max_element(rows, {}, &Row::seconds);
  std::string text = concat("activation checkpointing of ", count,
                            count == 1 ? " value: " : " values: ", bytesText(bytes), " not kept, ",
                            secondsText(seconds), " more");
  if (rows.size() > 1)
    text += concat("; most bytes: ", largest.name(), " (", bytesText(largest.bytes), ")");
  if (&longest != &largest)
    text += concat("; most time: ", longest.name(), " (", secondsText(longest.seconds), ")");
  return ofCopies.empty() ? text : text + "; " + ofCopies;
}

} // namespace cleave::dump
