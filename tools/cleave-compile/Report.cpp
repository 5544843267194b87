#include "Report.h"

#include "compiler/cluster/Presets.h"
#include "runtime/base/Table.h"
#include "runtime/base/Terminal.h"
#include "runtime/base/Units.h"
#include "tools/cleave-dump/Views.h"
#include "tools/commandline/CommandLine.h"

#include <iostream>
#include <map>
#include <thread>
#include <unistd.h>

using namespace cleave;

// Which remarks are printed.
enum class Shown {
  Answers,    // warnings, hints and answers to options; the others are counted
  FewPerKind, // and the first of every kind
  All,
};

// Hints, and what the user asked for: what `least` and `auto` came to.
static bool isAnswer(const std::string &kind) {
  return kind == "hint" || kind == "memory" || kind == "ranks" || kind == "micro-batch" ||
         kind == "stages";
}

static void printRemark(const driver::Remark &remark) {
  const std::string head = remark.kind + ":";
  const std::string line =
      (remark.kind == "warning" ? styled(head, Style::Warning, Stream::Error) : head) + " " +
      remark.text;
  if (!::isatty(STDERR_FILENO)) {
    std::cerr << line << "\n";
    return;
  }
  for (const std::string &part : wrapped(line, terminalWidth()))
    std::cerr << part << "\n";
}

static void printRemarks(const std::vector<driver::Remark> &remarks, Shown shown) {
  constexpr int kPerKind = 3;
  std::map<std::string, int> count;
  size_t hidden = 0;
  for (const driver::Remark &remark : remarks)
    if (shown == Shown::All || remark.kind == "warning" || isAnswer(remark.kind) ||
        (++count[remark.kind] <= kPerKind && (shown == Shown::FewPerKind || remark.kind == "tied")))
      printRemark(remark);
    else
      ++hidden;
  if (hidden > 0)
    std::cerr << "note: " << hidden << " more remark" << (hidden == 1 ? "" : "s")
              << "; -v prints all\n";
}

// Prints the planner's result if no plan file is written. Of several stages, that of the slowest
// one, without the time in which it waits for others.
static void printDecision(const planner::PlanReport &plan, int64_t stages) {
  if (plan.ops.empty())
    return;
  for (const planner::TriedMesh &mesh : plan.meshesTried)
    std::cerr << "mesh: " << planner::text(mesh) << "\n";
  std::cerr << (stages > 1 ? "plan of the slowest stage: mesh " : "plan: mesh ") << plan.mesh.str()
            << ", " << secondsText(plan.seconds)
            << (stages > 1 ? " of work per step, at least " : " per step, at least ")
            << secondsText(plan.boundSeconds) << " on any plan: gap " << percentText(plan.gap)
            << "; " << bytesText(plan.peakBytes)
            << (plan.budget.isLimited() ? " of " + bytesText(plan.budget.bytes()) : "")
            << " per rank\n";
}

static void printVariants(const std::vector<driver::Variant> &variants) {
  for (const driver::Variant &variant : variants)
    std::cerr << "what-if: " << variant.change << ": " << variant.outcome
              << (variant.seconds > 0 ? ", " + secondsText(variant.seconds) : "") << "; "
              << variant.detail << "\n";
}

// A plan for this machine whose ranks outnumber its cores is slower than predicted.
static void printCrowd(const driver::CompileOptions &options) {
  const auto cores = static_cast<int64_t>(std::thread::hardware_concurrency()); // 0: unknown
  if (options.cluster == cluster::kLocalCpu && cores > 0 && options.ranks > cores)
    std::cerr << "note: " << options.ranks << " ranks would share " << cores
              << (cores == 1 ? " core" : " cores")
              << " of this machine, and take longer than predicted for a core per rank\n";
}

static Shown shownRemarks(bool succeeded, bool wrotePlan) {
  if (verbosity() == Verbosity::Verbose || (succeeded && !wrotePlan))
    return Shown::All;
  return wrotePlan ? Shown::Answers : Shown::FewPerKind;
}

void compile::printReport(const driver::Compilation &compilation, bool succeeded) {
  if (verbosity() == Verbosity::Quiet)
    return;
  const bool wrotePlan = succeeded && compilation.options.stopAfter.empty();
  printRemarks(compilation.remarks, shownRemarks(succeeded, wrotePlan));
  if (compilation.options.timing || verbosity() == Verbosity::Verbose)
    for (const driver::PhaseTime &time : compilation.times)
      std::cerr << "phase " << time.phase << ": " << secondsText(time.seconds) << " (CPU "
                << secondsText(time.cpuSeconds) << ")\n";
  if (succeeded && !wrotePlan) {
    printDecision(compilation.report, compilation.options.stages);
    printVariants(compilation.variants);
  }
  if (!wrotePlan)
    return;
  printCrowd(compilation.options);
  const std::string &path = compilation.options.output;
  std::cout << (verbosity() == Verbosity::Verbose ? dump::summary(compilation.plan, path)
                                                  : dump::brief(compilation.plan, path));
  if (verbosity() != Verbosity::Verbose)
    for (const std::string &line : wrapped("  cleave-dump " + path +
                                               " shows decisions, reasons and memory; --html FILE "
                                               "makes a page of them.",
                                           terminalWidth()))
      std::cout << line << "\n";
}

void compile::printResult(const std::string &result) {
  std::cerr << "note: " << result << std::endl;
}
