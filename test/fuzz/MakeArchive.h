// A zip archive from a text that a fuzzer can change freely: it need not guess checksums and offsets.
#pragma once

#include <string>
#include <string_view>

namespace cleave::fuzz {

// The bytes of a zip archive with an entry for every part of `text`. A line `=== NAME` begins a part;
// what follows, to the next such line, is its content. `=== NAME zeros=N` is a part of N zeros (64 KiB
// at most). What comes before the first such line belongs to the part `first`.
std::string makeArchive(std::string_view text, const std::string &first);

} // namespace cleave::fuzz
