// The names that are most like one that is unknown, for messages.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cleave {

// The number of insertions, deletions and replacements of characters between two texts.
size_t editDistance(const std::string &a, const std::string &b);

// At most `most` of the names, the most similar first: those that contain `name`, then by edit
// distance; equal ones in alphabetical order.
std::vector<std::string> nearestNames(const std::string &name,
                                      const std::vector<std::string> &names, size_t most);

} // namespace cleave
