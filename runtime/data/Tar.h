// The index of a tar file: the places of its members' contents. Reads the formats ustar, pax and
// GNU, without compression. Private to this folder.
#pragma once

#include "runtime/base/Status.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace cleave::data {

// A regular file in an archive.
struct TarMember {
  std::string name;
  uint64_t at = 0, bytes = 0; // of its content, which lies inside of the archive
};

// Calls `add` for every regular file, in their order; other kinds of members are left out. Reads
// the headers only. User errors, without the archive's name: those of `add`, the archive is damaged
// or incomplete, or a file is sparse.
Status readTar(std::string_view archive, const std::function<Status(TarMember)> &add);

// The name in the header of the member whose content begins at `at`, for messages; long names are
// cut off.
std::string tarNameBefore(std::string_view archive, uint64_t at);

} // namespace cleave::data
