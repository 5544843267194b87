// The trace of a run: tracks, counters, and arrows between ranks, by the rules of the trace event
// format.
#include "test/unit/small_plans/PlanBuilder.h"

#include "runtime/base/Queue.h"
#include "runtime/executor/Trace.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace cleave;
using namespace cleave::executor;
using nlohmann::json;

// Two ranks that compute and then sum.
static plan::Plan twoRanks() {
  PlanBuilder builder({2});
  uint32_t part = builder.buffer("part", plan::ACTIVATION, {4});
  uint32_t sum = builder.buffer("sum", plan::ACTIVATION, {4});
  plan::Instruction *fill = builder.add("part");
  fill->mutable_fill()->set_buffer(part);
  fill->set_seconds(1e-3);
  plan::Instruction *reduce = builder.add("sum");
  reduce->mutable_collective()->add_axes(0);
  reduce->mutable_collective()->add_send(part);
  reduce->mutable_collective()->add_recv(sum);
  return builder.finish();
}

// The events of one step in which rank 1 comes to the sum one second after rank 0.
static json traceOf(const plan::Plan &plan) {
  std::vector<std::string> events;
  for (uint32_t rank : {0u, 1u}) {
    ExecutionProfile profile(plan, plan.programs(0), 1);
    profile.beginStep(7);
    profile.record(0, 0, 0, 10, 11 + rank);
    profile.record(0, 1, 0, 11 + rank, 13);
    events.push_back(traceEvents(plan, rank, profile));
  }
  const std::string path = std::tmpnam(nullptr);
  REQUIRE(writeTrace(path, events).isOk());
  std::ifstream file(path);
  json trace = json::parse(file);
  std::remove(path.c_str());
  return trace["traceEvents"];
}

static std::vector<json> ofPhase(const json &events, const std::string &phase) {
  std::vector<json> found;
  for (const json &event : events)
    if (event["ph"] == phase)
      found.push_back(event);
  return found;
}

TEST_CASE("the rank that comes last to a collective releases the others by an arrow") {
  const json events = traceOf(twoRanks());
  const std::vector<json> starts = ofPhase(events, "s"), ends = ofPhase(events, "f");
  REQUIRE(starts.size() == 1);
  REQUIRE(ends.size() == 1);
  CHECK(starts[0]["pid"] == 1);
  CHECK(ends[0]["pid"] == 0);
  CHECK(starts[0]["id"] == ends[0]["id"]);
  CHECK(starts[0]["ts"] == 12e6);
  CHECK(starts[0]["ts"] < ends[0]["ts"]);
  CHECK(ends[0]["bp"] == "e");
  // Both ends lie inside a slice of their track.
  for (const json &end : {starts[0], ends[0]}) {
    bool isInside = false;
    for (const json &slice : ofPhase(events, "X"))
      isInside |= slice["pid"] == end["pid"] && slice["tid"] == end["tid"] &&
                  slice["ts"] <= end["ts"] &&
                  end["ts"] < slice["ts"].get<double>() + slice["dur"].get<double>();
    CHECK(isInside);
  }
}

TEST_CASE("a rank has tracks for what it computes and communicates, whatever the queue") {
  const json events = traceOf(twoRanks());
  std::map<int, std::string> tracks;
  for (const json &event : ofPhase(events, "M"))
    if (event["name"] == "thread_name" && event["pid"] == 0)
      tracks[event["tid"]] = event["args"]["name"];
  CHECK(tracks ==
        std::map<int, std::string>{{0, "computes"}, {1, "predicted"}, {2, "communicates"}});
  for (const json &event : ofPhase(events, "X"))
    if (event["cat"] == "all-reduce")
      CHECK(event["tid"] == 2);
}

TEST_CASE("messages in queues of their own have tracks") {
  plan::Plan plan = twoRanks();
  plan::Segment &segment = *plan.mutable_programs(0)->mutable_segments(0);
  for (uint32_t queue : {kSendQueue, kReceiveQueue}) {
    segment.mutable_instructions(1)->set_queue(queue);
    const json events = traceOf(plan);
    for (const json &event : ofPhase(events, "X"))
      if (event["cat"] == "all-reduce")
        CHECK(event["tid"] == (queue == kSendQueue ? 4 : 5));
  }
}

TEST_CASE("counters show memory and rates while an instruction runs") {
  const json events = traceOf(twoRanks());
  std::map<std::string, std::vector<double>> values;
  for (const json &event : ofPhase(events, "C"))
    if (event["pid"] == 0)
      values[event["name"]].push_back(event["args"]["value"]);
  CHECK(values["memory that holds values, bytes"].front() > 0);
  CHECK(values["computing, B/s of memory"] == std::vector<double>{16, 0, 0});
  CHECK(values["communicating, B/s sent"] == std::vector<double>{8, 0, 0});
}

TEST_CASE("events have the fields that their phase needs, and names cannot break them") {
  plan::Plan plan = twoRanks();
  plan.mutable_programs(0)->mutable_segments(0)->mutable_instructions(0)->set_name("\xff\"");
  for (const json &event : traceOf(plan)) {
    CHECK(event.contains("name"));
    CHECK(event["pid"].is_number_integer());
    if (event["ph"] != "M")
      CHECK(event["ts"].is_number());
    if (event["ph"] == "X")
      CHECK(event["dur"].get<double>() >= 0);
  }
}

TEST_CASE("the table of a profile shows the longest kinds and sums up the others") {
  PlanBuilder builder({1});
  for (int i = 0; i < 20; ++i) {
    const uint32_t buffer = builder.buffer("b", plan::ACTIVATION, {i + 1});
    builder.matmul(buffer, buffer, buffer, 1, 1, i + 1);
  }
  const plan::Plan plan = builder.plan();
  ExecutionProfile profile(plan, plan.programs(0), 1);
  for (uint32_t i = 0; i < 20; ++i)
    profile.record(0, i, 0, 0, i + 1);
  const std::string table = profile.summary(5);
  CHECK(std::count(table.begin(), table.end(), '\n') == 8); // headings, 5 kinds, others, all
  CHECK_THAT(table, Catch::Contains("matmul 1x1x20") && Catch::Contains("… 15 other kinds") &&
                        !Catch::Contains("matmul 1x1x15 "));
}

TEST_CASE("the prediction of a step that is slower than measured does not overlap the next one") {
  plan::Plan plan = twoRanks();
  plan.mutable_programs(0)->mutable_segments(0)->mutable_instructions(0)->set_seconds(5);
  ExecutionProfile profile(plan, plan.programs(0), 2);
  for (int64_t step : {0, 1}) {
    profile.beginStep(step);
    profile.record(0, 0, 0, 10 + double(step), 10.5 + double(step));
  }
  std::vector<double> begins;
  for (const json &event : ofPhase(json::parse("[" + traceEvents(plan, 0, profile) + "]"), "X"))
    if (event["tid"] == 1)
      begins.push_back(event["ts"]);
  CHECK(begins == std::vector<double>{10e6, 15e6});
}
