// Sends, receives and operations on parameters, and the check of those that a file has.
#include "compiler/schedule/pipelines/Communication.h"

#include "test/unit/schedule_pipelines/Evaluated.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::pipelines;
using Catch::Matchers::Contains;

namespace {

using Rows = std::vector<std::vector<Instruction>>;

Order smallV() { return made("zb-v", {.ranks = 2, .stagesPerRank = 2, .microBatches = 1}); }

// Without the operations on parameters, gradients and waits.
std::string messages(const std::vector<Instruction> &row) {
  std::string text;
  for (const Instruction &instruction : row)
    if (instruction.operation <= Operation::ReceiveBackward)
      text += (text.empty() ? "" : ",") + textOf(instruction);
  return text;
}

template <typename Change> std::string refusalOfRows(Change change) {
  const Order order = smallV();
  Rows rows = *withCommunication(order);
  REQUIRE(checkCommunication(order, rows).isOk());
  change(rows);
  return refusal(checkCommunication(order, rows));
}

// The place of an instruction in a row.
size_t placeOf(const std::vector<Instruction> &row, const std::string &text) {
  const auto found =
      std::find_if(row.begin(), row.end(), [&](const Instruction &i) { return textOf(i) == text; });
  REQUIRE(found != row.end());
  return static_cast<size_t>(found - row.begin());
}

} // namespace

TEST_CASE("a send follows its producer, and the turn of a V needs none") {
  const Rows rows = *withCommunication(smallV());
  CHECK(messages(rows[0]) == "0F0,0SEND_F0,3RECV_F0,3F0,3I0,3SEND_B0,3W0,0RECV_B0,0I0,0W0");
  CHECK(messages(rows[1]) == "1RECV_F0,1F0,2F0,2SEND_F0,2RECV_B0,2I0,2W0,1I0,1SEND_B0,1W0");
}

TEST_CASE("at most three stages are gathered, and gradients are reduced after the last backward") {
  const Order order = made("looped-bfs", {.ranks = 1, .stagesPerRank = 4, .microBatches = 1});
  std::string text;
  const Rows rows = *withCommunication(order);
  for (const Instruction &instruction : rows.front())
    text += textOf(instruction) + " ";
  CHECK(text == "0UNSHARD 1UNSHARD 2UNSHARD 0F0 0RESHARD 3UNSHARD 1F0 2F0 3F0 "
                "3B0 3REDUCE_GRAD 3WAIT_REDUCE_GRAD 3RESHARD 0UNSHARD 2B0 2REDUCE_GRAD "
                "2WAIT_REDUCE_GRAD 2RESHARD 1B0 1REDUCE_GRAD 1WAIT_REDUCE_GRAD 1RESHARD 0B0 "
                "0REDUCE_GRAD 0WAIT_REDUCE_GRAD 0RESHARD ");
}

TEST_CASE("all orders of one pipeline get communication that passes the check") {
  size_t count = 0;
  for (const Schedule &schedule : schedules())
    for (const Shape &shape : {Shape{4, 1, 8}, {4, 2, 8}, {3, 2, 6}, {3, 1, 7}})
      if (const Result<Order> order = orderOf(schedule.name, shape);
          order && order->pipelines() == 1) {
        const Result<Rows> rows = withCommunication(*order);
        INFO(schedule.name << ": " << rows.status().message());
        REQUIRE(rows);
        const Status status = checkCommunication(*order, *rows);
        INFO(status.message());
        CHECK(status.isOk());
        ++count;
      }
  CHECK(count > 20);
}

TEST_CASE("a message that is missing, late or listed twice is an error with its place") {
  const auto erase = [](std::vector<Instruction> &row, const std::string &text) {
    row.erase(row.begin() + static_cast<ptrdiff_t>(placeOf(row, text)));
  };
  CHECK_THAT(refusalOfRows([&](Rows &rows) { erase(rows[0], "0SEND_F0"); }),
             Contains("0F0: expected 0SEND_F0 after it"));
  CHECK_THAT(refusalOfRows([&](Rows &rows) { erase(rows[1], "1RECV_F0"); }),
             Contains("0F0: expected 1RECV_F0 on rank 1"));
  CHECK_THAT(refusalOfRows([&](Rows &rows) {
               std::swap(rows[1][placeOf(rows[1], "1RECV_F0")], rows[1][placeOf(rows[1], "1F0")]);
             }),
             Contains("expected 1RECV_F0 before 1F0"));
  CHECK_THAT(
      refusalOfRows([&](Rows &rows) { rows[0].push_back(rows[0][placeOf(rows[0], "0SEND_F0")]); }),
      Contains("0SEND_F0: is listed a second time"));
}

TEST_CASE(
    "messages between stages of one rank, and operations of other ranks' stages, are errors") {
  CHECK_THAT(refusalOfRows([](Rows &rows) {
               rows[1].push_back({Operation::SendForward, std::nullopt, 1, 0});
             }),
             Contains("1SEND_F0: there is no other rank to exchange with"));
  CHECK_THAT(
      refusalOfRows([](Rows &rows) { rows[0].push_back({Operation::Unshard, std::nullopt, 1}); }),
      Contains("1UNSHARD: stage 1 is on another rank"));
  CHECK_THAT(refusalOfRows([](Rows &rows) {
               rows[1].push_back({Operation::ReceiveForward, std::nullopt, 1, 5});
             }),
             Contains("1RECV_F5: rank 0 sends nothing more at that place"));
}

TEST_CASE("a rank receives from another one in the order in which it sends") {
  const Order order = made("gpipe", {.ranks = 2, .microBatches = 2});
  Rows rows = *withCommunication(order);
  std::vector<Instruction> &row = rows[1];
  Instruction second = row[placeOf(row, "1RECV_F1")];
  row.erase(row.begin() + static_cast<ptrdiff_t>(placeOf(row, "1RECV_F1")));
  row.insert(row.begin(), second);
  CHECK_THAT(refusal(checkCommunication(order, rows)),
             Contains("line 2, cell 1: 1RECV_F1: rank 0 sends 0SEND_F0 at that place"));
}

TEST_CASE("an order that cannot end gets no communication") {
  Order order = made("gpipe", {.ranks = 2, .microBatches = 2});
  std::swap(order.tasks[0].front(), order.tasks[0].back());
  CHECK_THAT(refusal(withCommunication(order).status()), Contains("deadlock"));
}
