// nameList: names in a message.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cleave::checkpoint {

// How many names a message lists.
constexpr size_t kListedNames = 3;

// The first names, and how many more there are: `'a', 'b', 'c' and 4 more`.
std::string nameList(const std::vector<std::string> &names, const char *quote = "'");

} // namespace cleave::checkpoint
