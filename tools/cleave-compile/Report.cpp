#include "Report.h"

#include "runtime/base/Units.h"
#include "tools/cleave-dump/Views.h"

#include <iostream>
#include <map>

using namespace cleave;

// Deep models give dozens of remarks of one kind: prints a few of each if the plan holds all of
// them or compilation failed. Warnings are always printed.
static constexpr int kShownPerKind = 3;

static void printRemarks(const std::vector<driver::Remark> &remarks, bool all, const char *where) {
  std::map<std::string, int> count;
  for (const driver::Remark &remark : remarks)
    if (all || ++count[remark.kind] <= kShownPerKind || remark.kind == "warning")
      std::cerr << remark.kind << ": " << remark.text << "\n";
  for (const auto &[kind, number] : count)
    if (number > kShownPerKind && kind != "warning")
      std::cerr << kind << ": " << number - kShownPerKind << " more" << where << "\n";
}

// Prints the planner's result if no plan file is written.
static void printDecision(const planner::Plan &plan) {
  if (plan.ops.empty())
    return;
  for (const std::string &mesh : plan.meshesTried)
    std::cerr << "mesh: " << mesh << "\n";
  std::cerr << "plan: mesh " << planner::str(plan.mesh) << ", " << secondsText(plan.seconds)
            << " per step, at least " << secondsText(plan.boundSeconds) << " on any plan: gap "
            << percentText(plan.gap) << "; " << bytesText(plan.peakBytes) << " of "
            << bytesText(plan.budgetBytes) << " per rank\n";
}

static void printVariants(const std::vector<driver::Variant> &variants) {
  for (const driver::Variant &variant : variants)
    std::cerr << "what-if: " << variant.change << ": " << variant.outcome
              << (variant.seconds > 0 ? ", " + secondsText(variant.seconds) : "") << "; "
              << variant.detail << "\n";
}

void compile::printReport(const driver::Compilation &compilation, bool succeeded) {
  bool wrotePlan = succeeded && compilation.options.stopAfter.empty();
  printRemarks(compilation.remarks, succeeded && !wrotePlan,
               wrotePlan ? "; cleave-dump --json lists all" : "");
  if (compilation.options.timing)
    for (const driver::PhaseTime &time : compilation.times)
      std::cerr << "phase " << time.phase << ": " << secondsText(time.seconds) << " (CPU "
                << secondsText(time.cpuSeconds) << ")\n";
  if (succeeded && !wrotePlan) {
    printDecision(compilation.decided);
    printVariants(compilation.variants);
  }
  if (wrotePlan)
    std::cout << dump::summary(compilation.plan, compilation.options.output);
}
