// Terminal: what standard output and standard error can show: columns and colours.
#pragma once

#include <string>

namespace cleave {

enum class Stream { Output, Error };

// Columns of a line of standard output: those of the terminal, else the environment variable
// COLUMNS, else 120; at least 40.
size_t terminalWidth();

// Whether the stream is a terminal that shows colours, and the user has not set NO_COLOR
// (no-color.org).
bool hasColour(Stream stream = Stream::Output);

enum class Style { Title, Heading, Faint, Good, Warning, Error };

// The text in this style where the stream has colour, else as it is. displayWidth() and clipped()
// (Table.h) count no columns for styles.
std::string styled(const std::string &text, Style style, Stream stream = Stream::Output);

} // namespace cleave
