#include "passes/driver/WhatIf.h"

#include "compiler/planner/choices/Meshes.h"
#include "passes/driver/WaysOut.h"
#include "runtime/base/Units.h"

#include <algorithm>

namespace cleave::driver {

namespace {

class Questions {
public:
  Questions(Variants &variants, const CompileOptions &options, const planner::PlanReport &plan)
      : variants_(variants), options_(options), plan_(plan) {}

  Result<std::vector<Variant>> run() {
    CLEAVE_TRY(askMemory());
    CLEAVE_TRY(askRanks());
    CLEAVE_TRY(askMicroBatches());
    CLEAVE_TRY(askRecomputation());
    CLEAVE_TRY(askMesh());
    CLEAVE_TRY(askFreedom());
    return std::move(answers_);
  }

private:
  static std::string detailOf(const planner::PlanReport &plan) {
    std::string text = concat("mesh ", plan.mesh.str(), ", ",
                              bytesText(static_cast<uint64_t>(plan.arenaBytes)), " per rank");
    if (!plan.recomputed.empty())
      text += concat(", ", plan.recomputed.size(), " ops recomputed");
    return text;
  }

  // A variant that contradicts other options is left out.
  Status ask(const std::string &change, const CompileOptions &options) {
    const Result<planner::PlanReport> plan = variants_.plan(options);
    if (plan)
      answers_.push_back(
          {change, comparedTo(plan->seconds, plan_.seconds), plan->seconds, detailOf(*plan)});
    else if (plan.status().kind() == StatusKind::Infeasible)
      answers_.push_back({change, "does not fit", 0, plan.status().message()});
    else if (plan.status().kind() == StatusKind::Defect)
      return plan.status();
    return Status::ok();
  }

  Status askMemory() {
    CompileOptions options = options_;
    Result<planner::QuickPlan> quick = variants_.quick(options);
    if (quick && !plan_.budget.holds(quick->points[0].bytes) &&
        quick->points[0].seconds < plan_.seconds) {
      const int64_t bytes = quick->points[0].bytes;
      CLEAVE_TRY_ASSIGN(options.memory, parseBytes(memoryText(bytes)));
      CLEAVE_TRY(ask("--memory " + memoryText(bytes), options));
    }
    for (int64_t quarters : {3, 2}) {
      const std::string text = memoryText(plan_.arenaBytes / 4 * quarters);
      CLEAVE_TRY_ASSIGN(options.memory, parseBytes(text));
      CLEAVE_TRY(ask("--memory " + text, options));
    }
    return Status::ok();
  }

  Status askRanks() {
    CompileOptions options = options_;
    options.mesh.reset();
    for (int64_t ranks : {options_.ranks * 2, options_.ranks / 2}) {
      options.ranks = ranks;
      if (ranks > 0 && variants_.budget(options))
        CLEAVE_TRY(ask(concat("--ranks ", ranks), options));
    }
    return Status::ok();
  }

  Status askMicroBatches() {
    std::vector<OtherCount> others = otherCounts(options_);
    auto larger = std::find_if(others.begin(), others.end(), [&](const OtherCount &other) {
      return other.options.accumulate > options_.accumulate;
    });
    if (larger != others.end())
      CLEAVE_TRY(ask(larger->change, larger->options));
    if (larger != others.begin())
      CLEAVE_TRY(ask(std::prev(larger)->change, std::prev(larger)->options));
    return Status::ok();
  }

  // Recipes that can stand beside the pins that are given: files cannot be joined with them.
  Status askRecomputation() {
    CLEAVE_TRY_ASSIGN(planner::Pins pins, planner::Pins::parse(options_.pin));
    const bool isJoinable = !pins.recipe().isNone() || options_.pin.empty();
    if (!isJoinable || pins.recompute() != planner::Recompute::Free)
      return Status::ok();
    for (const char *recipe : {"no-recompute", "selective-recompute", "full-recompute"}) {
      if (plan_.recomputed.empty() && recipe == std::string("no-recompute"))
        continue; // the plan itself
      CompileOptions options = options_;
      options.pin += (options.pin.empty() ? "" : ",") + std::string(recipe);
      CLEAVE_TRY(ask("--pin " + options.pin, options));
    }
    return Status::ok();
  }

  // The mesh with the fastest quick plan that fits, apart from that of the plan.
  Status askMesh() {
    if (options_.mesh || !options_.pin.empty())
      return Status::ok();
    std::optional<std::pair<double, CompileOptions>> best;
    for (const Mesh &mesh : planner::meshesToTry({.ranks = options_.ranks})) {
      if (planner::haveEqualSizes(mesh, plan_.mesh))
        continue;
      CompileOptions options = options_;
      options.mesh = mesh;
      Result<planner::QuickPlan> quick = variants_.quick(options);
      const planner::QuickPoint *point = quick ? quick->within(plan_.budget) : nullptr;
      if (point && (!best || point->seconds < best->first))
        best.emplace(point->seconds, std::move(options));
    }
    return best ? ask("--mesh " + best->second.mesh->str(), best->second) : Status::ok();
  }

  Status askFreedom() {
    CompileOptions options = options_;
    options.pin.clear();
    if (!options_.pin.empty())
      CLEAVE_TRY(ask("no --pin", options));
    options.mesh.reset();
    if (options_.mesh)
      CLEAVE_TRY(ask(options_.pin.empty() ? "no --mesh" : "no --mesh and no --pin", options));
    return Status::ok();
  }

  Variants &variants_;
  const CompileOptions &options_;
  const planner::PlanReport &plan_;
  std::vector<Variant> answers_;
};

} // namespace

Result<std::vector<Variant>> whatIf(Variants &variants, const CompileOptions &options,
                                    const planner::PlanReport &plan) {
  return Questions(variants, options, plan).run();
}

} // namespace cleave::driver
