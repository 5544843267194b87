#include "tools/cleave-dump/InstructionParts.h"

#include "tools/cleave-dump/PlanText.h"

#include <algorithm>

namespace cleave::dump {

using Parts = std::vector<std::vector<artifact::Access>>;

static Parts partsOf(const plan::Collective &collective) {
  Parts parts(size_t(std::max(collective.send_size(), collective.recv_size())));
  for (int i = 0; i < collective.send_size(); ++i)
    parts[size_t(i)].push_back({collective.send(i), true, false, 0});
  for (int i = 0; i < collective.recv_size(); ++i)
    parts[size_t(i)].push_back({collective.recv(i), false, true, 0});
  return parts;
}

Parts partsOf(const plan::Program &program, const plan::Instruction &instruction) {
  if (instruction.has_collective())
    return partsOf(instruction.collective());
  const std::vector<artifact::Access> accesses = artifact::accessesOf(program, instruction);
  size_t instances = 1;
  if (instruction.has_launch())
    instances = std::max<size_t>(1, kernelAt(program, instruction.launch().kernel()).instances());
  if (accesses.size() % instances != 0) // a defective plan
    instances = 1;
  const size_t size = accesses.size() / instances;
  Parts parts;
  for (size_t i = 0; i < instances; ++i)
    parts.emplace_back(accesses.begin() + ptrdiff_t(i * size),
                       accesses.begin() + ptrdiff_t((i + 1) * size));
  return parts;
}

} // namespace cleave::dump
