// --html: a page that shows the plan in a browser, without a network. It draws the
// JSON of the plan, to which every instruction and every buffer is added here.
#include "runtime/artifact/Access.h"
#include "runtime/artifact/Flops.h"
#include "tools/cleave-dump/InstructionText.h"
#include "tools/cleave-dump/PlanJson.h"
#include "tools/cleave-dump/PlanText.h"
#include "tools/cleave-dump/Timeline.h"
#include "tools/cleave-dump/Views.h"
#include "tools/page/Page.h"

namespace cleave::dump {

// The row of the timeline: 0 computes, 1 communicates, 2 moves data in or out.
static int laneOf(const plan::Instruction &instruction) {
  if (instruction.has_collective())
    return 1;
  return instruction.queue() == 2 || instruction.has_load_input() || instruction.has_store_output()
             ? 2
             : 0;
}

static uint64_t bytesOf(const plan::Program &program, const plan::Instruction &instruction) {
  uint64_t bytes = 0;
  for (const artifact::Access &access : artifact::accessesOf(program, instruction))
    bytes += access.bytes ? access.bytes : bufferAt(program, access.buffer).bytes();
  return bytes;
}

// Rows of [name, kind, lane, begin, seconds, FLOPs, bytes, text].
static Json instructionsJson(const plan::Plan &plan, const plan::Program &program,
                             const plan::Segment &segment) {
  Json rows = Json::array();
  const std::vector<double> begins = beginsOf(segment);
  for (int i = 0; i < segment.instructions_size(); ++i) {
    const plan::Instruction &instruction = segment.instructions(i);
    const bool known = !instruction.has_launch() ||
                       instruction.launch().kernel() < uint32_t(program.kernels_size());
    rows.push_back({instruction.name(), artifact::kindName(instruction), laneOf(instruction),
                    begins[i], instruction.seconds(),
                    known ? artifact::flopsOf(program, instruction) : 0,
                    bytesOf(program, instruction), instructionText(plan, program, instruction)});
  }
  return rows;
}

// Rows of [name, role, bytes, first, last, arena, offset, shape]; positions lie in the program.
static Json blocksJson(const plan::Program &program) {
  Json rows = Json::array();
  const size_t positions = std::max<size_t>(1, positionCount(program));
  for (const plan::Buffer &buffer : program.buffers()) {
    const size_t last = std::min<size_t>(buffer.last(), positions - 1);
    if (buffer.first() <= last)
      rows.push_back({buffer.name(), text(buffer.role()), buffer.bytes(), buffer.first(), last,
                      buffer.arena(), buffer.offset(), shapeText(buffer.shape())});
  }
  return rows;
}

static Json pageJson(const plan::Plan &plan) {
  Json result = planJson(plan);
  for (int p = 0; p < plan.programs_size(); ++p) {
    const plan::Program &program = plan.programs(p);
    Json segments = Json::array();
    for (int s = 0; s < program.segments_size(); ++s)
      segments.push_back({{"name", program.segments(s).name()},
                          {"runs", runsOf(program, s)},
                          {"instructions", instructionsJson(plan, program, program.segments(s))}});
    result["programs"][p]["segments"] = segments;
    result["programs"][p]["blocks"] = blocksJson(program);
  }
  return result;
}

std::string htmlView(const plan::Plan &plan, const std::string &path) {
  return page::page(page::Kind::Plan, titleOf(plan, path),
                    pageJson(plan).dump(-1, ' ', false, Json::error_handler_t::replace));
}

} // namespace cleave::dump
