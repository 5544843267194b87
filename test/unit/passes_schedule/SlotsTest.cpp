// Slots of micro-batches, and the program of a stage that gets them.
#include "passes/schedule/Slots.h"

#include "dialects/program/Program.h"
#include "passes/schedule/Lifetimes.h"

#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>
#include <map>

using namespace cleave;
using namespace cleave::graph;
using namespace mlir;

// Two micro-batches in flight: F0 F1 B0 F2 B1 B2.
static const std::vector<ScheduledAction> kTwoInFlight = {
    {Action::Forward, 0}, {Action::Forward, 1},  {Action::Backward, 0},
    {Action::Forward, 2}, {Action::Backward, 1}, {Action::Backward, 2}};

TEST_CASE("a micro-batch takes the lowest free slot until its last action") {
  CHECK(schedule::slotsOf(kTwoInFlight) == std::vector<int64_t>{0, 1, 0});
  CHECK(schedule::slotsOf({}).empty());
}

TEST_CASE("micro-batches wait between their forward and their backward part") {
  CHECK(schedule::mostWaiting(kTwoInFlight) == 2);
  CHECK(schedule::mostWaiting({}) == 1);
  CHECK(schedule::mostWaiting({{Action::Forward, 0}, // the message does not wait
                               {Action::ReceiveForward, 1},
                               {Action::Backward, 0},
                               {Action::Forward, 1},
                               {Action::Backward, 1}}) == 1);
}

// A module with one program.
struct Program {
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  program::ProgramOp op;

  explicit Program(const std::string &text) {
    context.loadDialect<program::ProgramDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
    REQUIRE(module);
    op = *module->getOps<program::ProgramOp>().begin();
  }

  std::vector<std::string> segments() {
    std::vector<std::string> names;
    for (auto segment : op.getBody().front().getOps<program::SegmentOp>())
      names.push_back(segment.getName().str());
    return names;
  }

  // By buffer: its first and last instruction.
  std::vector<std::pair<int64_t, int64_t>> lives() {
    schedule::setLifetimes(op);
    std::vector<std::pair<int64_t, int64_t>> lives;
    for (auto buffer : op.getBody().front().getOps<program::BufferOp>())
      lives.emplace_back(buffer.getFirst(), buffer.getLast());
    return lives;
  }
};

TEST_CASE("every slot has its own buffers, but for those that outlive micro-batches") {
  Program program(R"(
    program.program schedule [0, 0, 1, 0, 2, 0, 3, 0] {
      %sum = program.buffer gradient "sum" tensor<16xf32> at 0 bytes 64 live 0 to 0 {tensor = -1 : i64}
      %saved = program.buffer activation "saved" tensor<16xf32> at 0 bytes 64 live 0 to 0 {tensor = -1 : i64}
      program.segment "begin" {
        program.fill %sum with 0.0
      }
      program.segment "forward" {
        program.fill %saved with 1.0
      }
      program.segment "backward" {
        program.copy %saved to %sum
      }
      program.segment "update" {
        program.copy %sum to %sum
      }
    })");
  schedule::addSlots(program.op, kTwoInFlight);
  CHECK(program.segments() ==
        std::vector<std::string>{"begin", "forward", "forward", "backward", "backward", "update"});
  CHECK(std::vector<int64_t>(program.op.getSchedule()) ==
        std::vector<int64_t>{0, 0, 1, 0, 2, 1, 3, 0, 1, 2, 4, 1, 3, 2, 5, 0});
  // Of the sum and of both slots' saved values. Instructions: 0 fills the sum, 1 and 2 are forward,
  // 3 and 4 backward, 5 updates. While a value of one slot is live, both parts of the other slot
  // run.
  CHECK(program.lives() == std::vector<std::pair<int64_t, int64_t>>{{0, 5}, {1, 4}, {1, 4}});
}

// Two chunks: F0 F1 of chunk 0, F0 of chunk 1, then chunk 1 back, then chunk 0.
static const std::vector<ScheduledAction> kTwoChunks = {
    {Action::Forward, 0, 0},  {Action::Forward, 1, 0}, {Action::Forward, 0, 1},
    {Action::Backward, 0, 1}, {Action::Forward, 1, 1}, {Action::Backward, 1, 1},
    {Action::Backward, 0, 0}, {Action::Backward, 1, 0}};

// The number of segments by name, in a program of two chunks in which the forward part of chunk 1
// reads `read`.
static std::map<std::string, int> slotsOfTwoChunks(const std::string &read) {
  Program program(R"(
    program.program schedule [0, 0, 1, 0, 2, 0, 3, 0] {
      %first = program.buffer activation "first" tensor<16xf32> at 0 bytes 64 live 0 to 0 {tensor = -1 : i64}
      %second = program.buffer activation "second" tensor<16xf32> at 0 bytes 64 live 0 to 0 {tensor = -1 : i64}
      program.segment "forward" {
        program.fill %first with 1.0
      }
      program.segment "forward 1" {
        program.copy )" +
                  read + R"( to %second
      }
      program.segment "backward 1" {
        program.copy %second to %second
      }
      program.segment "backward" {
        program.copy %first to %first
      }
    })");
  schedule::addSlots(program.op, kTwoChunks);
  std::map<std::string, int> count;
  for (const std::string &name : program.segments())
    ++count[name];
  CHECK(program.op.getSchedule().size() == 2 * kTwoChunks.size());
  return count;
}

TEST_CASE("chunks have slots of their own, unless one reads what another one has made") {
  CHECK(slotsOfTwoChunks("%second") ==
        std::map<std::string, int>{
            {"forward", 2}, {"backward", 2}, {"forward 1", 1}, {"backward 1", 1}});
  CHECK(slotsOfTwoChunks("%first") ==
        std::map<std::string, int>{
            {"forward", 2}, {"backward", 2}, {"forward 1", 2}, {"backward 1", 2}});
}

TEST_CASE(
    "a buffer is live until the end of a segment behind whose read another segment reads it") {
  // The message is sent after the weights part has read it, although its segment stands before.
  Program program(R"(
    program.program schedule [0, 0, 2, 0, 1, 0] {
      %sent = program.buffer activation "sent" tensor<16xf32> at 0 bytes 64 live 0 to 0 {tensor = -1 : i64}
      %other = program.buffer activation "other" tensor<16xf32> at 0 bytes 64 live 0 to 0 {tensor = -1 : i64}
      program.segment "backward" {
        program.fill %sent with 1.0
      }
      program.segment "send backward" {
        program.copy %sent to %sent
      }
      program.segment "weights" {
        program.copy %sent to %sent
        program.fill %other with 1.0
      }
    })");
  CHECK(program.lives()[0] == std::pair<int64_t, int64_t>(0, 3));
}
