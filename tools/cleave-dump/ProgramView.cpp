// --program RANK: the instructions of one rank, segment by segment.
#include "runtime/artifact/Access.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/artifact/Programs.h"
#include "runtime/base/Table.h"
#include "runtime/base/Units.h"
#include "tools/cleave-dump/InstructionText.h"
#include "tools/cleave-dump/PlanText.h"
#include "tools/cleave-dump/Views.h"

#include <algorithm>

namespace cleave::dump {

// `update, micro x4`: the schedule with repetitions counted.
static std::string scheduleText(const plan::Program &program) {
  std::string result;
  for (int i = 0; i < program.schedule_size();) {
    uint32_t segment = program.schedule(i).segment();
    int end = i;
    while (end < program.schedule_size() && program.schedule(end).segment() == segment)
      ++end;
    bool known = segment < static_cast<uint32_t>(program.segments_size());
    result += (result.empty() ? "" : ", ") +
              (known ? program.segments(static_cast<int>(segment)).name() : "?") +
              (end - i > 1 ? concat(" x", end - i) : "");
    i = end;
  }
  return result;
}

// `1, waits for 3, 4`: the queue, and positions of instructions. Empty in queue 0 without waits.
static std::string queueText(const plan::Instruction &instruction) {
  if (instruction.queue() == 0 && instruction.waits().empty())
    return "";
  std::string result = std::to_string(instruction.queue());
  for (int i = 0; i < instruction.waits_size(); ++i)
    result += concat(i ? ", " : ", waits for ", instruction.waits(i));
  return result;
}

// Plans for CPUs have one queue, which needs no column.
static bool hasQueues(const plan::Segment &segment) {
  return std::ranges::any_of(segment.instructions(),
                             [](const plan::Instruction &i) { return i.queue() != 0; });
}

// `Program of rank 0 (the same on ranks 0-3): …`, and its segments.
static std::string textOf(const plan::Plan &plan, const plan::Program &program, uint32_t rank) {
  std::string result =
      titled(concat(isEvaluation(program) ? "Evaluation" : "Program", " of rank ", rank,
                    " (the same on ranks ", ranksOf(program), "): ", program.buffers_size(),
                    " buffers, ", program.kernels_size(), " kernels; ",
                    isEvaluation(program) ? "an evaluation" : "a step", " runs ",
                    scheduleText(program))) +
      "\n";
  uint32_t position = 0, index = 0;
  for (const plan::Segment &segment : program.segments()) {
    Table table(
        {">at", "instruction", "for", "what", ">predicted", hasQueues(segment) ? "queue" : ""});
    double seconds = 0;
    for (const plan::Instruction &instruction : segment.instructions()) {
      table.add({std::to_string(position++), artifact::kindName(instruction),
                 clipped(instruction.name(), 36),
                 clipped(instructionText(plan, program, instruction), 120),
                 secondsText(instruction.seconds()), queueText(instruction)});
      seconds += instruction.seconds();
    }
    result += "\n" +
              paragraph(concat("segment ", segment.name(), ": ", segment.instructions_size(),
                               " instructions, ", secondsText(seconds), " predicted, ",
                               runsText(program, index++)),
                        0) +
              tableText(table);
  }
  return result;
}

Result<std::string> programView(const plan::Plan &plan, uint32_t rank) {
  const uint32_t ranks = artifact::rankCount(plan);
  if (rank >= ranks)
    return Status::userError("found rank ", rank, ", but the plan is for ", ranks,
                             " ranks: give one from 0 to ", ranks ? ranks - 1 : 0);
  if (!artifact::findProgram(plan, plan::Program::STEP, rank))
    return Status::userError("the plan has no program for rank ", rank);
  std::string result = textOf(plan, programOf(plan, rank), rank);
  if (const plan::Program *evaluation =
          artifact::findProgram(plan, plan::Program::EVALUATION, rank))
    result += "\n" + textOf(plan, *evaluation, rank);
  return result;
}

} // namespace cleave::dump
