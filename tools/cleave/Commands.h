// Commands: the tools that `cleave` runs as commands.
#pragma once

#include <string>
#include <vector>

namespace cleave {

// A tool: `compile` for cleave-compile, and what it does, in one line.
struct Command {
  std::string name, purpose;
};

// The tools of this build, in the order of tools/CMakeLists.txt.
std::vector<Command> commands();

} // namespace cleave
