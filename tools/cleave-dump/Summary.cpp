// The default view: decisions and reasons on one screen.
#include "runtime/artifact/Access.h"
#include "runtime/artifact/Modules.h"
#include "runtime/artifact/Verify.h"
#include "runtime/base/Table.h"
#include "runtime/base/Units.h"
#include "tools/cleave-dump/Fold.h"
#include "tools/cleave-dump/PlanText.h"
#include "tools/cleave-dump/Timeline.h"
#include "tools/cleave-dump/Views.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace cleave::dump {

// Rows printed per kind of decision; the rest is counted.
static constexpr size_t kRows = 20;

static std::string prediction(const plan::Plan &plan) {
  const plan::Prediction &p = plan.predicted();
  Table table({"", ""});
  table.add({"step", secondsText(p.step_seconds()) + ": compute " +
                         secondsText(p.compute_seconds()) + ", communication " +
                         secondsText(p.communication_seconds()) +
                         (p.cluster().empty() ? "" : " (predicted for " + p.cluster() + ")")});
  table.add({"bound", "no plan takes less than " + secondsText(p.bound_seconds()) +
                          "; this one takes " + secondsText(p.planned_seconds()) +
                          " in the planner's model: gap " + percentText(p.gap())});
  table.add({"device", plan.device() + ": " + artifact::targetsText(plan)});
  table.add({"work", countText(p.flops(), "FLOP") + " and " + bytesText(p.communication_bytes()) +
                         " sent, per rank and step"});
  table.add({"memory", bytesText(p.peak_bytes()) + " at the peak of the fullest rank"});
  Status verified = artifact::verifyPlan(plan);
  table.add({"checked", verified ? "valid (verifier)" : verified.message()});
  if (!plan.command_line().empty())
    table.add({"made by", plan.producer() + ": " + plan.command_line()});
  return table.str(2, lineWidth());
}

// `parameter 1.2 MiB, activation 300 KiB, …`: the three largest roles.
static std::string rolesText(const Timeline &timeline) {
  std::vector<std::pair<plan::Role, uint64_t>> roles(timeline.roles.begin(), timeline.roles.end());
  std::stable_sort(roles.begin(), roles.end(),
                   [](const auto &a, const auto &b) { return a.second > b.second; });
  std::string result;
  for (size_t i = 0; i < std::min<size_t>(3, roles.size()); ++i)
    if (roles[i].second)
      result += (i ? ", " : "") + text(roles[i].first) + " " + bytesText(roles[i].second);
  return roles.size() > 3 ? result + ", …" : result;
}

static std::string memory(const plan::Plan &plan) {
  Table table({"ranks", "arena", ">allocated", ">peak", ">lost to placement", "at the peak"});
  for (int p = 0; p < plan.programs_size(); ++p) {
    const plan::Program &program = plan.programs(p);
    for (int a = 0; a < program.arenas_size(); ++a) {
      const plan::Arena &arena = program.arenas(a);
      uint64_t lost = arena.bytes() - std::min(arena.bytes(), arena.peak_bytes());
      table.add({ranksOf(plan, p), text(arena.space()), bytesText(arena.bytes()),
                 bytesText(arena.peak_bytes()),
                 percentText(arena.bytes() ? double(lost) / double(arena.bytes()) : 0),
                 rolesText(timelineOf(program, a))});
    }
  }
  return table.isEmpty() ? "" : "\nMemory of one rank\n" + table.str(2, lineWidth());
}

namespace {

// Decisions whose names differ only in numbers.
struct Group {
  const plan::Decision *first;
  std::vector<std::string> names;
  double seconds = 0;
};

} // namespace

// Decisions of one shape and choice share a row, with the sum of their seconds. Answers to what-if
// are steps of their own, whose seconds do not add up: each has a row.
static std::vector<Group> groups(const plan::Plan &plan, const std::string &kind) {
  const bool addUp = kind != "what-if";
  std::vector<Group> result;
  std::map<std::pair<std::string, std::string>, size_t> index;
  for (const plan::Decision &decision : plan.decisions()) {
    if (decision.kind() != kind)
      continue;
    auto [entry, isNew] = index.try_emplace(
        {addUp ? nameShape(decision.name()) : decision.name(), decision.choice()}, result.size());
    if (isNew)
      result.push_back({&decision, {}});
    Group &group = result[entry->second];
    group.names.push_back(decision.name());
    group.seconds += decision.seconds();
  }
  return result;
}

// Drops the cheapest groups and keeps the order of the rest.
static std::vector<Group> costliest(std::vector<Group> all) {
  if (all.size() <= kRows)
    return all;
  std::vector<size_t> order(all.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return all[a].seconds > all[b].seconds; });
  order.resize(kRows);
  std::sort(order.begin(), order.end());
  std::vector<Group> kept;
  for (size_t i : order)
    kept.push_back(std::move(all[i]));
  return kept;
}

static std::string decisionTable(const plan::Plan &plan, const std::string &kind) {
  std::vector<Group> all = groups(plan, kind);
  std::vector<Group> shown = costliest(all);
  Table table({kind, "choice", ">cost", "why"});
  for (const Group &group : shown) {
    std::string count = group.names.size() > 1 ? concat(" x", group.names.size()) : "";
    table.add({shortened(foldedName(group.names), 40) + count, shortened(group.first->choice(), 28),
               group.seconds != 0 ? secondsText(group.seconds) : "", group.first->reason()});
  }
  std::string rest;
  if (shown.size() < all.size())
    rest = concat("  … and ", all.size() - shown.size(), " cheaper rows: see --json\n");
  return "\n" + table.str(2, lineWidth()) + rest;
}

// One line per remark; of each kind, only the first few.
static std::string remarks(const plan::Plan &plan) {
  constexpr int shownPerKind = 4;
  std::map<std::string, int> count;
  std::string out;
  for (const plan::Decision &decision : plan.decisions())
    if (decision.kind() == "remark" && ++count[decision.name()] <= shownPerKind)
      out += "  * " + (decision.name().empty() ? "" : decision.name() + ": ") +
             (decision.choice().empty() ? "" : decision.choice() + " ") + decision.reason() + "\n";
  for (const auto &[kind, number] : count)
    if (number > shownPerKind)
      out += concat("  * ", kind, ": ", number - shownPerKind, " more: see --json\n");
  return (out.empty() ? "" : "\nRemarks\n") + out;
}

static std::string decisions(const plan::Plan &plan) {
  std::vector<std::string> kinds;
  std::string result;
  for (const plan::Decision &decision : plan.decisions())
    if (decision.kind() != "remark" && decision.kind() != "kept" && // --memory lists what is kept
        std::find(kinds.begin(), kinds.end(), decision.kind()) == kinds.end())
      kinds.push_back(decision.kind());
  for (const std::string &kind : kinds)
    result += decisionTable(plan, kind);
  if (!kinds.empty())
    result = "\nDecisions" + result + "  (--explain NAME lists the alternatives)\n";
  return result + remarks(plan);
}

// The collectives of rank 0; those of one kind and group share a row.
static std::string collectives(const plan::Plan &plan) {
  struct Row {
    uint64_t count = 0, tensors = 0, bytes = 0;
    double seconds = 0;
  };
  const plan::Program &program = programOf(plan, 0);
  std::map<std::tuple<int, std::string, std::string>, Row> rows;
  for (int s = 0; s < program.segments_size(); ++s) {
    uint64_t runs = runsPerStep(program, s);
    for (const plan::Instruction &instruction : program.segments(s).instructions()) {
      if (!instruction.has_collective())
        continue;
      const plan::Collective &collective = instruction.collective();
      Row &row =
          rows[{s, artifact::kindName(collective.kind()), axesText(plan, collective.axes())}];
      row.count += runs;
      row.tensors += runs * std::max(collective.send_size(), collective.recv_size());
      row.bytes += runs * collectiveBytes(program, collective);
      row.seconds += double(runs) * instruction.seconds();
    }
  }
  Table table({"segment", "collective", "over", ">calls", ">tensors", ">bytes", ">predicted"});
  for (const auto &[key, row] : rows)
    table.add({program.segments(std::get<0>(key)).name(), std::get<1>(key), std::get<2>(key),
               std::to_string(row.count), std::to_string(row.tensors), bytesText(row.bytes),
               secondsText(row.seconds)});
  return table.isEmpty() ? "" : "\nCollectives of one step (rank 0)\n" + table.str(2, lineWidth());
}

std::string summary(const plan::Plan &plan, const std::string &path) {
  return titleOf(plan, path) + "\n" + prediction(plan) + memory(plan) + decisions(plan) +
         collectives(plan);
}

} // namespace cleave::dump
