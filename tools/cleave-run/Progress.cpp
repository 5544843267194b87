// See Progress.h.
#include "tools/cleave-run/Progress.h"

#include "runtime/base/Concat.h"
#include "runtime/base/Units.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>

namespace cleave::run {
namespace {

int terminalWidth() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

} // namespace

Progress::Progress(int64_t first, int64_t count, const plan::Plan &plan, const RunData &data,
                   int64_t epochs, bool quiet)
    : first_(first), count_(count), data_(data), speed_(plan, data), epochs_(epochs), quiet_(quiet),
      terminal_(::isatty(STDOUT_FILENO)), begin_(Clock::now()), shown_(begin_) {}

Progress::~Progress() { finish(); }

void Progress::finish() {
  if (barShown_)
    std::puts("");
  barShown_ = false;
  std::fflush(stdout);
}

std::string Progress::numbers(int64_t done,
                              const std::vector<executor::MetricValue> &metrics) const {
  std::string text;
  char number[64];
  if (data_.hasEpochs()) {
    std::snprintf(number, sizeof number, "epoch %.3g", data_.epochsAt(first_ + done));
    text += number + (epochs_ ? concat('/', epochs_, "  ") : std::string("  "));
  }
  for (const executor::MetricValue &metric : metrics) {
    // Without the sign of NaN.
    const double value = std::isnan(metric.value) ? std::nan("") : metric.value;
    std::snprintf(number, sizeof number, " %.5g  ", value);
    text += metric.name + number;
  }
  // The speed excludes the first step, which includes page faults and cold caches.
  double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  double perStep = done > 1 ? (seconds - firstStepSeconds_) / double(done - 1) : seconds;
  if (perStep < 1)
    std::snprintf(number, sizeof number, "%.3g steps/s", 1 / perStep);
  else
    std::snprintf(number, sizeof number, "%s/step", secondsText(perStep).c_str());
  text += number;
  for (const std::string &speed : speed_.texts(perStep))
    text += "  " + speed;
  if (int64_t left = count_ - done; left > 0)
    text += "  " + secondsText(double(left) * perStep) + " left";
  return text;
}

void Progress::step(int64_t step, const std::vector<executor::MetricValue> &metrics) {
  int64_t done = step - first_ + 1;
  Clock::time_point now = Clock::now();
  if (done == 1)
    firstStepSeconds_ = std::chrono::duration<double>(now - begin_).count();
  if (quiet_)
    return;
  bool last = done == count_;
  if (terminal_) {
    if (last || done == 1 || now - shown_ > std::chrono::milliseconds(100)) {
      shown_ = now;
      showBar(done, numbers(done, metrics));
    }
    return;
  }
  int64_t every = std::max<int64_t>(1, count_ / 20);
  if (last || done == 1 || done % every == 0) {
    std::printf("step %lld/%lld  %s\n", static_cast<long long>(step + 1),
                static_cast<long long>(first_ + count_), numbers(done, metrics).c_str());
    std::fflush(stdout);
  }
}

void Progress::evaluation(int64_t step, const std::vector<std::pair<std::string, double>> &numbers,
                          double seconds) {
  begin_ += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  if (quiet_)
    return;
  finish();
  std::string text;
  char number[64];
  for (const auto &[name, value] : numbers) {
    std::snprintf(number, sizeof number, " %.5g  ", value);
    text += name + number;
  }
  std::printf("step %lld/%lld  %sin %s\n", static_cast<long long>(step + 1),
              static_cast<long long>(first_ + count_), text.c_str(), secondsText(seconds).c_str());
  std::fflush(stdout);
}

void Progress::showBar(int64_t done, const std::string &numbers) {
  std::string ends = concat(first_ + done, '/', first_ + count_);
  int room = terminalWidth() - int(ends.size() + numbers.size()) - 6;
  int width = std::clamp(room, 0, 40);
  int filled = int(double(width) * double(done) / double(std::max<int64_t>(1, count_)));
  std::string bar;
  for (int i = 0; i < width; ++i)
    bar += i < filled ? "█" : "░";
  std::printf("\r%s %s %s\x1b[K", bar.c_str(), ends.c_str(), numbers.c_str());
  std::fflush(stdout);
  barShown_ = true;
}

} // namespace cleave::run
