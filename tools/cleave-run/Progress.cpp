// See Progress.h.
#include "tools/cleave-run/Progress.h"

#include "runtime/base/Concat.h"
#include "runtime/base/Table.h"
#include "runtime/base/Terminal.h"
#include "runtime/base/Units.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <unistd.h>

namespace cleave::run {

// Time between two redraws of the bar, and between two lines if standard error is not a terminal.
constexpr std::chrono::milliseconds kRedrawn{100}, kLogged{10'000};
Progress::Progress(int64_t first, int64_t count, const plan::Plan &plan, const RunData &data,
                   const Options &options, bool isFirst)
    : first_(first), count_(count), data_(data), speed_(plan, data),
      epochs_(options.epochs.value_or(0)), quiet_(options.quiet || options.generates || !isFirst),
      verbose_(options.verbose), terminal_(::isatty(STDOUT_FILENO)), begin_(Clock::now()),
      shown_(begin_) {}

Progress::~Progress() { finish(); }

void Progress::finish() {
  if (barShown_)
    std::puts("");
  barShown_ = false;
  std::fflush(stdout);
}

// `loss 1.2345`; without the sign of NaN.
static std::string numberText(const std::string &name, double value) {
  char text[64];
  std::snprintf(text, sizeof text, " %.5g", std::isnan(value) ? std::nan("") : value);
  return name + text;
}

std::vector<std::string> Progress::parts(int64_t done,
                                         const std::vector<executor::MetricValue> &metrics) const {
  std::vector<std::string> parts;
  for (const executor::MetricValue &metric : metrics)
    parts.push_back(numberText(metric.name, metric.value));
  // The speed excludes the first step, which includes page faults and cold caches.
  const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  const double perStep = done > 1 ? (seconds - firstStepSeconds_) / double(done - 1) : seconds;
  if (const int64_t left = count_ - done; left > 0)
    parts.push_back(secondsText(double(left) * perStep) + " left");
  parts.push_back(perStep < 1 ? countText(1 / perStep, "steps/s") : secondsText(perStep) + "/step");
  for (std::string &speed : speed_.texts(perStep))
    parts.push_back(std::move(speed));
  if (data_.hasEpochs()) {
    char epoch[64];
    std::snprintf(epoch, sizeof epoch, "epoch %.3g", data_.epochsAt(first_ + done));
    parts.push_back(epoch + (epochs_ ? concat('/', epochs_) : std::string()));
  }
  return parts;
}

// `12/200 steps  loss 1.2345  …`: the number of steps that are done, since step 0.
static void printLine(int64_t done, int64_t all, const std::vector<std::string> &parts) {
  std::string text = concat(done, '/', all, " steps");
  for (const std::string &part : parts)
    text += "  " + part;
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

void Progress::step(int64_t step, const std::vector<executor::MetricValue> &metrics) {
  int64_t done = step - first_ + 1;
  Clock::time_point now = Clock::now();
  if (done == 1)
    firstStepSeconds_ = std::chrono::duration<double>(now - begin_).count();
  if (quiet_)
    return;
  const bool isEnd = done == count_ || done == 1;
  const auto interval = terminal_ ? kRedrawn : kLogged;
  if (!isEnd && now - shown_ < interval && (terminal_ || !verbose_))
    return;
  shown_ = now;
  if (terminal_)
    return showBar(done, parts(done, metrics));
  printLine(first_ + done, first_ + count_, parts(done, metrics));
}

void Progress::evaluation(int64_t step, const std::vector<std::pair<std::string, double>> &numbers,
                          double seconds) {
  begin_ += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  if (quiet_)
    return;
  finish();
  std::vector<std::string> parts;
  for (const auto &[name, value] : numbers)
    parts.push_back(numberText(name, value));
  parts.push_back("in " + secondsText(seconds));
  printLine(step + 1, first_ + count_, parts);
}

void Progress::showBar(int64_t done, const std::vector<std::string> &parts) {
  constexpr size_t kBetween = 2, kShortest = 10, kLongest = 40;
  const size_t columns = terminalWidth() - 1; // the cursor needs one
  std::string text = concat(first_ + done, '/', first_ + count_);
  for (const std::string &part : parts) {
    if (displayWidth(text) + kBetween + displayWidth(part) > columns)
      break;
    text += "  " + part;
  }
  const size_t used = displayWidth(text) + 1;
  const size_t length = used + kShortest > columns ? 0 : std::min(columns - used, kLongest);
  const auto filled =
      static_cast<size_t>(double(length) * double(done) / double(std::max<int64_t>(1, count_)));
  std::string bar;
  for (size_t i = 0; i < length; ++i)
    bar += i < filled ? "█" : "░";
  std::printf("\r%s%s%s\x1b[K", bar.c_str(), length ? " " : "", text.c_str());
  std::fflush(stdout);
  barShown_ = true;
}

} // namespace cleave::run
