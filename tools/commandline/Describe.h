// Describe: man pages and shell completions of a tool, written from the definitions of its options.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace cleave {

// A page for `man`, in section 1.
std::string manPage(const CLI::App &app);

// A file for bash that completes the tool's options and their values, and the commands of a tool
// that has commands; their options come from the files of `TOOL-COMMAND` beside it.
std::string bashCompletion(const CLI::App &app);

// Such a file for zsh; its name must be `_TOOL`.
std::string zshCompletion(const CLI::App &app);

} // namespace cleave
