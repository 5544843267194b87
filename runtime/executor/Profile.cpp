// See Profile.h.
#include "runtime/executor/Profile.h"

#include "runtime/artifact/Access.h"
#include "runtime/base/Table.h"
#include "runtime/base/Units.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

namespace cleave::executor {
namespace {

// A few kinds to sum up by: what a kernel or library call is, not where it stands.
std::string kindOf(const plan::Program &program, const plan::Instruction &instruction) {
  if (instruction.has_launch())
    return "kernel " + program.kernels(int(instruction.launch().kernel())).symbol();
  if (instruction.has_convolution())
    return "convolution " + plan::Convolution::Kind_Name(instruction.convolution().kind());
  return artifact::kindName(instruction);
}

} // namespace

Profile::Profile(const plan::Program &program, uint32_t rank, int steps)
    : program_(program), rank_(rank), perStep_(0) {
  for (const plan::ScheduleStep &step : program.schedule())
    perStep_ += size_t(program.segments(int(step.segment())).instructions_size());
  ring_.resize(std::max<size_t>(1, perStep_ * size_t(std::max(1, steps))));
}

double Profile::now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void Profile::beginStep(int64_t step) { step_ = step; }

void Profile::record(uint32_t segment, uint32_t index, uint32_t slot, double begin, double end) {
  ring_[count_++ % ring_.size()] = {step_, segment, index, slot, begin, end};
}

std::string Profile::events() const {
  std::string text;
  auto add = [&](const nlohmann::json &event) {
    text += (text.empty() ? "" : ",\n") + event.dump();
  };
  add({{"ph", "M"},
       {"name", "process_name"},
       {"pid", rank_},
       {"args", {{"name", "rank " + std::to_string(rank_)}}}});
  for (int track = 0; track < 2; ++track)
    add({{"ph", "M"},
         {"name", "thread_name"},
         {"pid", rank_},
         {"tid", track},
         {"args", {{"name", track ? "predicted" : "measured"}}}});
  size_t kept = std::min(count_, ring_.size());
  double predictedEnd = 0;
  for (size_t i = count_ - kept; i < count_; ++i) {
    const Event &event = ring_[i % ring_.size()];
    const plan::Instruction &what =
        program_.segments(int(event.segment)).instructions(int(event.index));
    nlohmann::json entry = {{"ph", "X"},
                            {"pid", rank_},
                            {"tid", 0},
                            {"name", what.name().empty() ? artifact::kindName(what) : what.name()},
                            {"cat", artifact::kindName(what)},
                            {"ts", event.begin * 1e6},
                            {"dur", (event.end - event.begin) * 1e6},
                            {"args",
                             {{"kind", kindOf(program_, what)},
                              {"segment", program_.segments(int(event.segment)).name()},
                              {"slot", event.slot},
                              {"step", event.step},
                              {"predicted_us", what.seconds() * 1e6}}}};
    add(entry);
    // The prediction on a track of its own: each begins where the one before was predicted to end,
    // and a step where it was measured to.
    bool firstOfStep = i == count_ - kept || ring_[(i - 1) % ring_.size()].step != event.step;
    double begin = firstOfStep ? event.begin : predictedEnd;
    predictedEnd = begin + what.seconds();
    entry["tid"] = 1;
    entry["ts"] = begin * 1e6;
    entry["dur"] = what.seconds() * 1e6;
    if (what.seconds() > 0)
      add(entry);
  }
  return text;
}

std::string Profile::summary() const {
  struct Sum {
    size_t count = 0;
    double measured = 0, predicted = 0;
  };
  std::map<std::string, Sum> sums;
  size_t kept = std::min(count_, ring_.size());
  double total = 0;
  for (size_t i = 0; i < kept; ++i) {
    const Event &event = ring_[i];
    const plan::Instruction &what =
        program_.segments(int(event.segment)).instructions(int(event.index));
    Sum &sum = sums[kindOf(program_, what)];
    ++sum.count;
    sum.measured += event.end - event.begin;
    sum.predicted += what.seconds();
    total += event.end - event.begin;
  }
  double steps = std::max<double>(1, double(kept) / double(std::max<size_t>(1, perStep_)));
  std::vector<std::pair<std::string, Sum>> sorted(sums.begin(), sums.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) {
    return a.second.measured > b.second.measured;
  });
  Table table({"instructions", ">per step", ">measured", ">share", ">predicted"});
  for (const auto &[kind, sum] : sorted)
    table.add({kind, std::to_string(int64_t(double(sum.count) / steps + 0.5)),
               secondsText(sum.measured / steps), percentText(total ? sum.measured / total : 0),
               secondsText(sum.predicted / steps)});
  return table.str();
}

Status writeTrace(const std::string &path, const std::vector<std::string> &eventsOfRanks) {
  std::ofstream file(path);
  file << "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n";
  for (size_t rank = 0; rank < eventsOfRanks.size(); ++rank)
    file << (rank ? ",\n" : "") << eventsOfRanks[rank];
  file << "\n]}\n";
  file.close();
  return file ? Status::ok()
              : Status::userError("cannot write '" + path + "': " + std::strerror(errno));
}

} // namespace cleave::executor
