#include "Report.h"

#include "runtime/base/Units.h"
#include "tools/cleave-dump/Views.h"

#include <iostream>
#include <map>

using namespace cleave;

// Repairs of one kind come by the dozen in deep models: where a plan holds all of them, a few are shown here. Warnings are
// never left out.
static constexpr int kShownPerKind = 3;

static void printRemarks(const std::vector<driver::Remark> &remarks, bool planHoldsAll) {
  std::map<std::string, int> count;
  for (const driver::Remark &remark : remarks)
    if (++count[remark.kind] <= kShownPerKind || remark.kind == "warning" || !planHoldsAll)
      std::cerr << remark.kind << ": " << remark.text << "\n";
  for (const auto &[kind, number] : count)
    if (planHoldsAll && number > kShownPerKind && kind != "warning")
      std::cerr << kind << ": " << number - kShownPerKind << " more; cleave-dump --json lists all\n";
}

void printReport(const driver::Compilation &compilation, bool succeeded) {
  bool wrotePlan = succeeded && compilation.options.stopAfter.empty();
  printRemarks(compilation.remarks, wrotePlan);
  if (compilation.options.timing)
    for (const driver::PhaseTime &time : compilation.times)
      std::cerr << "phase " << time.phase << ": " << secondsText(time.seconds) << "\n";
  if (wrotePlan)
    std::cout << dump::summary(compilation.plan, compilation.options.output);
}
