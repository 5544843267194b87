// --collectives: every collective of one step on rank 0.
#include "runtime/artifact/Access.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/base/Table.h"
#include "runtime/base/Units.h"
#include "tools/cleave-dump/PlanText.h"
#include "tools/cleave-dump/Views.h"

#include <algorithm>
#include <map>

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

// Positions of the waits for asynchronous collectives, by event.
static std::multimap<uint32_t, size_t> waits(const plan::Program &program) {
  std::multimap<uint32_t, size_t> result;
  size_t position = 0;
  for (const plan::Segment &segment : program.segments())
    for (const plan::Instruction &instruction : segment.instructions()) {
      if (instruction.has_wait())
        result.emplace(instruction.wait().event(), position);
      ++position;
    }
  return result;
}

std::string collectivesView(const plan::Plan &plan) {
  const plan::Program &program = programOf(plan, 0);
  std::multimap<uint32_t, size_t> waitsOf = waits(program);
  Table table({">at", "segment", "for", "collective", "over", "groups", ">tensors", ">bytes",
               ">predicted", "until"});
  size_t position = 0;
  for (int s = 0; s < program.segments_size(); ++s) {
    for (const plan::Instruction &instruction : program.segments(s).instructions()) {
      size_t at = position++;
      if (!instruction.has_collective())
        continue;
      const plan::Collective &collective = instruction.collective();
      auto wait = waitsOf.lower_bound(collective.event());
      while (wait != waitsOf.end() && wait->first == collective.event() && wait->second < at)
        ++wait;
      bool waited =
          collective.event() && wait != waitsOf.end() && wait->first == collective.event();
      std::string kind = artifact::kindName(collective.kind());
      if (collective.reduce() != plan::SUM)
        kind += " " + text(collective.reduce());
      table.add({std::to_string(at), program.segments(s).name(), clipped(instruction.name(), 36),
                 kind, axesText(plan, collective.axes()), groupsText(plan, collective),
                 std::to_string(std::max(collective.send_size(), collective.recv_size())),
                 bytesText(collectiveBytes(program, collective)),
                 secondsText(instruction.seconds()), waited ? concat(wait->second) : ""});
    }
  }
  if (table.isEmpty())
    return "No collectives: ranks are independent.\n";
  std::string result =
      "Collectives of one step on rank 0; `until`: position of the wait for an asynchronous "
      "collective\n" +
      table.str(2, lineWidth());
  for (int s = 0; s < program.segments_size(); ++s)
    if (uint64_t runs = runsPerStep(program, s); runs > 1)
      result += concat("  segment ", program.segments(s).name(), " runs ", runs, " times a step\n");
  return result;
}

} // namespace cleave::dump
