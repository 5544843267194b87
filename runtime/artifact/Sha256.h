// SHA-256 (FIPS 180-4), for the content hash of plans and for the detection of changed model files.
#pragma once

#include "runtime/base/Status.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace cleave::artifact {

// Hashes a message that is passed in pieces of any length.
class Sha256 {
public:
  Sha256();
  // Appends `size` bytes to the message.
  void update(const void *data, size_t size);
  // Ends the message and returns its digest as 64 lower-case hex digits. Must be the last call.
  std::string finish();

private:
  std::array<uint32_t, 8> state_;
  std::array<uint8_t, 64> block_;
  size_t filled_ = 0;  // bytes waiting in block_
  uint64_t total_ = 0; // bytes seen
};

// The digest of one string.
std::string sha256(std::string_view bytes);

// The digest of a file's content; a user error if it cannot be read.
Result<std::string> sha256OfFile(const std::string &path);

} // namespace cleave::artifact
