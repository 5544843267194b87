// Builds a zip archive from text, so that a fuzzer can change its entries without computing
// checksums and offsets.
#pragma once

#include <string>
#include <string_view>

namespace cleave::fuzz {

// The bytes of a zip archive with one entry per part of `text`. A line `=== NAME` begins a part,
// whose content extends to the next such line. `=== NAME zeros=N` is a part of N zeros (at most 64
// KiB). Text before the first such line is the part `first`.
std::string makeArchive(std::string_view text, const std::string &first);

} // namespace cleave::fuzz
