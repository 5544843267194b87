// Finds the buffers that an exported program writes, or that trained weights replace.
#pragma once

#include "compiler/frontend/pt2/Program.h"

#include <set>

namespace cleave::pt2 {

// Names of the buffers that the program writes: outputs of the kind Buffer, first arguments of
// in-place operators, and running statistics of batch norms, also where the norm reads them through
// copies and views (instance norms in eval mode, decomposed) or only reads them.
std::set<std::string> writtenBuffers(const Program &program);

} // namespace cleave::pt2
