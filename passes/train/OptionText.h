// Reading the text forms of losses and optimizers.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cleave::train {

// The parts of `text` between separators; one empty part for an empty text.
std::vector<std::string> split(const std::string &text, char separator);

// The number that the whole text spells, if any.
std::optional<double> readNumber(const std::string &text);

} // namespace cleave::train
