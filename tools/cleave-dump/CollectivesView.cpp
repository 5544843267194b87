// --collectives: every collective of one step on rank 0; and their sums by kind.
#include "runtime/artifact/Access.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/artifact/Programs.h"
#include "runtime/artifact/Work.h"
#include "runtime/base/Table.h"
#include "runtime/base/Units.h"
#include "tools/cleave-dump/PlanText.h"
#include "tools/cleave-dump/Views.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace cleave::dump {

// Ranks in order as `0-3,8`.
static std::string rangesText(const std::vector<uint32_t> &ranks) {
  std::string result;
  for (size_t i = 0, last = 0; i < ranks.size(); i = last + 1) {
    for (last = i; last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1;)
      ++last;
    result += concat(result.empty() ? "" : ",", ranks[i]);
    if (last > i)
      result += concat(last == i + 1 ? ',' : '-', ranks[last]);
  }
  return result;
}

// The groups along the axes, as `{0,2} {1,3}` or `{0-31} {32-63}`; long lists are truncated.
static std::string groupsText(const plan::Plan &plan, const plan::Collective &collective) {
  for (uint32_t axis : collective.axes())
    if (axis >= static_cast<uint32_t>(plan.mesh_size()))
      return "?";
  std::vector<uint32_t> axes(collective.axes().begin(), collective.axes().end());
  std::vector<bool> seen(artifact::rankCount(plan));
  std::string result;
  for (uint32_t rank = 0; rank < seen.size() && result.size() < 40; ++rank) {
    if (seen[rank])
      continue;
    const std::vector<uint32_t> members = artifact::groupOf(plan, rank, axes);
    for (uint32_t member : members)
      seen[member] = true;
    result += (result.empty() ? "{" : " {") + rangesText(members) + "}";
  }
  return clipped(result, 32);
}

// The position of the first later instruction that waits for this one; -1: none does.
static int firstWaitFor(const plan::Program &program, int position) {
  int other = 0;
  for (const plan::Segment &segment : program.segments())
    for (const plan::Instruction &instruction : segment.instructions())
      if (other++ > position &&
          std::ranges::count(instruction.waits(), static_cast<uint32_t>(position)) > 0)
        return other - 1;
  return -1;
}

// The collectives of a segment; `begin` is the position of its first instruction.
static Table tableOf(const plan::Plan &plan, const plan::Program &program,
                     const plan::Segment &segment, int begin) {
  Table table(
      {">at", "for", "kind", "over", "groups", ">tensors", ">bytes", ">predicted", ">until"});
  for (int i = 0; i < segment.instructions_size(); ++i) {
    const plan::Instruction &instruction = segment.instructions(i);
    if (!instruction.has_collective())
      continue;
    const plan::Collective &collective = instruction.collective();
    const int wait = firstWaitFor(program, begin + i);
    std::string kind = artifact::kindName(collective);
    if (collective.reduce() != plan::SUM)
      kind += " " + text(collective.reduce());
    table.add({std::to_string(begin + i), instruction.name(), kind,
               axesText(plan, collective.axes()), groupsText(plan, collective),
               std::to_string(std::max(collective.send_size(), collective.recv_size())),
               bytesText(collectiveBytes(program, collective)), secondsText(instruction.seconds()),
               wait < 0 ? "" : std::to_string(wait)});
  }
  return table;
}

// The tables of a program; `waits`: whether an instruction of another queue waits for a collective.
static std::string textOf(const plan::Plan &plan, const plan::Program &program, bool &waits) {
  std::string result;
  int begin = 0;
  for (int s = 0; s < program.segments_size(); ++s) {
    const plan::Segment &segment = program.segments(s);
    if (Table table = tableOf(plan, program, segment, begin); !table.isEmpty())
      result +=
          concat("\nsegment ", segment.name(), ", ", runsText(program, s), "\n", tableText(table));
    for (int i = 0; i < segment.instructions_size(); ++i)
      waits |= segment.instructions(i).has_collective() && firstWaitFor(program, begin + i) >= 0;
    begin += segment.instructions_size();
  }
  return result;
}

std::string collectivesView(const plan::Plan &plan) {
  bool waits = false;
  std::string result = textOf(plan, programOf(plan, 0), waits);
  if (const plan::Program *evaluation = artifact::findProgram(plan, plan::Program::EVALUATION, 0))
    result += textOf(plan, *evaluation, waits);
  if (result.empty())
    return "No collectives: ranks are independent.\n";
  return titled("Collectives of rank 0") + "\n" +
         (waits
              ? paragraph("until: position of the first instruction of another queue that waits", 0)
              : "") +
         result;
}

std::string collectiveTable(const plan::Plan &plan, std::optional<uint32_t> axis) {
  struct Row {
    uint64_t count = 0, tensors = 0;
    double sent = 0, seconds = 0; // bytes; predicted
  };
  const plan::Program &program = programOf(plan, 0);
  std::map<std::tuple<int, std::string, std::string>, Row> rows;
  std::map<std::string, int> firstOfName;
  for (int s = 0; s < program.segments_size(); ++s) {
    const int first = firstOfName.try_emplace(program.segments(s).name(), s).first->second;
    const uint64_t runs = runsOf(program, s);
    for (const plan::Instruction &instruction : program.segments(s).instructions()) {
      const plan::Collective &collective = instruction.collective();
      if (!instruction.has_collective() ||
          (axis && std::ranges::find(collective.axes(), *axis) == collective.axes().end()))
        continue;
      Row &row = rows[{first, artifact::kindName(collective), axesText(plan, collective.axes())}];
      row.count += runs;
      row.tensors += runs * std::max(collective.send_size(), collective.recv_size());
      row.sent += double(runs) * artifact::sentBytes(plan, program, collective);
      row.seconds += double(runs) * instruction.seconds();
    }
  }
  Table table({"segment", "collective", "over", ">calls", ">tensors", ">sent", ">predicted"});
  for (const auto &[key, row] : rows)
    table.add({program.segments(std::get<0>(key)).name(), std::get<1>(key), std::get<2>(key),
               std::to_string(row.count), std::to_string(row.tensors),
               bytesText(uint64_t(row.sent)), secondsText(row.seconds)});
  return table.isEmpty() ? "" : tableText(table);
}

} // namespace cleave::dump
