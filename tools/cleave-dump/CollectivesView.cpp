// --collectives: every collective of one step on rank 0.
#include "runtime/artifact/Access.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/base/Table.h"
#include "runtime/base/Units.h"
#include "tools/cleave-dump/PlanText.h"
#include "tools/cleave-dump/Views.h"

#include <algorithm>

namespace cleave::dump {

// The groups along the axes, as `{0,1} {2,3}`; long lists are truncated.
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
    std::string members;
    for (uint32_t member : artifact::groupOf(plan, rank, axes)) {
      seen[member] = true;
      members += concat(members.empty() ? "" : ",", member);
    }
    result += (result.empty() ? "{" : " {") + members + "}";
  }
  return clipped(result, 32);
}

// The first instruction of the segment that waits for this one; -1: none does.
static int firstWaitFor(const plan::Segment &segment, int index) {
  for (int i = index + 1; i < segment.instructions_size(); ++i)
    if (std::ranges::count(segment.instructions(i).waits(), static_cast<uint32_t>(index)) > 0)
      return i;
  return -1;
}

std::string collectivesView(const plan::Plan &plan) {
  const plan::Program &program = programOf(plan, 0);
  Table table({">at", "segment", "for", "collective", "over", "groups", ">tensors", ">bytes",
               ">predicted", "until"});
  int begin = 0; // position of the segment's first instruction
  for (int s = 0; s < program.segments_size(); ++s) {
    const plan::Segment &segment = program.segments(s);
    for (int i = 0; i < segment.instructions_size(); ++i) {
      const plan::Instruction &instruction = segment.instructions(i);
      if (!instruction.has_collective())
        continue;
      const plan::Collective &collective = instruction.collective();
      const int wait = firstWaitFor(segment, i);
      std::string kind = artifact::kindName(collective.kind());
      if (collective.reduce() != plan::SUM)
        kind += " " + text(collective.reduce());
      table.add({std::to_string(begin + i), segment.name(), clipped(instruction.name(), 36), kind,
                 axesText(plan, collective.axes()), groupsText(plan, collective),
                 std::to_string(std::max(collective.send_size(), collective.recv_size())),
                 bytesText(collectiveBytes(program, collective)),
                 secondsText(instruction.seconds()), wait < 0 ? "" : std::to_string(begin + wait)});
    }
    begin += segment.instructions_size();
  }
  if (table.isEmpty())
    return "No collectives: ranks are independent.\n";
  std::string result =
      titled("Collectives of one step on rank 0") + "\n" +
      paragraph("`until`: position of the first instruction of another queue that waits", 0) +
      tableText(table);
  for (int s = 0; s < program.segments_size(); ++s)
    if (uint64_t runs = runsPerStep(program, s); runs > 1)
      result += concat("  segment ", program.segments(s).name(), " runs ", runs, " times a step\n");
  return result;
}

} // namespace cleave::dump
