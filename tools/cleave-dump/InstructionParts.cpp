#include "tools/cleave-dump/InstructionParts.h"

#include "runtime/artifact/KernelSignature.h"
#include "tools/cleave-dump/PlanText.h"

#include <algorithm>
#include <string>

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

// passes/bufferize/SharedLaunches.cpp calls the kernel of N instances `NAME_xN`; the buffers of
// an instance are next to each other.
static size_t instancesOf(const plan::Kernel &kernel) {
  const std::string name = artifact::nameOf(kernel);
  const size_t mark = name.rfind("_x");
  const std::string number = mark == std::string::npos ? "" : name.substr(mark + 2);
  const bool isNumber = !number.empty() && number.size() < 9 &&
                        number.find_first_not_of("0123456789") == std::string::npos;
  return isNumber ? std::max<size_t>(1, std::stoul(number)) : 1;
}

Parts partsOf(const plan::Program &program, const plan::Instruction &instruction) {
  if (instruction.has_collective())
    return partsOf(instruction.collective());
  const std::vector<artifact::Access> accesses = artifact::accessesOf(program, instruction);
  size_t instances = 1;
  if (instruction.has_launch())
    instances = instancesOf(kernelAt(program, instruction.launch().kernel()));
  if (accesses.size() % instances != 0)
    instances = 1;
  const size_t size = accesses.size() / instances;
  Parts parts;
  for (size_t i = 0; i < instances; ++i)
    parts.emplace_back(accesses.begin() + ptrdiff_t(i * size),
                       accesses.begin() + ptrdiff_t((i + 1) * size));
  return parts;
}

} // namespace cleave::dump
