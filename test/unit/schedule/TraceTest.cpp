// The trace of a simulated timeline, read back as JSON.
#include "compiler/schedule/Trace.h"
#include "test/unit/schedule/TimelineBuilder.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace cleave;
using namespace cleave::schedule;
using Json = nlohmann::json;

// The events of a phase in order.
static std::vector<Json> eventsOf(const Json &trace, const std::string &phase) {
  std::vector<Json> events;
  for (const Json &event : trace["traceEvents"])
    if (event["ph"] == phase)
      events.push_back(event);
  return events;
}

TEST_CASE("a trace has the tasks on the tracks of their resources, and the live bytes") {
  TimelineBuilder b;
  const uint32_t compute = b.resource(ResourceKind::Compute, 0);
  const uint32_t link = b.resource(ResourceKind::Link, 0, 1);
  const uint32_t make = b.task("make \"x\"\xff", compute, 2e-6);
  b.task("move", link, 3e-6, {make});
  b.task("short", compute, 1e-6);
  b.task("mark", compute, 0);
  b.buffer(b.space(SpaceKind::Host), 10, {make});
  const Json trace = Json::parse(traceOf(b.timeline, *simulate(b.timeline)));

  const std::vector<Json> tasks = eventsOf(trace, "X");
  REQUIRE(tasks.size() == 3); // without the one of 0 seconds
  CHECK(tasks[0]["name"] == "make \"x\"\uFFFD");
  CHECK(tasks[0]["args"] == Json{{"unit", "step"}, {"slot", 0}, {"critical", true}});
  CHECK(tasks[1]["tid"] == link);
  CHECK(tasks[1]["ts"] == 2);
  CHECK(tasks[1]["dur"].get<double>() == Approx(3));
  CHECK_FALSE(tasks[2]["args"].contains("critical"));

  const std::vector<Json> counters = eventsOf(trace, "C");
  REQUIRE(counters.size() == 2);
  CHECK(counters[0]["name"] == "live bytes: host");
  CHECK(counters[0]["args"]["value"] == 10);
  CHECK(counters[1]["ts"] == 2);
  CHECK(counters[1]["args"]["value"] == 0);

  std::vector<Json> tracks;
  for (const Json &event : eventsOf(trace, "M"))
    if (event["name"] == "thread_name")
      tracks.push_back(event["args"]["name"]);
  CHECK(tracks == std::vector<Json>{"compute", "link 1"});
}
