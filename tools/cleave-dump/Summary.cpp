// The default view: decisions and reasons, and their short form.
#include "runtime/artifact/Access.h"
#include "runtime/artifact/Modules.h"
#include "runtime/artifact/Verify.h"
#include "runtime/base/Units.h"
#include "tools/cleave-dump/ArenaUse.h"
#include "tools/cleave-dump/DecisionTables.h"
#include "tools/cleave-dump/PlanText.h"
#include "tools/cleave-dump/RematTables.h"
#include "tools/cleave-dump/Speed.h"
#include "tools/cleave-dump/Views.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace cleave::dump {

// Rows for the seconds of a step, its speed, and its bound.
static void addTime(Table &table, const plan::Plan &plan) {
  const plan::Prediction &p = plan.predicted();
  const std::string where =
      p.cluster().empty() ? ""
                          : concat(" (predicted for ", p.cluster(),
                                   p.is_calibrated() ? "" : ", never measured on this device", ")");
  const double overlapped = overlappedSeconds(p);
  if (p.step_seconds() > 0)
    table.add(
        {"step",
         concat(secondsText(p.step_seconds()), ": compute ", secondsText(p.compute_seconds()),
                ", communication ", secondsText(p.communication_seconds()),
                overlapped > 0 ? ", of which " + secondsText(overlapped) + " at the same time" : "",
                where)});
  if (const std::string speed = speedText(plan); !speed.empty())
    table.add({"speed", speed});
  if (p.planned_seconds() > 0)
    table.add({"bound", concat(boundText(plan), ": gap ", percentText(p.gap()))});
}

// The name of the split, and what every axis of the mesh splits, whatever its name. Stages whose
// splits differ have a row each.
static void addAxes(Table &table, const plan::Plan &plan) {
  const uint64_t stages = stageCount(plan);
  const std::string pipeline = stages > 1 ? concat("PP ", stages, " x ") : "";
  for (const plan::Decision &decision : plan.decisions())
    if (decision.kind() == "strategy")
      table.add({"strategy", concat(pipeline, decision.name(),
                                    decision.reason().empty() ? "" : ": ", decision.reason())});
  for (const plan::Decision &decision : plan.decisions())
    if (decision.kind() == "axis" && !decision.name().ends_with("=1"))
      table.add({decision.name(), decision.reason()});
}

// `cpu`, `cuda: sm_90`
static std::string deviceText(const plan::Plan &plan) {
  const std::string targets = artifact::targetsText(plan);
  return targets == plan.device() ? targets : plan.device() + ": " + targets;
}

// `75.0 GiB of 75.6 GiB per rank (binding, headroom 590 MiB)`; without a budget, the peak alone.
static std::string memoryText(const plan::Prediction &p) {
  if (p.budget_bytes() == 0)
    return bytesText(p.peak_bytes()) + " per rank";
  const uint64_t left = p.budget_bytes() - std::min(p.budget_bytes(), p.peak_bytes());
  return concat(bytesText(p.peak_bytes()), " of ", bytesText(p.budget_bytes()), " per rank (",
                p.is_memory_binding() ? "binding, " : "", "headroom ", bytesText(left), ")");
}

static std::string facts(const plan::Plan &plan) {
  const plan::Prediction &p = plan.predicted();
  Table table({"", ""});
  addTime(table, plan);
  addAxes(table, plan);
  if (const std::string text = recomputationText(plan); !text.empty())
    table.add({"recompute", text});
  if (plan.programs_size() > 0) {
    table.add({"device", deviceText(plan)});
    table.add({"work", countText(p.flops(), "FLOP") + ", recomputation included, and " +
                           bytesText(p.communication_bytes()) + " sent, per rank and step"});
  }
  table.add({"memory", memoryText(p)});
  if (plan.programs_size() > 0) {
    Status verified = artifact::verifyPlan(plan);
    table.add({"checked", verified ? "the verifier found no defect" : verified.message()});
  }
  if (!plan.command_line().empty())
    table.add({"made by", plan.producer() + ": " + plan.command_line()});
  return tableText(table);
}

// `parameter 1.2 MiB, activation 300 KiB, …`: the three largest roles.
static std::string rolesText(const ArenaUse &use) {
  std::vector<std::pair<plan::Role, uint64_t>> roles(use.roles.begin(), use.roles.end());
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
  for (const plan::Program &program : plan.programs())
    for (int a = 0; a < program.arenas_size(); ++a) {
      const plan::Arena &arena = program.arenas(a);
      uint64_t lost = arena.bytes() - std::min(arena.bytes(), arena.peak_bytes());
      table.add({ranksOf(program) + (isEvaluation(program) ? ", evaluation" : ""),
                 text(arena.space()), bytesText(arena.bytes()), bytesText(arena.peak_bytes()),
                 percentText(arena.bytes() ? double(lost) / double(arena.bytes()) : 0),
                 rolesText(arenaUse(program, a))});
    }
  return table.isEmpty() ? "" : "\n" + titled("Memory of one rank") + "\n" + tableText(table);
}

// `4 tried; the next best, dp=4, takes 13.1 ms`
static std::string meshesText(const plan::Plan &plan) {
  const plan::Decision *next = nullptr;
  size_t count = 0;
  for (const plan::Decision &decision : plan.decisions())
    if (decision.kind() == "mesh") {
      ++count;
      if (decision.choice() != "chosen" && decision.seconds() > 0 &&
          (!next || decision.seconds() < next->seconds()))
        next = &decision;
    }
  if (count < 2)
    return "";
  if (!next)
    return concat(count, " tried");
  return next->choice() == "at least"
             ? concat(count, " considered; ", next->name(), " takes at least ",
                      secondsText(next->seconds()), ", others more")
             : concat(count, " tried; the next best, ", next->name(), ", takes ",
                      secondsText(next->seconds()));
}

static size_t countOf(const plan::Plan &plan, const std::string &kind) {
  return std::ranges::count_if(
      plan.decisions(), [&](const plan::Decision &decision) { return decision.kind() == kind; });
}

std::string brief(const plan::Plan &plan, const std::string &path) {
  Table table({"", ""});
  addTime(table, plan);
  const ArenaUse use = arenaUse(programOf(plan, 0), 0);
  table.add({"memory", memoryText(plan.predicted()) + ": " + rolesText(use)});
  addAxes(table, plan);
  if (const std::string text = recomputationText(plan); !text.empty())
    table.add({"recompute", text});
  if (const std::string meshes = meshesText(plan); !meshes.empty())
    table.add({"meshes", meshes});
  if (const size_t count = countOf(plan, "what-if"))
    table.add({"what if", concat(count, " answers")});
  table.add({"device", deviceText(plan)});
  return titled(titleOf(plan, path)) + "\n" + tableText(table);
}

std::string summary(const plan::Plan &plan, const std::string &path, bool all) {
  const Rows rows = all ? Rows::All : Rows::Costliest;
  std::string collectives = collectiveTable(plan);
  if (!collectives.empty())
    collectives = "\n" + titled("Collectives of one step (rank 0)") + "\n" + collectives;
  return titled(titleOf(plan, path)) + "\n" + facts(plan) + memory(plan) + meshTable(plan) +
         decisionTables(plan, rows) + remarkList(plan, rows) + collectives;
}

} // namespace cleave::dump
