// IrFile: the IR of a phase as a text file.
#pragma once

#include "passes/driver/Compile.h"

namespace cleave::driver {

// Whether the file is text that begins as a module of MLIR does, after comments.
bool isIrFile(const std::string &path);

// Reads the module, with the remarks that it records (Record.h), from the file that the options
// name; `-` is standard input. A user error if it cannot be read, or does not parse.
Status readIr(Compilation &compilation);

// Writes the module, with the evaluation inside, in lines of at most 120 columns where strings
// permit. `-` is standard output.
Status writeIr(Compilation &compilation, const std::string &path);

} // namespace cleave::driver
