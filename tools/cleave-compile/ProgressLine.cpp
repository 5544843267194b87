#include "ProgressLine.h"

#include "runtime/base/Table.h"
#include "runtime/base/Terminal.h"

#include <iostream>
#include <unistd.h>

using namespace cleave;

namespace cleave::compile {

// The interval between updates, on a terminal and elsewhere. The first update comes after one
// interval.
constexpr std::chrono::milliseconds kRedrawn{500}, kNoted{10'000};

void ProgressLine::show(const std::string &text) {
  const bool isTerminal = ::isatty(STDERR_FILENO);
  const Clock::time_point now = Clock::now();
  if (now - shown_ < (isTerminal ? kRedrawn : kNoted))
    return;
  shown_ = now;
  if (!isTerminal) {
    std::cerr << "note: " << text << "\n";
    return;
  }
  clear();
  std::cerr << clipped(text, terminalWidth() - 1) << std::flush; // the cursor needs a column
  isShown_ = true;
}

void ProgressLine::clear() {
  if (isShown_)
    std::cerr << "\r\033[K" << std::flush;
  isShown_ = false;
}

} // namespace cleave::compile
