// See BackwardBegin.h.
#include "tools/cleave-dump/BackwardBegin.h"

#include "runtime/artifact/Access.h"

#include <algorithm>
#include <set>
#include <vector>

namespace cleave::dump {
namespace {

bool isProduct(const plan::Instruction &instruction) {
  return instruction.has_matmul() || instruction.has_convolution() || instruction.has_attention() ||
         instruction.has_grouped_matmul();
}

} // namespace

std::vector<bool> neededByLoss(const plan::Program &program) {
  std::vector<bool> isNeeded;
  std::set<uint32_t> needed; // buffers
  for (auto segment = program.segments().rbegin(); segment != program.segments().rend(); ++segment)
    for (auto instruction = segment->instructions().rbegin();
         instruction != segment->instructions().rend(); ++instruction) {
      if (instruction->has_metric() && instruction->metric().name() == "loss")
        needed.insert(instruction->metric().buffer());
      const std::vector<artifact::Access> accesses = artifact::accessesOf(program, *instruction);
      bool writesNeeded = false;
      for (const artifact::Access &access : accesses)
        writesNeeded |= access.writes && needed.contains(access.buffer);
      for (const artifact::Access &access : accesses)
        if (writesNeeded && (access.reads || instruction->has_launch())) // may read what it writes
          needed.insert(access.buffer);
      isNeeded.push_back(writesNeeded);
    }
  return {isNeeded.rbegin(), isNeeded.rend()};
}

std::optional<size_t> backwardBegin(const plan::Program &program) {
  const std::vector<bool> isNeeded = neededByLoss(program);
  std::optional<size_t> begin;
  size_t position = 0;
  for (const plan::Segment &segment : program.segments())
    for (const plan::Instruction &instruction : segment.instructions()) {
      const bool computes = isProduct(instruction) || instruction.has_launch();
      if (isNeeded[position] && isProduct(instruction))
        begin.reset();
      else if (!isNeeded[position] && computes && !begin && segment.name() == "micro")
        begin = position;
      ++position;
    }
  const bool hasLoss = std::find(isNeeded.begin(), isNeeded.end(), true) != isNeeded.end();
  return hasLoss ? begin : std::nullopt;
}

} // namespace cleave::dump
