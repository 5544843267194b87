// See Programs.h.
#include "runtime/artifact/Programs.h"

#include "runtime/artifact/Mesh.h"

#include <algorithm>

namespace cleave::artifact {

static bool isRunBy(const plan::Program &program, uint32_t rank) {
  return std::ranges::binary_search(program.ranks(), rank);
}

const plan::Program *findProgram(const plan::Plan &plan, plan::Program::Kind kind, uint32_t rank) {
  for (const plan::Program &program : plan.programs())
    if (program.kind() == kind && isRunBy(program, rank))
      return &program;
  return nullptr;
}

const plan::Program &stepOf(const plan::Plan &plan, uint32_t rank) {
  return *findProgram(plan, plan::Program::STEP, rank);
}

bool hasEvaluation(const plan::Plan &plan) {
  return std::ranges::any_of(plan.programs(), [](const plan::Program &program) {
    return program.kind() == plan::Program::EVALUATION;
  });
}

std::vector<plan::Arena> arenasOf(const plan::Plan &plan, uint32_t rank) {
  const auto &own = stepOf(plan, rank).arenas();
  std::vector<plan::Arena> arenas(own.begin(), own.end());
  for (const plan::Program &program : plan.programs())
    for (int i = 0; isRunBy(program, rank) && i < program.arenas_size(); ++i) {
      plan::Arena &arena = arenas[size_t(i)];
      arena.set_bytes(std::max(arena.bytes(), program.arenas(i).bytes()));
      arena.set_peak_bytes(std::max(arena.peak_bytes(), program.arenas(i).peak_bytes()));
    }
  return arenas;
}

static bool stores(const plan::Program &program, uint32_t tensor) {
  return std::ranges::any_of(program.buffers(), [&](const plan::Buffer &buffer) {
    return buffer.tensor() == int32_t(tensor);
  });
}

uint32_t firstWithBlock(const plan::Plan &plan, uint32_t tensor, uint32_t rank) {
  std::vector<uint32_t> others; // the axes that do not split the tensor
  for (uint32_t axis = 0; axis < uint32_t(plan.mesh_size()); ++axis)
    if (std::ranges::none_of(plan.tensors(int(tensor)).sharding(), [&](const auto &dim) {
          return std::ranges::find(dim.axes(), axis) != dim.axes().end();
        }))
      others.push_back(axis);
  for (uint32_t other : groupOf(plan, rank, others)) // ascending
    if (stores(stepOf(plan, other), tensor))
      return other;
  return rank;
}

void setRanks(plan::Program &program, uint32_t count) {
  program.clear_ranks();
  for (uint32_t rank = 0; rank < count; ++rank)
    program.add_ranks(rank);
}

} // namespace cleave::artifact
