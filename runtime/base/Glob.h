// Glob: patterns of names, as people type them.
#pragma once

#include <string>

namespace cleave {

// `*` stands for any number of characters, dots among them, `?` for one; all others for themselves.
bool matchesGlob(const std::string &pattern, const std::string &text);

} // namespace cleave
