// The files of this folder as text, from the build.
#pragma once

#include <string>

namespace cleave::page {

// With the marks @TITLE@, @STYLE@, @SCRIPT@ and @DATA@, each once.
std::string templateText();
std::string styleText();
std::string baseScript();
// All files of the folder, in the order of their names.
std::string planScript();
std::string runScript();

} // namespace cleave::page
