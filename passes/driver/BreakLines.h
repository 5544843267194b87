// BreakLines: the text of IR in lines that an editor can show.
#pragma once

#include <string>

namespace cleave::driver {

// The text of a module with its long lines broken: where a line has more than `columns`, the
// longest list in brackets gets a line for each entry, the arguments of a function for example; a
// line of twice as many without such a list is broken behind commas. Only blanks change, and none
// inside of strings and comments, so that the text parses as before. Strings may still be longer.
std::string brokenLines(const std::string &text, size_t columns);

} // namespace cleave::driver
