// See ExecutionProfile.h.
#include "runtime/executor/ExecutionProfile.h"

#include "runtime/artifact/Work.h"
#include "runtime/base/Table.h"
#include "runtime/base/Terminal.h"
#include "runtime/base/Units.h"

#include <algorithm>
#include <chrono>
#include <map>

namespace cleave::executor {
ExecutionProfile::ExecutionProfile(const plan::Plan &plan, const plan::Program &program, int steps)
    : plan_(plan), program_(program), perStep_(0) {
  for (const plan::ScheduleStep &step : program.schedule())
    perStep_ += size_t(program.segments(int(step.segment())).instructions_size());
  ring_.resize(std::max<size_t>(1, perStep_ * size_t(std::max(1, steps))));
}

double ExecutionProfile::now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void ExecutionProfile::beginStep(int64_t step) { step_ = step; }

void ExecutionProfile::record(uint32_t segment, uint32_t index, uint32_t slot, double begin,
                              double end) {
  ring_[count_++ % ring_.size()] = {
      .step = step_, .segment = segment, .index = index, .slot = slot, .begin = begin, .end = end};
}

std::vector<ExecutionProfile::Record> ExecutionProfile::records() const {
  const size_t kept = std::min(count_, ring_.size());
  std::vector<Record> records;
  for (size_t i = count_ - kept; i < count_; ++i)
    records.push_back(ring_[i % ring_.size()]);
  return records;
}

std::string ExecutionProfile::summary(size_t rows) const {
  struct Sum {
    size_t count = 0;
    double measured = 0, predicted = 0, flops = 0, bytes = 0;
    void add(const Sum &other) {
      count += other.count;
      measured += other.measured, predicted += other.predicted;
      flops += other.flops, bytes += other.bytes;
    }
  };
  std::map<std::string, Sum> sums;
  Sum all, rest;
  const std::vector<Record> kept = records();
  for (const Record &event : kept) {
    const plan::Instruction &what =
        program_.segments(int(event.segment)).instructions(int(event.index));
    const Sum one{1, event.end - event.begin, what.seconds(), artifact::flopsOf(program_, what),
                  artifact::bytesOf(plan_, program_, what)};
    sums[artifact::workKind(program_, what)].add(one);
    all.add(one);
  }
  std::vector<std::pair<std::string, Sum>> sorted(sums.begin(), sums.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) {
    return a.second.measured > b.second.measured;
  });
  if (sorted.size() > rows + 1) {
    for (size_t i = rows; i < sorted.size(); ++i)
      rest.add(sorted[i].second);
    const size_t count = sorted.size() - rows;
    sorted.resize(rows);
    sorted.emplace_back(concat("… ", count, " other kinds"), rest);
  }
  sorted.emplace_back("all", all);
  const double steps =
      std::max<double>(1, double(kept.size()) / double(std::max<size_t>(1, perStep_)));
  Table table(
      {"instructions", ">per step", ">measured", ">share", ">predicted", ">FLOP/s", ">B/s"});
  for (const auto &[kind, sum] : sorted) {
    const double rate = sum.measured > 0 ? 1 / sum.measured : 0;
    table.add({kind, std::to_string(int64_t(double(sum.count) / steps + 0.5)),
               secondsText(sum.measured / steps),
               percentText(all.measured > 0 ? sum.measured / all.measured : 0),
               secondsText(sum.predicted / steps), sum.flops ? countText(sum.flops * rate, "") : "",
               sum.bytes ? countText(sum.bytes * rate, "") : ""});
  }
  return table.str(2, terminalWidth());
}

} // namespace cleave::executor
