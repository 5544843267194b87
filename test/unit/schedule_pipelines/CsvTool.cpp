// pipeline-csv: orders and PyTorch's CSV files for test/python/pipelines.py. Reads commands from
// standard input, one a line, and answers each with lines that a line `end` follows:
//   write SCHEDULE RANKS STAGES-PER-RANK MICRO-BATCHES FORMAT   the CSV of a schedule
//   read FORMAT PATH                                             the order of a file: tasks alone
// FORMAT is `compute_only` or `compute_comms`. An error is a line `error: …`.
#include "compiler/schedule/pipelines/Csv.h"
#include "compiler/schedule/pipelines/Schedules.h"

#include <fstream>
#include <iostream>
#include <sstream>

using namespace cleave;
using namespace cleave::pipelines;

namespace {

CsvFormat formatOf(const std::string &name) {
  return name == "compute_comms" ? CsvFormat::Communication : CsvFormat::Tasks;
}

Result<std::string> answer(std::istringstream command) {
  std::string verb, schedule, format, path;
  command >> verb;
  if (verb == "write") {
    Shape shape;
    command >> schedule >> shape.ranks >> shape.stagesPerRank >> shape.microBatches >> format;
    CLEAVE_TRY_ASSIGN(const Order order, orderOf(schedule, shape));
    return writeCsv(order, formatOf(format));
  }
  command >> format >> path;
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  CLEAVE_TRY_ASSIGN(const Order order, readCsv(text.str(), formatOf(format)));
  return textOf(order) + "\n";
}

} // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const Result<std::string> found = answer(std::istringstream(line));
    std::cout << (found ? *found : "error: " + found.status().message() + "\n") << "end"
              << std::endl;
  }
}
