// Timelines of plans: of one made by hand, and of random programs.
#include "compiler/schedule/plan/PlanTimeline.h"

#include "compiler/schedule/Simulate.h"
#include "runtime/base/Queue.h"
#include "test/unit/cleave_dump/SmallPlan.h"

#include <catch2/catch.hpp>
#include <random>
#include <set>

using namespace cleave;
using namespace cleave::schedule;

namespace {

Simulation simulated(const PlanTimeline &timeline) {
  Result<Simulation> found = simulate(timeline.timeline);
  INFO(found.status().message());
  REQUIRE(found);
  return *found;
}

plan::Instruction &add(plan::Segment &segment, double seconds, uint32_t queue,
                       const std::vector<uint32_t> &waits) {
  plan::Instruction &instruction = *segment.add_instructions();
  instruction.set_seconds(seconds);
  instruction.set_queue(queue);
  instruction.mutable_waits()->Add(waits.begin(), waits.end());
  if (queue == 1)
    instruction.mutable_collective()->add_axes(0);
  return instruction;
}

// A plan of two ranks that run one program without buffers.
plan::Plan emptyPlan() {
  plan::Plan plan;
  plan::MeshAxis &axis = *plan.add_mesh();
  axis.set_name("dp");
  axis.set_size(2);
  plan::Program &program = *plan.add_programs();
  program.set_name("step");
  for (uint32_t rank : {0, 1})
    program.add_ranks(rank);
  return plan;
}

void run(plan::Program &program, uint32_t segment, uint32_t slot = 0) {
  plan::ScheduleStep &step = *program.add_schedule();
  step.set_segment(segment);
  step.set_slot(slot);
}

// A program of three segments that run up to 5 times, with up to `queues` queues.
plan::Plan randomPlan(std::mt19937 &random, uint32_t queues) {
  plan::Plan plan = emptyPlan();
  plan::Program &program = *plan.mutable_programs(0);
  for (uint32_t s = 0, number = 0; s < 3; ++s) {
    plan::Segment &segment = *program.add_segments();
    for (uint32_t count = random() % 12, i = 0; i < count; ++i, ++number) {
      std::vector<uint32_t> waits;
      if (random() % 2)
        waits.push_back(random() % (number + 3)); // some for a run before
      add(segment, double(random() % 1000) * 1e-6, random() % queues, waits);
    }
    for (uint32_t runs = random() % 6; runs > 0; --runs)
      run(program, s, runs);
  }
  return plan;
}

// The sum over the instructions of all runs, in the order in which plans were always priced.
double sumOfSeconds(const plan::Program &program) {
  double seconds = 0;
  for (int s = 0; s < program.segments_size(); ++s) {
    int runs = 0;
    for (const plan::ScheduleStep &step : program.schedule())
      runs += step.segment() == uint32_t(s);
    for (const plan::Instruction &instruction : program.segments(s).instructions())
      seconds += runs * instruction.seconds();
  }
  return seconds;
}

} // namespace

TEST_CASE("a plan made by hand takes its seconds, on one rank and on all") {
  const plan::Plan plan = smallPlan();
  const Simulation folded = simulated(timelineOf(plan, TimelineForm::Folded));
  CHECK(folded.seconds == Approx(plan.predicted().step_seconds()));
  CHECK(folded.seconds == sumOfSeconds(plan.programs(0)));

  const PlanTimeline full = timelineOf(plan, TimelineForm::Full);
  CHECK(simulated(full).seconds == Approx(folded.seconds));
  CHECK(full.timeline.tasks.size() == 4 * (2 * 7 + 2));
  CHECK(full.timeline.meetings.size() == 2 * 2); // two groups of dp, two micro-batches
  CHECK(full.timeline.units[0].ranks == std::vector<uint32_t>{0, 1, 2, 3});
}

TEST_CASE("a plan's live bytes in time are at most its planned peak, and reach it") {
  const plan::Plan plan = smallPlan();
  const PlanTimeline full = timelineOf(plan, TimelineForm::Full);
  const Simulation found = simulated(full);
  REQUIRE(full.timeline.spaces.size() == 4); // a device per rank
  for (const LiveBytes &live : found.live)
    CHECK(live.peak == plan.programs(0).arenas(0).peak_bytes());
}

TEST_CASE("instructions begin when their queue and what they wait for permit") {
  plan::Plan plan = emptyPlan();
  plan::Program &program = *plan.mutable_programs(0);
  plan::Segment &segment = *program.add_segments();
  add(segment, 1, 0, {});
  add(segment, 4, 1, {0});
  add(segment, 2, 0, {});
  add(segment, 1, 0, {1, 2});
  add(segment, 2, 1, {});
  plan::Segment &second = *program.add_segments();
  add(second, 1, 0, {});
  add(second, 1, 0, {4}); // the last one of queue 1 in the first segment
  run(program, 0);
  run(program, 1);
  for (TimelineForm form : {TimelineForm::Segments, TimelineForm::Full}) {
    const std::vector<double> begins = simulated(timelineOf(plan, form)).begins;
    CHECK(std::vector<double>(begins.begin(), begins.begin() + 7) ==
          std::vector<double>{0, 1, 1, 5, 5, 6, 7});
  }
}

TEST_CASE("a wait is for the latest run before") {
  for (bool waits : {false, true}) {
    plan::Plan plan = emptyPlan();
    plan::Program &program = *plan.mutable_programs(0);
    plan::Segment &segment = *program.add_segments();
    add(segment, 1, 0, waits ? std::vector<uint32_t>{1} : std::vector<uint32_t>{});
    add(segment, 4, 1, {0});
    for (uint32_t slot : {0, 1, 2})
      run(program, 0, slot);
    // The transfers, of 4 seconds, follow one another at once, or after the next computation.
    for (TimelineForm form : {TimelineForm::Folded, TimelineForm::Full})
      CHECK(simulated(timelineOf(plan, form)).seconds == (waits ? 15 : 13));
  }
}

TEST_CASE("programs with one queue take the sum of their instructions, to the last bit") {
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    const plan::Plan plan = randomPlan(random, 1);
    CHECK(simulated(timelineOf(plan, TimelineForm::Folded)).seconds ==
          sumOfSeconds(plan.programs(0)));
  }
}

TEST_CASE("one rank with folded runs takes as long as all ranks with each run") {
  std::mt19937 random(2);
  int overlapping = 0;
  for (int i = 0; i < 300; ++i) {
    const plan::Plan plan = randomPlan(random, 3);
    const PlanTimeline folded = timelineOf(plan, TimelineForm::Folded);
    const Simulation one = simulated(folded);
    const Simulation all = simulated(timelineOf(plan, TimelineForm::Full));
    CHECK(one.seconds == Approx(all.seconds));
    for (size_t r = 0; r < one.busySeconds.size(); ++r) {
      CHECK(one.busySeconds[r] == Approx(all.busySeconds[r]));
      CHECK(one.exposedSeconds[r] == Approx(all.exposedSeconds[r]).margin(1e-12));
    }
    overlapping += one.seconds < 0.99 * sumOfSeconds(plan.programs(0));
  }
  CHECK(overlapping > 100);
}

TEST_CASE("buffers of one segment have a slot per run, others are shared by all runs") {
  plan::Plan plan = smallPlan();
  const Timeline full = timelineOf(plan, TimelineForm::Full).timeline;
  // x, h.0.y, h.1.y, z and loss in two runs; two weights and a momentum.
  CHECK(full.buffers.size() == 4 * (2 * 5 + 3));
  const Timeline segments = timelineOf(plan, TimelineForm::Segments).timeline;
  CHECK(segments.buffers.size() == 5 + 3);
  int persistent = 0, writes = 0;
  for (const Buffer &buffer : segments.buffers)
    persistent += buffer.isPersistent;
  for (const Access &access : segments.accesses)
    writes += access.isWritten;
  CHECK(persistent == 3);
  CHECK(writes == 6 + 3); // the metric writes nothing; the update writes three
}

TEST_CASE("ranks of a pipeline meet in their messages") {
  plan::Plan plan = emptyPlan();
  plan.mutable_programs(0)->mutable_ranks()->RemoveLast();
  plan.add_programs()->add_ranks(1);
  auto message = [](plan::Segment &segment, plan::Collective::Kind kind, uint32_t peer,
                    const std::vector<uint32_t> &waits) {
    plan::Collective &collective = *add(segment, 1, 1, waits).mutable_collective();
    collective.set_kind(kind);
    collective.set_peer(peer);
  };
  plan::Segment &first = *plan.mutable_programs(0)->add_segments();
  add(first, 5, 0, {});
  message(first, plan::Collective::SEND, 1, {0});
  plan::Segment &second = *plan.mutable_programs(1)->add_segments();
  message(second, plan::Collective::RECV, 0, {});
  add(second, 3, 0, {0});
  for (plan::Program &program : *plan.mutable_programs())
    for (uint32_t slot : {0, 1})
      run(program, 0, slot);
  for (TimelineForm form : {TimelineForm::Full, TimelineForm::Folded}) {
    const PlanTimeline found = timelineOf(plan, form);
    CHECK(found.timeline.tasks.size() == 8); // programs that differ are not folded
    // Rank 0: 0-5, message 5-6, 5-10, message 10-11; rank 1 ends 3 seconds later.
    CHECK(simulated(found).seconds == 14);
  }
  plan.mutable_programs(1)->mutable_schedule()->RemoveLast();
  const Result<Simulation> missing = simulate(timelineOf(plan, TimelineForm::Full).timeline);
  REQUIRE_FALSE(missing);
  CHECK_THAT(missing.status().message(), Catch::Matchers::Contains("a send without its receive"));
}

TEST_CASE(
    "messages in queues of their own wait for no collective, nor for messages the other way") {
  plan::Plan plan = emptyPlan();
  plan.mutable_programs(0)->mutable_ranks()->RemoveLast();
  plan.add_programs()->add_ranks(1);
  for (uint32_t rank : {0, 1}) {
    plan::Program &program = *plan.mutable_programs(int(rank));
    plan::Segment &segment = *program.add_segments();
    add(segment, 10, 1, {}).mutable_collective()->clear_axes(); // of a group of one rank
    for (bool sends : {rank == 1, rank == 0}) {                 // the first receives first
      plan::Collective &message =
          *add(segment, 1, sends ? kSendQueue : kReceiveQueue, {}).mutable_collective();
      message.add_axes(0), message.set_peer(1 - rank);
      message.set_kind(sends ? plan::Collective::SEND : plan::Collective::RECV);
    }
    run(program, 0);
  }
  const PlanTimeline found = timelineOf(plan, TimelineForm::Full);
  const Simulation simulation = simulated(found);
  for (size_t task = 0; task < found.timeline.tasks.size(); ++task)
    CHECK(simulation.ends[task] == (found.timeline.tasks[task].meeting == kNone ? 10 : 1));
  std::set<std::string> links;
  for (const Resource &resource : found.timeline.resources)
    links.insert(nameOf(resource));
  CHECK(links == std::set<std::string>{"compute", "link 0", "link 1", "link 2"});
}

TEST_CASE("one rank of each stage takes as long as all of them") {
  // Two stages of two ranks; the second one waits for messages, and both for sums within a stage.
  plan::Plan plan = emptyPlan();
  plan.mutable_mesh(0)->set_name("stage");
  plan::MeshAxis &dp = *plan.add_mesh();
  dp.set_name("dp"), dp.set_size(2);
  plan.add_programs();
  for (uint32_t stage : {0, 1}) {
    plan::Program &program = *plan.mutable_programs(int(stage));
    program.clear_ranks();
    program.add_ranks(2 * stage), program.add_ranks(2 * stage + 1);
    plan::Segment &segment = *program.add_segments();
    plan::Collective &message = *add(segment, 1, 1, {}).mutable_collective();
    message.set_kind(stage == 0 ? plan::Collective::SEND : plan::Collective::RECV);
    message.set_peer(1 - stage);
    add(segment, stage == 0 ? 2 : 5, 0, {0});
    add(segment, 3, 1, {1}).mutable_collective()->set_axes(0, 1);
    run(program, 0, 0), run(program, 0, 1);
  }
  const PlanTimeline full = timelineOf(plan, TimelineForm::Full),
                     folded = timelineOf(plan, TimelineForm::Folded);
  CHECK(full.timeline.tasks.size() == 4 * 6);
  CHECK(folded.timeline.tasks.size() == 2 * 6);
  CHECK(folded.timeline.meetings.size() == 2); // the messages
  CHECK(folded.timeline.units[1].ranks == std::vector<uint32_t>{2});
  CHECK(simulated(folded).seconds == simulated(full).seconds);

  // Ranks of a stage are not alike if they meet others than their likes.
  plan.mutable_programs(0)
      ->mutable_segments(0)
      ->mutable_instructions(2)
      ->mutable_collective()
      ->add_axes(0);
  plan.mutable_programs(1)
      ->mutable_segments(0)
      ->mutable_instructions(2)
      ->mutable_collective()
      ->add_axes(0);
  CHECK(timelineOf(plan, TimelineForm::Folded).timeline.tasks.size() == 4 * 6);
}

TEST_CASE("indices into nothing are left out") {
  plan::Plan plan = smallPlan();
  plan::Program &program = *plan.mutable_programs(0);
  for (plan::Instruction &instruction : *program.mutable_segments(0)->mutable_instructions()) {
    instruction.add_waits(99);
    if (instruction.has_collective()) {
      instruction.mutable_collective()->set_axes(0, 9);
      instruction.mutable_collective()->set_send(0, 99);
    }
  }
  program.mutable_buffers(0)->set_arena(99);
  program.mutable_schedule(2)->set_segment(99);
  program.set_ranks(3, 99);
  for (TimelineForm form : {TimelineForm::Full, TimelineForm::Folded, TimelineForm::Segments})
    CHECK(simulated(timelineOf(plan, form)).seconds > 0);
  CHECK(simulated(timelineOf({}, TimelineForm::Folded)).seconds == 0);
}

TEST_CASE("an evaluation is no part of the step") {
  plan::Plan plan = smallPlan();
  plan::Program &evaluation = *plan.add_programs();
  evaluation = plan.programs(0);
  evaluation.set_kind(plan::Program::EVALUATION);
  for (TimelineForm form : {TimelineForm::Full, TimelineForm::Folded, TimelineForm::Segments}) {
    const Timeline timeline = timelineOf(plan, form).timeline;
    CHECK(timeline.tasks.size() == timelineOf(smallPlan(), form).timeline.tasks.size());
    REQUIRE(timeline.units.size() == 2);
    CHECK(timeline.units[0].name == "step");
    CHECK(timeline.units[1].ranks.empty());
  }
}

TEST_CASE("each run of a segment says where its tasks are") {
  const plan::Plan plan = smallPlan();
  const PlanTimeline found = timelineOf(plan, TimelineForm::Segments);
  REQUIRE(found.runs.size() == 2);
  CHECK(found.runs[1].segment == 1);
  CHECK(found.runs[1].firstTask == 7);
  CHECK(found.timeline.names[found.timeline.tasks[8].name] == "h.1.w");
}
