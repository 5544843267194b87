// See ExecutionProfile.h.
#include "runtime/executor/ExecutionProfile.h"

#include "runtime/artifact/Access.h"
#include "runtime/artifact/Flops.h"
#include "runtime/artifact/KernelSignature.h"
#include "runtime/base/Table.h"
#include "runtime/base/Units.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace cleave::executor {
namespace {

// The kind by which the summary groups instructions: the kernel, or the shape of a library call.
std::string kindOf(const plan::Program &program, const plan::Instruction &instruction) {
  auto times = [](const auto &sizes) {
    std::string text;
    for (int64_t size : sizes)
      text += concat(text.empty() ? "" : "x", size);
    return text;
  };
  if (instruction.has_launch())
    return "kernel " + artifact::nameOf(program.kernels(int(instruction.launch().kernel())));
  if (instruction.has_matmul()) {
    const plan::Matmul &matmul = instruction.matmul();
    return "matmul " + (matmul.batch_size() ? times(matmul.batch()) + " of " : "") +
           times(std::array{matmul.m(), matmul.n(), matmul.k()});
  }
  if (instruction.has_convolution())
    return "convolution " + plan::Convolution::Kind_Name(instruction.convolution().kind()) + " " +
           times(instruction.convolution().input_shape()) + " by " +
           times(instruction.convolution().weight_shape());
  if (instruction.has_attention()) {
    const plan::Attention &a = instruction.attention();
    return concat(artifact::kindName(instruction), ' ', a.heads(), " heads of ", a.queries(), 'x',
                  a.keys(), 'x', a.width());
  }
  return artifact::kindName(instruction);
}

// The tracks of a rank by number. Queues overlap, and events of one track must not.
constexpr const char *kTracks[] = {"measured", "predicted", "measured, communicates",
                                   "measured, copies"};
constexpr int kPredicted = 1;
int measuredTrack(uint32_t queue) { return queue == 0 ? 0 : int(queue) + kPredicted; }

// The tracks that the program's instructions are on.
std::set<int> tracksOf(const plan::Program &program) {
  std::set<int> tracks = {0, kPredicted};
  for (const plan::Segment &segment : program.segments())
    for (const plan::Instruction &instruction : segment.instructions())
      tracks.insert(measuredTrack(instruction.queue()));
  return tracks;
}

// Bytes that a kernel reads and writes; 0 for other instructions.
double bytesOf(const plan::Program &program, const plan::Instruction &instruction) {
  return instruction.has_launch() ? program.kernels(int(instruction.launch().kernel())).bytes() : 0;
}

} // namespace

ExecutionProfile::ExecutionProfile(const plan::Program &program, uint32_t rank, int steps)
    : program_(program), rank_(rank), perStep_(0) {
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

std::string ExecutionProfile::events() const {
  std::string text;
  auto add = [&](const nlohmann::json &event) {
    text += (text.empty() ? "" : ",\n") + event.dump();
  };
  add({{"ph", "M"},
       {"name", "process_name"},
       {"pid", rank_},
       {"args", {{"name", concat("rank ", rank_)}}}});
  for (int track : tracksOf(program_))
    add({{"ph", "M"},
         {"name", "thread_name"},
         {"pid", rank_},
         {"tid", track},
         {"args", {{"name", kTracks[track]}}}});
  size_t kept = std::min(count_, ring_.size());
  double predictedEnd = 0;
  for (size_t i = count_ - kept; i < count_; ++i) {
    const Record &event = ring_[i % ring_.size()];
    const plan::Instruction &what =
        program_.segments(int(event.segment)).instructions(int(event.index));
    nlohmann::json entry = {{"ph", "X"},
                            {"pid", rank_},
                            {"tid", measuredTrack(what.queue())},
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
    // The prediction is a second track. Each instruction begins at the predicted end of the
    // previous one, and a step at its measured begin.
    bool firstOfStep = i == count_ - kept || ring_[(i - 1) % ring_.size()].step != event.step;
    double begin = firstOfStep ? event.begin : predictedEnd;
    predictedEnd = begin + what.seconds();
    entry["tid"] = kPredicted;
    entry["ts"] = begin * 1e6;
    entry["dur"] = what.seconds() * 1e6;
    if (what.seconds() > 0)
      add(entry);
  }
  return text;
}

std::string ExecutionProfile::summary() const {
  struct Sum {
    size_t count = 0;
    double measured = 0, predicted = 0, flops = 0, bytes = 0;
  };
  std::map<std::string, Sum> sums;
  Sum all;
  size_t kept = std::min(count_, ring_.size());
  for (size_t i = 0; i < kept; ++i) {
    const Record &event = ring_[i];
    const plan::Instruction &what =
        program_.segments(int(event.segment)).instructions(int(event.index));
    for (Sum *sum : {&sums[kindOf(program_, what)], &all}) {
      ++sum->count;
      sum->measured += event.end - event.begin;
      sum->predicted += what.seconds();
      sum->flops += artifact::flopsOf(program_, what);
      sum->bytes += bytesOf(program_, what);
    }
  }
  double steps = std::max<double>(1, double(kept) / double(std::max<size_t>(1, perStep_)));
  std::vector<std::pair<std::string, Sum>> sorted(sums.begin(), sums.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) {
    return a.second.measured > b.second.measured;
  });
  sorted.emplace_back("all", all);
  Table table(
      {"instructions", ">per step", ">measured", ">share", ">predicted", ">FLOP/s", ">B/s"});
  for (const auto &[kind, sum] : sorted) {
    double rate = sum.measured > 0 ? 1 / sum.measured : 0;
    table.add({kind, std::to_string(int64_t(double(sum.count) / steps + 0.5)),
               secondsText(sum.measured / steps),
               percentText(all.measured > 0 ? sum.measured / all.measured : 0),
               secondsText(sum.predicted / steps), sum.flops ? countText(sum.flops * rate, "") : "",
               sum.bytes ? countText(sum.bytes * rate, "") : ""});
  }
  return table.str(2, 160);
}

Status writeTrace(const std::string &path, const std::vector<std::string> &eventsOfRanks) {
  std::ofstream file(path);
  file << "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n";
  for (size_t rank = 0; rank < eventsOfRanks.size(); ++rank)
    file << (rank ? ",\n" : "") << eventsOfRanks[rank];
  file << "\n]}\n";
  file.close();
  return file ? Status::ok()
              : Status::userError("cannot write '", path, "': ", std::strerror(errno));
}

} // namespace cleave::executor
