// ProgressLine: the progress of a long compilation on standard error. On a terminal one line is
// written over again and again; elsewhere a note appears every ten seconds.
#pragma once

#include <chrono>
#include <string>

namespace cleave::compile {

class ProgressLine {
public:
  ~ProgressLine() { clear(); }

  // Shows the text, unless another one has just been shown.
  void show(const std::string &text);
  // Removes the line, to be called before anything else is written to standard error.
  void clear();

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point shown_ = Clock::now();
  bool isShown_ = false;
};

} // namespace cleave::compile
