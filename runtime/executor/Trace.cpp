// Times are microseconds of a clock that the ranks of a machine share.
#include "runtime/executor/Trace.h"

#include "runtime/artifact/Access.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/artifact/Programs.h"
#include "runtime/artifact/Work.h"
#include "runtime/base/Concat.h"
#include "runtime/base/FileWriter.h"
#include "runtime/base/Queue.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace cleave::executor {
namespace {

using Json = nlohmann::json;

constexpr double kMicroseconds = 1e6; // of a second

// Names come from the user's file; invalid UTF-8 is replaced.
std::string line(const Json &event) {
  return event.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The tracks of a rank by number. Queues overlap, and events of one track must not.
enum Track { Computes, Predicted, Communicates, Copies, Sends, Receives };
constexpr const char *kTracks[] = {"computes", "predicted", "communicates",
                                   "copies",   "sends",     "receives"};

Track trackOf(const plan::Instruction &instruction) {
  switch (instruction.queue()) {
  case kSendQueue:
    return Sends;
  case kReceiveQueue:
    return Receives;
  case kTransferQueue:
    return Copies;
  case kCommunicationQueue:
    return Communicates;
  default:
    return instruction.has_collective() ? Communicates : Computes;
  }
}

// Bytes of all buffers that the instruction touches.
double touchedBytes(const plan::Program &program, const plan::Instruction &instruction) {
  double bytes = 0;
  for (const artifact::Access &access : artifact::accessesOf(program, instruction))
    bytes += double(access.bytes ? access.bytes : program.buffers(int(access.buffer)).bytes());
  return bytes;
}

// Bytes of the device's arenas that hold values, by position of the instruction.
std::vector<uint64_t> liveBytes(const plan::Program &program) {
  size_t positions = 0;
  for (const plan::Segment &segment : program.segments())
    positions += size_t(segment.instructions_size());
  std::vector<uint64_t> live(positions + 1); // changes, then sums; both wrap round below zero
  for (const plan::Buffer &buffer : program.buffers()) {
    const bool isOnDevice = program.arenas(int(buffer.arena())).space() == plan::DEVICE;
    if (!isOnDevice || buffer.first() >= positions)
      continue;
    live[buffer.first()] += buffer.bytes();
    live[std::min<size_t>(buffer.last(), positions - 1) + 1] -= buffer.bytes();
  }
  for (size_t i = 1; i < live.size(); ++i)
    live[i] += live[i - 1];
  return live;
}

class RankTrace {
public:
  RankTrace(const plan::Plan &plan, uint32_t rank)
      : plan_(plan), program_(artifact::stepOf(plan, rank)), rank_(rank),
        live_(liveBytes(program_)) {
    for (const plan::Segment &segment : program_.segments()) {
      begins_.push_back(positions_);
      positions_ += size_t(segment.instructions_size());
    }
  }

  std::string events(const std::vector<ExecutionProfile::Record> &records) {
    nameTracks();
    for (const ExecutionProfile::Record &record : records)
      addRecord(record);
    for (const char *counter : {kComputeRate, kMemoryRate, kNetworkRate})
      if (counted_.contains(counter))
        addCounter(counter, lastEnd_, 0);
    return std::move(text_);
  }

private:
  static constexpr const char *kMemory = "memory that holds values, bytes";
  static constexpr const char *kComputeRate = "computing, FLOP/s";
  static constexpr const char *kMemoryRate = "computing, B/s of memory";
  static constexpr const char *kNetworkRate = "communicating, B/s sent";

  void add(const Json &event) { text_ += (text_.empty() ? "" : ",\n") + line(event); }

  void addMetadata(const char *name, int track, const Json &arguments) {
    add({{"ph", "M"}, {"name", name}, {"pid", rank_}, {"tid", track}, {"args", arguments}});
  }

  void nameTracks() {
    addMetadata("process_name", 0, {{"name", concat("rank ", rank_)}});
    addMetadata("process_sort_index", 0, {{"sort_index", rank_}});
    std::set<Track> tracks = {Computes, Predicted};
    for (const plan::Segment &segment : program_.segments())
      for (const plan::Instruction &instruction : segment.instructions())
        tracks.insert(trackOf(instruction));
    constexpr int order[] = {0, 5, 1, 2, 3, 4}; // the prediction comes last
    for (Track track : tracks) {
      addMetadata("thread_name", track, {{"name", kTracks[track]}});
      addMetadata("thread_sort_index", track, {{"sort_index", order[track]}});
    }
  }

  void addCounter(const char *name, double seconds, double value) {
    counted_.insert(name);
    add({{"ph", "C"},
         {"pid", rank_},
         {"name", name},
         {"ts", seconds * kMicroseconds},
         {"args", {{"value", value}}}});
  }

  // The rate of an instruction while it runs, and 0 behind it.
  void addRate(const char *name, double amount, const ExecutionProfile::Record &record) {
    const double seconds = record.end - record.begin;
    if (!(amount > 0) || !(seconds > 0))
      return;
    addCounter(name, record.begin, amount / seconds);
    addCounter(name, record.end, 0);
  }

  void addCounters(const plan::Instruction &what, const ExecutionProfile::Record &record) {
    const uint64_t live = live_[begins_[record.segment] + record.index];
    if (!lastLive_ || *lastLive_ != live)
      addCounter(kMemory, record.begin, double(live));
    lastLive_ = live;
    if (trackOf(what) == Computes) {
      addRate(kComputeRate, artifact::flopsOf(program_, what), record);
      addRate(kMemoryRate, touchedBytes(program_, what), record);
    } else if (what.has_collective()) {
      addRate(kNetworkRate, sentBytes(what.collective()), record);
    }
  }

  double sentBytes(const plan::Collective &collective) const {
    double bytes = 0;
    for (uint32_t buffer : collective.send())
      bytes += double(program_.buffers(int(buffer)).bytes());
    return bytes;
  }

  // The name of one collective among all of the run, the same on all ranks of its group.
  std::string meetingOf(const plan::Collective &collective,
                        const ExecutionProfile::Record &record) const {
    const std::vector<uint32_t> axes(collective.axes().begin(), collective.axes().end());
    const std::vector<uint32_t> group = artifact::groupOf(plan_, rank_, axes);
    return concat(record.step, ".", record.segment, ".", record.slot, ".", record.index, " of ",
                  *std::min_element(group.begin(), group.end()));
  }

  void addRecord(const ExecutionProfile::Record &record) {
    const plan::Segment &segment = program_.segments(int(record.segment));
    const plan::Instruction &what = segment.instructions(int(record.index));
    Json arguments = {{"kind", artifact::workKind(program_, what)},
                      {"segment", segment.name()},
                      {"slot", record.slot},
                      {"step", record.step},
                      {"predicted_us", what.seconds() * kMicroseconds}};
    if (what.has_collective())
      arguments["meeting"] = meetingOf(what.collective(), record);
    Json event = {{"ph", "X"},
                  {"pid", rank_},
                  {"tid", int(trackOf(what))},
                  {"name", what.name().empty() ? artifact::kindName(what) : what.name()},
                  {"cat", artifact::kindName(what)},
                  {"ts", record.begin * kMicroseconds},
                  {"dur", (record.end - record.begin) * kMicroseconds},
                  {"args", arguments}};
    add(event);
    addCounters(what, record);
    addPrediction(std::move(event), what.seconds(), record);
    lastEnd_ = std::max(lastEnd_, record.end);
  }

  // Each instruction begins at the predicted end of the previous one, and a step at its measured
  // begin, or later if the prediction of the step before has not ended.
  void addPrediction(Json event, double seconds, const ExecutionProfile::Record &record) {
    const double begin =
        step_ == record.step ? predictedEnd_ : std::max(record.begin, predictedEnd_);
    step_ = record.step;
    predictedEnd_ = begin + seconds;
    if (!(seconds > 0))
      return;
    event["tid"] = int(Predicted);
    event["ts"] = begin * kMicroseconds;
    event["dur"] = seconds * kMicroseconds;
    event["args"].erase("meeting");
    add(event);
  }

  const plan::Plan &plan_;
  const plan::Program &program_;
  uint32_t rank_;
  std::vector<uint64_t> live_; // by position
  std::vector<size_t> begins_; // positions of the segments' first instructions
  size_t positions_ = 0;
  std::string text_;
  std::set<std::string> counted_;    // names of counters with values
  std::optional<uint64_t> lastLive_; // of the memory's counter
  std::optional<int64_t> step_;      // of the previous record
  double predictedEnd_ = 0, lastEnd_ = 0;
};

// A rank in a collective.
struct Arrival {
  int64_t rank, track;
  double begin, end; // microseconds
};

// The arrows of one collective: from the rank that came last to every other one, which its arrival
// released.
void addArrows(int64_t &id, const std::vector<Arrival> &arrivals, std::string &text) {
  const auto last =
      std::max_element(arrivals.begin(), arrivals.end(),
                       [](const Arrival &a, const Arrival &b) { return a.begin < b.begin; });
  for (const Arrival &other : arrivals) {
    if (&other == &*last || other.end <= last->begin)
      continue; // on clocks that differ, or a collective that waits for nobody
    ++id;
    auto add = [&](const char *phase, const Arrival &at, double time) {
      Json event = {{"ph", phase}, {"id", id},       {"cat", "waits"}, {"name", "released by"},
                    {"ts", time},  {"pid", at.rank}, {"tid", at.track}};
      if (*phase == 'f')
        event["bp"] = "e"; // ends at the slice around it, not at the next one
      text += ",\n" + line(event);
    };
    add("s", *last, last->begin);
    add("f", other, std::nextafter(other.end, last->begin));
  }
}

std::string arrows(const std::vector<std::string> &eventsOfRanks) {
  std::map<std::string, std::vector<Arrival>> meetings;
  for (const std::string &events : eventsOfRanks)
    for (const Json &event : Json::parse("[" + events + "]"))
      if (event.contains("args") && event["args"].contains("meeting")) {
        const double begin = event["ts"].get<double>();
        meetings[event["args"]["meeting"].get<std::string>()].push_back(
            {event["pid"].get<int64_t>(), event["tid"].get<int64_t>(), begin,
             begin + event["dur"].get<double>()});
      }
  std::string text;
  int64_t id = 0;
  for (const auto &[name, arrivals] : meetings)
    addArrows(id, arrivals, text);
  return text;
}

} // namespace

std::string traceEvents(const plan::Plan &plan, uint32_t rank, const ExecutionProfile &profile) {
  return RankTrace(plan, rank).events(profile.records());
}

Status writeTrace(const std::string &path, const std::vector<std::string> &eventsOfRanks) {
  FileWriter file(path);
  CLEAVE_TRY(file.write("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n"));
  for (size_t rank = 0; rank < eventsOfRanks.size(); ++rank)
    CLEAVE_TRY(file.write((rank ? ",\n" : "") + eventsOfRanks[rank]));
  CLEAVE_TRY(file.write(arrows(eventsOfRanks) + "\n]}\n"));
  return file.publish();
}

} // namespace cleave::executor
