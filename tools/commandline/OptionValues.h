// OptionValues: what may follow an option or stand for a positional argument.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace cleave {

// Values that a shell can complete; all empty for numbers and free text.
struct OptionValues {
  std::vector<std::string> words;
  bool files = false;
  bool folders = false; // without files
};

// Reads the option's type, as the help shows it: alternatives joined by `|`. A capital letter
// begins a placeholder: FILE, PLAN, MODEL and KEY for files, DIR for a folder, each with any ending
// such as `.json`; others for free text. Other alternatives are words, which text in brackets may
// follow: `auto|cpu|cuda[:N]`. So are the words of isOneOf().
OptionValues valuesOf(const CLI::Option &option);

// Whether a word must follow the option.
bool needsValue(const CLI::Option &option);

// Whether an option may be given several times.
bool isRepeatable(const CLI::Option &option);

// The names of an option with their dashes, short ones first; empty for a positional argument.
std::vector<std::string> namesOf(const CLI::Option &option);

// The options that the help shows; positional arguments among them.
std::vector<const CLI::Option *> shownOptions(const CLI::App &app);

// The commands of a tool such as `cleave`.
std::vector<const CLI::App *> commandsOf(const CLI::App &app);

} // namespace cleave
