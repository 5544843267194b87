// Glob: matching of names against shell patterns.
#pragma once

#include <string>

namespace cleave {

// Whether the pattern matches the whole text. `*` matches any number of characters, dots included;
// `?` matches one character; other characters match themselves.
bool matchesGlob(const std::string &pattern, const std::string &text);

} // namespace cleave
