// --diff: two plans side by side. Rows are sorted by the size of their difference, and state their
// share of the sum of all differences.
#include "runtime/artifact/Access.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/base/Concat.h"
#include "runtime/base/Fold.h"
#include "runtime/base/Table.h"
#include "runtime/base/Units.h"
#include "tools/cleave-dump/ArenaUse.h"
#include "tools/cleave-dump/PlanText.h"
#include "tools/cleave-dump/Views.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>

namespace cleave::dump {

namespace {

constexpr size_t kRows = 12; // per table

// What one row is about, in both plans.
struct Sides {
  std::vector<std::string> names[2]; // that are folded into the row
  double amount[2] = {0, 0};         // seconds or bytes
  uint64_t count[2] = {0, 0}, bytes[2] = {0, 0};

  double difference() const { return amount[1] - amount[0]; }
  std::string name() const {
    return foldedName(names[0].size() >= names[1].size() ? names[0] : names[1]);
  }
};

using ComparedRows = std::map<std::string, Sides>;

// The rows that differ, largest first, and the sum of all differences.
struct Ranked {
  std::vector<std::pair<std::string, const Sides *>> rows;
  double total = 0;
};

Ranked ranked(const ComparedRows &rows) {
  Ranked result;
  double most = 0;
  for (const auto &[key, sides] : rows)
    most = std::max({most, sides.amount[0], sides.amount[1]});
  for (const auto &[key, sides] : rows)
    if (std::abs(sides.difference()) > 1e-9 * most) { // else rounding
      result.rows.emplace_back(key, &sides);
      result.total += std::abs(sides.difference());
    }
  std::stable_sort(result.rows.begin(), result.rows.end(), [](const auto &a, const auto &b) {
    return std::abs(a.second->difference()) > std::abs(b.second->difference());
  });
  return result;
}

std::string signedSeconds(double seconds) {
  return (seconds >= 0 ? "+" : "") + secondsText(seconds);
}

std::string signedBytes(double bytes) {
  return (bytes >= 0 ? "+" : "-") + bytesText(static_cast<uint64_t>(std::abs(bytes)));
}

// `+12.0 %`, relative to the first.
std::string changeText(double before, double after) {
  if (before == after)
    return "";
  return before > 0 ? (after > before ? "+" : "-") + percentText(std::abs(after / before - 1)) : "";
}

// The rows of the table that are shown; the rest is counted.
std::string tableOf(const std::string &title, const Ranked &found, Table table,
                    void (*add)(Table &, const Sides &, const std::string &share)) {
  if (found.rows.empty())
    return "";
  for (size_t i = 0; i < std::min(kRows, found.rows.size()); ++i) {
    const Sides &sides = *found.rows[i].second;
    add(table, sides, percentText(std::abs(sides.difference()) / found.total));
  }
  std::string text = "\n" + titled(title) + "\n" + tableText(table);
  if (found.rows.size() > kRows)
    text += concat("  … and ", found.rows.size() - kRows, " rows with smaller differences\n");
  return text;
}

// -- the whole plans ------------------------------------------------------------------------------

// The path, or the end of a long one.
std::string shortPath(const std::string &path) {
  constexpr size_t kLongest = 30;
  return path.size() <= kLongest ? path : "…" + path.substr(path.size() - kLongest + 1);
}

std::string costs(const plan::Plan &before, const plan::Plan &after, const std::string &pathBefore,
                  const std::string &pathAfter) {
  Table table({"", ">" + shortPath(pathBefore), ">" + shortPath(pathAfter), ">change"});
  const plan::Prediction &a = before.predicted(), &b = after.predicted();
  auto seconds = [&](const char *name, double x, double y) {
    table.add({name, secondsText(x), secondsText(y), changeText(x, y)});
  };
  auto bytes = [&](const char *name, uint64_t x, uint64_t y) {
    table.add({name, bytesText(x), bytesText(y),
               changeText(static_cast<double>(x), static_cast<double>(y))});
  };
  seconds("step", a.step_seconds(), b.step_seconds());
  seconds("compute", a.compute_seconds(), b.compute_seconds());
  seconds("communication", a.communication_seconds(), b.communication_seconds());
  seconds("no plan takes less than", a.bound_seconds(), b.bound_seconds());
  bytes("memory of one rank", a.peak_bytes(), b.peak_bytes());
  bytes("sent by one rank", a.communication_bytes(), b.communication_bytes());
  table.add({"mesh", meshText(before), meshText(after), ""});
  table.add({"ranks", concat(artifact::rankCount(before)), concat(artifact::rankCount(after)), ""});
  table.add({"predicted for", a.cluster(), b.cluster(), ""});
  return tableText(table);
}

// -- time -----------------------------------------------------------------------------------------

// `all-reduce over dp` or `matmul`
std::string kindText(const plan::Plan &plan, const plan::Instruction &instruction) {
  if (!instruction.has_collective())
    return artifact::kindName(instruction);
  return artifact::kindName(instruction.collective()) + std::string(" over ") +
         axesText(plan, instruction.collective().axes());
}

// Calls `visit` with every instruction of rank 0 and how often a step runs it.
template <typename Visit> void forEachInstruction(const plan::Plan &plan, Visit visit) {
  const plan::Program &program = programOf(plan, 0);
  for (int s = 0; s < program.segments_size(); ++s)
    for (const plan::Instruction &instruction : program.segments(s).instructions())
      visit(program, instruction, runsOf(program, s));
}

// By the names of instructions, those of repeated blocks together.
void addTimes(ComparedRows &rows, const plan::Plan &plan, int side) {
  forEachInstruction(plan, [&](const plan::Program &, const plan::Instruction &instruction,
                               uint64_t runs) {
    Sides &sides = rows[nameShape(instruction.name()) + " " + kindText(plan, instruction)];
    const std::string kind = "(" + kindText(plan, instruction) + ")",
                      name = instruction.name().empty() ? kind : instruction.name() + " " + kind;
    sides.names[side].push_back(name);
    sides.amount[side] += double(runs) * instruction.seconds();
  });
}

void addCollectives(ComparedRows &rows, const plan::Plan &plan, int side) {
  forEachInstruction(
      plan, [&](const plan::Program &program, const plan::Instruction &instruction, uint64_t runs) {
        if (!instruction.has_collective())
          return;
        const plan::Collective &collective = instruction.collective();
        const std::string key = kindText(plan, instruction) + " (" +
                                std::to_string(ranksAlong(plan, collective.axes())) + " ranks)";
        Sides &sides = rows[key];
        sides.names[side] = {key};
        sides.amount[side] += double(runs) * instruction.seconds();
        sides.count[side] += runs;
        sides.bytes[side] += runs * collectiveBytes(program, collective);
      });
}

std::string times(const plan::Plan &before, const plan::Plan &after) {
  ComparedRows rows;
  addTimes(rows, before, 0);
  addTimes(rows, after, 1);
  return tableOf("Instructions whose seconds differ", ranked(rows),
                 Table({"for", ">before", ">after", ">change", ">share"}),
                 [](Table &table, const Sides &sides, const std::string &share) {
                   table.add({sides.name(), secondsText(sides.amount[0]),
                              secondsText(sides.amount[1]), signedSeconds(sides.difference()),
                              share});
                 });
}

std::string collectives(const plan::Plan &before, const plan::Plan &after) {
  ComparedRows rows;
  addCollectives(rows, before, 0);
  addCollectives(rows, after, 1);
  return tableOf("Collectives that differ (rank 0)", ranked(rows),
                 Table({"collective", ">calls", ">then", ">bytes", ">then", ">change", ">share"}),
                 [](Table &table, const Sides &sides, const std::string &share) {
                   table.add({sides.name(), concat(sides.count[0]), concat(sides.count[1]),
                              bytesText(sides.bytes[0]), bytesText(sides.bytes[1]),
                              signedSeconds(sides.difference()), share});
                 });
}

// -- memory ---------------------------------------------------------------------------------------

// Buffers at the peak of rank 0's first arena.
void addPeak(ComparedRows &rows, const plan::Plan &plan, int side) {
  const plan::Program &program = programOf(plan, 0);
  for (int b : arenaUse(program, 0).atPeak) {
    const plan::Buffer &buffer = program.buffers(b);
    Sides &sides = rows[text(buffer.role()) + " " + nameShape(buffer.name())];
    sides.names[side].push_back(buffer.name() + " (" + text(buffer.role()) + ")");
    sides.amount[side] += static_cast<double>(buffer.bytes());
  }
}

std::string peak(const plan::Plan &before, const plan::Plan &after) {
  ComparedRows rows;
  addPeak(rows, before, 0);
  addPeak(rows, after, 1);
  return tableOf("Buffers at the peak that differ", ranked(rows),
                 Table({"buffers", ">before", ">after", ">change", ">share"}),
                 [](Table &table, const Sides &sides, const std::string &share) {
                   table.add({sides.name(), bytesText(static_cast<uint64_t>(sides.amount[0])),
                              bytesText(static_cast<uint64_t>(sides.amount[1])),
                              signedBytes(sides.difference()), share});
                 });
}

// -- layouts and recomputation --------------------------------------------------------------------

struct Change {
  std::vector<std::string> names;
  std::string before, after;
  double weight = 0; // bytes or seconds that depend on it
};

// The names and numbers of one kind of change: equal changes of repeated blocks share a row.
using Changes = std::map<std::tuple<std::string, std::string, std::string>, Change>;

void addChange(Changes &changes, const std::string &name, const std::string &before,
               const std::string &after, double weight) {
  if (before == after)
    return;
  Change &change = changes[{nameShape(name), before, after}];
  change.names.push_back(name);
  change.before = before;
  change.after = after;
  change.weight += weight;
}

std::string changesText(const std::string &title, const char *what, const char *heading,
                        const Changes &changes, std::string (*weightText)(double)) {
  std::vector<const Change *> order;
  for (const auto &[key, change] : changes)
    order.push_back(&change);
  std::stable_sort(order.begin(), order.end(), [](const Change *a, const Change *b) {
    return std::abs(a->weight) > std::abs(b->weight);
  });
  Table table({what, "before", "after", std::string(">") + heading});
  for (size_t i = 0; i < std::min(kRows, order.size()); ++i) {
    const Change &change = *order[i];
    const std::string count = change.names.size() > 1 ? concat(" x", change.names.size()) : "";
    table.add(
        {foldedName(change.names) + count, change.before, change.after, weightText(change.weight)});
  }
  if (table.isEmpty())
    return "";
  std::string text = "\n" + titled(title) + "\n" + tableText(table);
  return order.size() > kRows ? text + concat("  … and ", order.size() - kRows, " more rows\n")
                              : text;
}

// `[dp=4, _]`: axes with the number of ranks that they have, which may differ between the plans.
std::string sizedLayout(const plan::Plan &plan, const plan::Tensor &tensor) {
  std::string result;
  for (int d = 0; d < tensor.shape_size(); ++d) {
    const bool isSplit = d < tensor.sharding_size() && tensor.sharding(d).axes_size() > 0;
    result += (d ? ", " : "") + (isSplit ? concat(axesText(plan, tensor.sharding(d).axes()), "=",
                                                  ranksAlong(plan, tensor.sharding(d).axes()))
                                         : "_");
  }
  return "[" + result + "]";
}

std::string layouts(const plan::Plan &before, const plan::Plan &after) {
  std::map<std::string, const plan::Tensor *> old;
  for (const plan::Tensor &tensor : before.tensors())
    old[tensor.name()] = &tensor;
  Changes changes;
  for (const plan::Tensor &tensor : after.tensors())
    if (auto found = old.find(tensor.name()); found != old.end())
      addChange(changes, tensor.name(), sizedLayout(before, *found->second),
                sizedLayout(after, tensor),
                static_cast<double>(blockBytes(after, tensor)) -
                    static_cast<double>(blockBytes(before, *found->second)));
  return changesText("Layouts that differ", "tensors", "one rank holds", changes, signedBytes);
}

// The name of the op that a recomputed op stands for.
std::string originOf(std::string name) {
  constexpr std::string_view kSuffix = ", recomputed";
  if (name.ends_with(kSuffix))
    name.resize(name.size() - kSuffix.size());
  return name;
}

// Per name the recompute decision on the value, and the seconds of recomputing it.
std::map<std::string, std::pair<std::string, double>> rematsOf(const plan::Plan &plan) {
  std::map<std::string, std::pair<std::string, double>> remats;
  for (const plan::Decision &decision : plan.decisions())
    if (decision.kind() == "recompute")
      remats[originOf(decision.name())] = {"recomputed", decision.seconds()};
    else if (decision.kind() == "kept")
      remats.try_emplace(decision.name(), "kept", 0);
  return remats;
}

std::string recomputation(const plan::Plan &before, const plan::Plan &after) {
  auto old = rematsOf(before), now = rematsOf(after);
  for (const auto &[name, remat] : old)
    now.try_emplace(name, "not kept", 0);
  Changes changes;
  for (const auto &[name, remat] : now) {
    const std::pair<std::string, double> &was = old.try_emplace(name, "not kept", 0).first->second;
    addChange(changes, name, was.first, remat.first, remat.second - was.second);
  }
  return changesText("Recomputation that differs: what the backward pass reads", "values", "takes",
                     changes, signedSeconds);
}

} // namespace

std::string diffView(const plan::Plan &before, const std::string &pathBefore,
                     const plan::Plan &after, const std::string &pathAfter) {
  std::string text = costs(before, after, pathBefore, pathAfter);
  if (before.source().sha256() != after.source().sha256())
    text += "  The plans are for different model files: names may not mean the same.\n";
  const std::string parts = times(before, after) + collectives(before, after) +
                            layouts(before, after) + recomputation(before, after) +
                            peak(before, after);
  return text +
         (parts.empty() ? "\nNo instruction, layout, recomputation or buffer differs.\n" : parts);
}

} // namespace cleave::dump
