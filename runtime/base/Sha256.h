// SHA-256 (FIPS 180-4): the content hash of plans, and the detection of changed files.
#pragma once

#include "runtime/base/Status.h"

#include <sodium.h>
#include <string>
#include <string_view>

namespace cleave {

// Hashes a message that is passed in pieces of any length.
class Sha256 {
public:
  Sha256();
  // Appends `size` bytes to the message.
  void update(const void *data, size_t size);
  // Ends the message and returns its digest as 64 lower-case hex digits. Must be the last call.
  std::string finish();

private:
  crypto_hash_sha256_state state_;
};

// The digest of one string.
std::string sha256(std::string_view bytes);

// The digest of a file's content; a user error if it cannot be read.
Result<std::string> sha256OfFile(const std::string &path);

} // namespace cleave
