// The names that are most like one that is unknown, for messages.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cleave {

// The number of insertions, deletions, replacements and swaps of neighbouring characters between
// two texts.
size_t editDistance(const std::string &a, const std::string &b);

// At most `most` of the names, the most similar first: those that contain `name`, then by edit
// distance; equal ones in alphabetical order.
std::vector<std::string> nearestNames(const std::string &name,
                                      const std::vector<std::string> &names, size_t most);

// The names that may be meant by the unknown `name`: the shortest that it begins, or else those
// with the fewest typos, if they are few. Upper case and `_` in place of `-` are not typos. Empty
// if no name is similar.
std::vector<std::string> similarNames(const std::string &name,
                                      const std::vector<std::string> &names);

// `a, b or c`
std::string oneOf(const std::vector<std::string> &names);

// The end of a message about an unknown name: `; did you mean adamw?` if a name is similar, else
// `: expected sgd, adam or adamw`. `other`: what may stand in place of a name, such as `a file`.
std::string suggestion(const std::string &name, std::vector<std::string> names,
                       const std::string &other = "");

// Like suggestion(), for names that may be thousands, so that only the most similar are listed:
// `; did you mean fc1.weight?` or `; similar names are fc1.bias, fc2.bias`; of a few names
// `; it has fc1.bias, fc1.weight`.
std::string suggestionAmongMany(const std::string &name, const std::vector<std::string> &names);

} // namespace cleave
