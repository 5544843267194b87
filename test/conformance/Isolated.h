// Runs a piece of work in a process of its own, so that a crash or a hang is a message.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace cleave::conformance {

// Calls work(i, scratch) for i below `count`, `jobs` at a time, each in its own process with an empty
// scratch folder, and returns the texts that they gave, in order. A process that ends otherwise, or
// takes longer than `seconds`, gives a text that says so.
std::vector<std::string>
runIsolated(size_t count, int jobs, unsigned seconds,
            const std::function<std::string(size_t, const std::string &)> &work);

} // namespace cleave::conformance
