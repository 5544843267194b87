#include "Report.h"

#include "runtime/base/Units.h"
#include "tools/cleave-dump/Views.h"

#include <iostream>

using namespace cleave;

void printReport(const driver::Compilation &compilation, bool succeeded) {
  for (const driver::Remark &remark : compilation.remarks)
    std::cerr << remark.kind << ": " << remark.text << "\n";
  if (compilation.options.timing)
    for (const driver::PhaseTime &time : compilation.times)
      std::cerr << "phase " << time.phase << ": " << secondsText(time.seconds) << "\n";
  if (succeeded && compilation.options.stopAfter.empty())
    std::cout << dump::summary(compilation.plan, compilation.options.output);
}
