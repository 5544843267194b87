// --memory: chart of memory over one step, live buffers at the peak, largest buffers.
#include "runtime/artifact/Mesh.h"
#include "runtime/base/Fold.h"
#include "runtime/base/Table.h"
#include "runtime/base/Units.h"
#include "tools/cleave-dump/ArenaUse.h"
#include "tools/cleave-dump/PlanText.h"
#include "tools/cleave-dump/Views.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace cleave::dump {

static constexpr size_t kLines = 10;                // of the picture
static constexpr size_t kGroups = 12, kLargest = 8; // rows of the tables

// One character of the chart for the filled share [0, 1] of its cell.
static const char *cell(double filled, bool always) {
  static const char *const eighths[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (filled >= 1)
    return always ? "▒" : "█";
  return eighths[filled <= 0 ? 0 : std::max(1, static_cast<int>(filled * 8))];
}

// Maximum of live bytes over the positions of each column.
static std::vector<uint64_t> columns(const std::vector<uint64_t> &live) {
  constexpr size_t kLabels = 14, kMost = 72; // columns beside the picture, and of it
  std::vector<uint64_t> result(std::min({kMost, lineWidth() - kLabels, live.size()}));
  for (size_t c = 0; c < result.size(); ++c) {
    size_t begin = c * live.size() / result.size(), end = (c + 1) * live.size() / result.size();
    result[c] = *std::max_element(live.begin() + begin, live.begin() + std::max(end, begin + 1));
  }
  return result;
}

// The line below the chart with the names of the segments at their first positions.
static std::string segmentLine(const plan::Program &program, size_t width) {
  std::string line;
  size_t positions = std::max<size_t>(1, positionCount(program));
  std::vector<size_t> begins = segmentBegins(program);
  for (size_t s = 0; s < begins.size(); ++s) {
    size_t column = begins[s] * width / positions;
    if (!line.empty() && line.size() >= column)
      continue; // no room for its name
    line.resize(column, ' ');
    line += "|" + program.segments(static_cast<int>(s)).name();
  }
  return line;
}

static std::string picture(const plan::Program &program, const ArenaUse &use, uint64_t top) {
  std::vector<uint64_t> heights = columns(use.live);
  double perLine = static_cast<double>(std::max<uint64_t>(top, 1)) / kLines;
  std::string result;
  for (size_t line = kLines; line-- > 0;) {
    bool labelled = line == kLines - 1 || line == kLines / 2 - 1;
    std::string label =
        labelled ? bytesText(static_cast<uint64_t>(perLine * double(line + 1))) : "";
    result += "  " + std::string(10 - std::min<size_t>(10, label.size()), ' ') + label + " |";
    for (uint64_t height : heights)
      result += cell(static_cast<double>(height) / perLine - double(line),
                     static_cast<double>(use.always) / perLine >= double(line) + 0.5);
    result.erase(result.find_last_not_of(' ') + 1);
    result += "\n";
  }
  return result + "             " + segmentLine(program, heights.size()) + "\n";
}

static std::string lifetime(const plan::Buffer &buffer, size_t positions) {
  if (buffer.first() == 0 && buffer.last() + 1 >= positions)
    return "always";
  return concat(buffer.first(), '-', buffer.last());
}

// Live buffers at the peak; those with the same role and folded name share a row.
static std::string peakTable(const plan::Program &program, const ArenaUse &use) {
  struct Group {
    std::vector<std::string> names;
    uint64_t bytes = 0;
  };
  std::map<std::tuple<int, std::string>, Group> groups;
  for (int b : use.atPeak) {
    const plan::Buffer &buffer = program.buffers(b);
    Group &group = groups[{buffer.role(), nameShape(buffer.name())}];
    group.names.push_back(buffer.name());
    group.bytes += buffer.bytes();
  }
  std::vector<std::pair<std::tuple<int, std::string>, Group>> rows(groups.begin(), groups.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto &a, const auto &b) { return a.second.bytes > b.second.bytes; });
  Table table({"live at the peak", ">buffers", "role", ">bytes", ">share"});
  uint64_t rest = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Group &group = rows[i].second;
    if (i >= kGroups && rows.size() > kGroups + 1) {
      rest += group.bytes;
      continue;
    }
    table.add({foldedName(group.names), std::to_string(group.names.size()),
               text(static_cast<plan::Role>(std::get<0>(rows[i].first))), bytesText(group.bytes),
               percentText(double(group.bytes) / double(use.peakBytes()))});
  }
  if (rest)
    table.add({concat("… ", rows.size() - kGroups, " more"), "", "", bytesText(rest),
               percentText(double(rest) / double(use.peakBytes()))});
  return table.isEmpty() ? "" : "\n" + tableText(table);
}

// The instruction at a position; null if there is none.
static const plan::Instruction *instructionAt(const plan::Program &program, size_t position) {
  for (const plan::Segment &segment : program.segments()) {
    if (position < static_cast<size_t>(segment.instructions_size()))
      return &segment.instructions(static_cast<int>(position));
    position -= segment.instructions_size();
  }
  return nullptr;
}

static std::string nameAt(const plan::Program &program, size_t position) {
  const plan::Instruction *instruction = instructionAt(program, position);
  return instruction ? instruction->name() : "?";
}

// The largest buffers that are not live at every position.
static std::string largestTable(const plan::Program &program, uint32_t arena) {
  size_t positions = positionCount(program);
  std::vector<const plan::Buffer *> buffers;
  for (const plan::Buffer &buffer : program.buffers())
    if (buffer.arena() == arena && lifetime(buffer, positions) != "always")
      buffers.push_back(&buffer);
  std::stable_sort(
      buffers.begin(), buffers.end(),
      [](const plan::Buffer *a, const plan::Buffer *b) { return a->bytes() > b->bytes(); });
  Table table({"largest temporary", "from", "type", "shape", "role", ">bytes", ">offset", "live"});
  for (size_t i = 0; i < std::min(kLargest, buffers.size()); ++i)
    table.add({buffers[i]->name(), nameAt(program, buffers[i]->first()),
               artifact::dtypeName(buffers[i]->dtype()), shapeText(buffers[i]->shape()),
               text(buffers[i]->role()), bytesText(buffers[i]->bytes()),
               std::to_string(buffers[i]->offset()), lifetime(*buffers[i], positions)});
  return table.isEmpty() ? "" : "\n" + tableText(table);
}

// `micro, node_linear`: the segment and name of the instruction at a position.
static std::string placeOf(const plan::Program &program, size_t position) {
  const std::vector<size_t> begins = segmentBegins(program);
  const auto behind = std::upper_bound(begins.begin(), begins.end(), position);
  if (behind == begins.begin() || position >= positionCount(program))
    return "?";
  const auto segment = static_cast<int>(behind - begins.begin() - 1);
  return program.segments(segment).name() + ", " + nameAt(program, position);
}

static std::string arenaView(const plan::Program &program, uint32_t arenaIndex) {
  const plan::Arena &arena = program.arenas(arenaIndex);
  ArenaUse use = arenaUse(program, arenaIndex);
  uint64_t lost = arena.bytes() - std::min(arena.bytes(), arena.peak_bytes());
  const std::string head =
      titled(text(arena.space()) + " memory of ranks " + ranksOf(program) +
             (isEvaluation(program) ? " in an evaluation: " : ": ") + bytesText(arena.bytes()) +
             " allocated, " + bytesText(arena.peak_bytes()) + " at the peak, " + bytesText(lost) +
             " lost to placement") +
      "\n" +
      paragraph(concat("the peak is at instruction ", use.peakPosition, " (",
                       placeOf(program, use.peakPosition), "); ", bytesText(use.always),
                       " live always (▒)"),
                2) +
      "\n";
  return head + picture(program, use, std::max(arena.bytes(), use.peakBytes())) +
         peakTable(program, use) + largestTable(program, arenaIndex);
}

std::string memoryView(const plan::Plan &plan) {
  std::string result;
  for (const plan::Program &program : plan.programs())
    for (int a = 0; a < program.arenas_size(); ++a)
      if (program.arenas(a).bytes())
        result += (result.empty() ? "" : "\n") + arenaView(program, static_cast<uint32_t>(a));
  return result.empty() ? "No memory: the plan has no arena.\n" : result;
}

} // namespace cleave::dump
