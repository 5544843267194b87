// See FlightRecord.h.
#include "tools/cleave-run/FlightRecord.h"

#include "runtime/artifact/Access.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/artifact/Programs.h"
#include "runtime/base/FileWriter.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

namespace cleave::run {
namespace {

using Json = nlohmann::ordered_json;

// An instruction of one rank's step, and its index among the instructions of the step.
struct Placed {
  const plan::Instruction *instruction = nullptr; // null: none yet
  int64_t index = -1;
};

// Where a rank was.
struct Whereabouts {
  Placed last, lastCollective;
  int64_t collectives = 0; // begun by the process, the last one included
};

// Follows the schedule to the rank's position. The order of a step is fixed, so the position tells
// everything that the rank has done before.
Whereabouts whereaboutsOf(const plan::Plan &plan, const launch::RankReport &report) {
  const plan::Program &program = artifact::stepOf(plan, uint32_t(report.rank));
  size_t scheduled = size_t(report.position >> 32);
  int64_t instructions = int64_t(report.position & 0xffffffff); // begun in that schedule step
  Whereabouts found;
  Placed lastOfStep;
  int64_t perStep = 0, inStep = 0, index = 0;
  for (int i = 0; i < program.schedule_size(); ++i) {
    const auto &segment = program.segments(int(program.schedule(i).segment()));
    for (int j = 0; j < segment.instructions_size(); ++j, ++index) {
      const plan::Instruction &instruction = segment.instructions(j);
      bool isBegun = size_t(i) < scheduled || (size_t(i) == scheduled && j < instructions);
      isBegun = isBegun && report.position != 0;
      if (isBegun)
        found.last = {&instruction, index};
      if (!instruction.has_collective())
        continue;
      ++perStep;
      lastOfStep = {&instruction, index};
      if (isBegun) {
        found.lastCollective = lastOfStep;
        ++inStep;
      }
    }
  }
  int64_t stepsBefore = report.firstStep < 0 ? 0 : report.step - report.firstStep;
  if (!found.lastCollective.instruction && stepsBefore > 0)
    found.lastCollective = lastOfStep;
  found.collectives = stepsBefore * perStep + inStep;
  return found;
}

std::vector<uint32_t> groupOf(const plan::Plan &plan, int rank, const plan::Collective &call) {
  std::vector<uint32_t> axes(call.axes().begin(), call.axes().end());
  return artifact::groupOf(plan, uint32_t(rank), axes);
}

Json describe(const Placed &placed) {
  if (!placed.instruction)
    return nullptr;
  return Json{{"index", placed.index},
              {"kind", artifact::kindName(*placed.instruction)},
              {"name", placed.instruction->name()}};
}

Json describeRank(const plan::Plan &plan, const launch::RankReport &report) {
  Whereabouts where = whereaboutsOf(plan, report);
  Json collective = describe(where.lastCollective);
  if (where.lastCollective.instruction) {
    collective["ranks"] =
        groupOf(plan, report.rank, where.lastCollective.instruction->collective());
    collective["count"] = where.collectives;
  }
  bool isKnown = report.secondsSilent >= 0;
  return Json{{"rank", report.rank},
              {"place", launch::placeText(report.place, report.step)},
              {"step", report.step < 0 ? Json() : Json(report.step)},
              {"seconds_in_step", report.secondsInStep},
              {"seconds_without_progress", isKnown ? Json(report.secondsSilent) : Json()},
              {"is_lost", report.isLost},
              {"ending", report.ending},
              {"instruction", describe(where.last)},
              {"collective", collective}};
}

// `rank 2, in step 7, 10.0 s without progress: matmul 'fc1' (instruction 12); last collective:
// all-reduce 'loss' of ranks 0, 1, 2, 3 (number 43)`
std::string lineOf(const plan::Plan &plan, const launch::RankReport &report) {
  Whereabouts where = whereaboutsOf(plan, report);
  std::string text =
      concat("rank ", report.rank, ", ", launch::placeText(report.place, report.step));
  if (report.secondsSilent >= 0) {
    char number[64];
    std::snprintf(number, sizeof number, ", %.1f s without progress", report.secondsSilent);
    text += number;
  }
  if (!where.last.instruction)
    return text;
  text += concat(": ", artifact::kindName(*where.last.instruction), " '",
                 where.last.instruction->name(), "' (instruction ", where.last.index, ")");
  const plan::Instruction *call = where.lastCollective.instruction;
  if (!call)
    return text;
  std::string ranks;
  for (uint32_t rank : groupOf(plan, report.rank, call->collective()))
    ranks += concat(ranks.empty() ? "" : ", ", rank);
  return text + concat("; last collective: ", artifact::kindName(*call), " '", call->name(),
                       "' of ranks ", ranks, " (number ", where.collectives, ")");
}

} // namespace

Status writeFlightRecord(const std::string &path, const plan::Plan &plan,
                         const FlightRecord &record) {
  Json ranks = Json::array();
  for (const launch::RankReport &report : record.ranks)
    ranks.push_back(describeRank(plan, report));
  Json json{{"reason", record.reason},
            {"exit_code", record.exitCode},
            {"restarts", record.restarts},
            {"ranks", ranks}};
  return writeFile(path, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::vector<std::string> flightLines(const plan::Plan &plan, const FlightRecord &record) {
  const launch::RankReport *lost = nullptr, *waits = nullptr;
  for (const launch::RankReport &report : record.ranks) {
    const launch::RankReport *&best = report.isLost ? lost : waits;
    if (!best || (!report.isLost && report.secondsSilent > best->secondsSilent))
      best = &report;
  }
  std::vector<std::string> lines;
  for (const launch::RankReport *report : {lost, waits})
    if (report)
      lines.push_back(lineOf(plan, *report));
  return lines;
}

} // namespace cleave::run
