// Runs work in separate processes, so that crashes and hangs become messages.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace cleave::conformance {

// Calls work(i, scratch) for every i < `count`, `jobs` at a time, each in a separate process with
// an empty scratch folder, and returns their texts in order. If a process crashes or takes longer
// than `seconds`, its text describes that.
std::vector<std::string>
runIsolated(size_t count, int jobs, unsigned seconds,
            const std::function<std::string(size_t, const std::string &)> &work);

} // namespace cleave::conformance
