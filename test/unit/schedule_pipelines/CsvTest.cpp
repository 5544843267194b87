// PyTorch's CSV files: what is read, written and refused.
#include "compiler/schedule/pipelines/Csv.h"

#include "test/unit/schedule_pipelines/Evaluated.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::pipelines;
using Catch::Matchers::Contains;

namespace {

Order readBack(const std::string &text, CsvFormat format = CsvFormat::Tasks) {
  const Result<Order> order = readCsv(text, format);
  INFO(order.status().message() << "\n" << text);
  REQUIRE(order);
  return *order;
}

std::string csvWhy(const std::string &text, CsvFormat format = CsvFormat::Tasks) {
  return refusal(readCsv(text, format).status());
}

// The example of PyTorch's formats: 2 ranks, a V, one micro-batch.
const std::string kTasks = "0F0,3F0,3I0,3W0,0I0,0W0\n1F0,2F0,2I0,1I0,2W0,1W0\n";
const std::string kCommunication = "0F0,0SEND_F0,3RECV_F0,3F0,3I0,3SEND_B0,3W0,0RECV_B0,0I0,0W0\n"
                                   "1RECV_F0,1F0,2F0,2SEND_F0,2RECV_B0,2I0,1I0,1SEND_B0,2W0,1W0\n";

} // namespace

TEST_CASE("a file has a line per rank; the ranks of stages are where their cells are") {
  const Order order = readBack(kTasks);
  CHECK(order.rankOf == vPlacement(2));
  CHECK(order.microBatches() == 1);
  CHECK(textOf(order) + "\n" == kTasks);
  CHECK(*writeCsv(order, CsvFormat::Tasks) == kTasks);
  CHECK(readBack(kCommunication, CsvFormat::Communication) == order);
}

TEST_CASE("idle steps, blanks and line ends of other systems do not count") {
  CHECK(readBack(",,0F0,  0B0 ,\r\n1F0,,1B0,\r\n") == readBack("0F0,0B0\n1F0,1B0"));
}

TEST_CASE("all orders that PyTorch can hold are read as they are written") {
  size_t count = 0;
  for (const Schedule &schedule : schedules())
    for (const Shape &shape : {Shape{1, 1, 4}, {4, 1, 8}, {4, 2, 8}, {3, 3, 6}, {3, 2, 7}})
      for (CsvFormat format : {CsvFormat::Tasks, CsvFormat::Communication}) {
        const Result<Order> order = orderOf(schedule.name, shape);
        if (!order)
          continue;
        INFO(schedule.name);
        if (const Result<std::string> text = writeCsv(*order, format)) {
          CHECK(readBack(*text, format) == *order);
          ++count;
        } else {
          CHECK(text.status().kind() == StatusKind::UserError);
        }
      }
  CHECK(count > 40);
}

TEST_CASE("what PyTorch's format cannot hold is not written") {
  const auto writeWhy = [](const Order &order) {
    return refusal(writeCsv(order, CsvFormat::Tasks).status());
  };
  CHECK_THAT(writeWhy(made("chimera", {.ranks = 2, .microBatches = 2})),
             Contains("found 2 pipelines"));
  CHECK_THAT(writeWhy(made("critical-path", {.ranks = 2, .microBatches = 4})),
             Contains("found 0R0, which PyTorch's CSV cannot hold"));
  Order pairs = emptyOrder(1, {0}, 2);
  pairs.tasks[0] = {{{Kind::Forward, 0, 0}, {Kind::Forward, 0, 1}},
                    Action{Kind::Backward, 0, 0},
                    Action{Kind::Backward, 0, 1}};
  CHECK_THAT(writeWhy(pairs), Contains("PAIR_F, which PyTorch's CSV cannot hold"));
  pairs.tasks[0].pop_back();
  CHECK_THAT(writeWhy(pairs), Contains("is missing"));
}

TEST_CASE("cells that are not actions are errors with line and cell") {
  for (const char *cell : {"2F0xyz",
                           "F0",
                           "0F",
                           "0Q0",
                           "0f0",
                           "0 F0",
                           "-1F0",
                           "0F-1",
                           "0C0",
                           "0R0",
                           "(0F0)",
                           "(0F0;0B0)",
                           "(0F0;0B0)PAIR_F",
                           "(0F0;0F1)OVERLAP_F_B",
                           "(0F0,0B0)OVERLAP_F_B",
                           "(;)OVERLAP_F_B",
                           ")OVERLAP_F_B",
                           "0FB0",
                           "\"0F0\"",
                           "0F9999999999",
                           "0UNSHARD0",
                           "0SEND_F",
                           "0WAIT_REDUCE_GRADx",
                           "0OVERLAP_F_B0"}) {
    INFO(cell);
    CHECK_THAT(csvWhy(std::string("0F0\n1F0,") + cell),
               Contains("line 2, cell 2: found '") && Contains("expected a stage, an action"));
  }
}

TEST_CASE("communication is an error in a file of tasks, an empty cell in one with communication") {
  CHECK_THAT(csvWhy(kCommunication),
             Contains("line 1, cell 2: found the communication '0SEND_F0'"));
  CHECK_THAT(csvWhy("0F0,,0B0", CsvFormat::Communication), Contains("line 1, cell 2: is empty"));
}

TEST_CASE("actions listed twice, on two ranks or not at all are errors") {
  CHECK(csvWhy("0F0,0B0,0F0\n1F0,1B0") ==
        "line 1, cell 3: found 0F0 a second time; the first is in line 1, cell 1");
  CHECK_THAT(csvWhy("0F0,0B0\n1F0,0F1"),
             Contains("line 2, cell 2: found stage 0, which is on the rank of line 1, too"));
  CHECK(csvWhy("0F0,0B0\n1F0") == "rank 1: 1B0, or 1I0 and 1W0 is missing");
  CHECK_THAT(csvWhy("0F0,0B0\n2F0,2B0"),
             Contains("no action of stage 1, but of stage 2 in line 2, cell 1"));
  CHECK_THAT(csvWhy("0F0,0B0\n\n1F0,1B0"),
             Contains("line 2 has no action; expected those of rank 1"));
  CHECK_THAT(csvWhy(""), Contains("line 1 has no action"));
  CHECK_THAT(csvWhy("0F900000000,0B900000000"),
             Contains("found micro-batch 900000000 in a file of 2"));
  CHECK_THAT(csvWhy("0F1,0B1"), Contains("0F0 is missing"));
}

TEST_CASE("orders that cannot end are errors with the places that wait for each other") {
  CHECK(
      csvWhy("0F0,0B0\n1B0,1F0") ==
      "deadlock: '1B0 in line 2, cell 1' (task 2: rank 1, compute) waits for '1F0 in line 2, cell "
      "2' (task 3: rank 1, compute), which waits for '1B0 in line 2, cell 1' (task 2: rank 1, "
      "compute)");
}

TEST_CASE("values that are not sent or received are errors in a file with communication") {
  CHECK_THAT(csvWhy(kTasks, CsvFormat::Communication),
             Contains("line 1, cell 1: 0F0: expected 0SEND_F0 after it"));
}
