// TrainFile: options of several tools in one file, train.toml, with a section for each:
//
//   [compile]
//   model = "gpt.pt2"
//   train = true
//   loss = ["softmax-cross-entropy"]
//   [run]
//   steps = 200
//
// The keys are the long names of options, and those of positional arguments in small letters. The
// format is TOML without dates, multi-line strings and nested tables.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace cleave {

// Adds --config FILE to a tool: options of the section of this name that the command line does not
// give. An error in the file ends the tool with one message and exit code 1.
void addTrainFile(CLI::App &app, const std::string &section);

// The section with all options that were given, on the command line or by --config, but the one
// with the name `omitted`; after readCommandLine.
std::string trainFileSection(const CLI::App &app, const std::string &section,
                             const std::string &omitted = "");

// An option in such a section.
struct TrainFileOption {
  std::string section, name;
  std::vector<std::string> values;
};

// The options of a text that trainFileSection() wrote; none if it is not one.
std::vector<TrainFileOption> readTrainFile(const std::string &text);

} // namespace cleave
