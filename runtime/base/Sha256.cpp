// See Sha256.h. The rounds are libsodium's.
#include "runtime/base/Sha256.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

namespace cleave {

Sha256::Sha256() { crypto_hash_sha256_init(&state_); }

void Sha256::update(const void *data, size_t size) {
  crypto_hash_sha256_update(&state_, static_cast<const unsigned char *>(data), size);
}

std::string Sha256::finish() {
  unsigned char digest[crypto_hash_sha256_BYTES];
  crypto_hash_sha256_final(&state_, digest);
  char hex[2 * sizeof digest + 1];
  return sodium_bin2hex(hex, sizeof hex, digest, sizeof digest);
}

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes.data(), bytes.size());
  return hash.finish();
}

Result<std::string> sha256OfFile(const std::string &path) {
  FILE *file = std::fopen(path.c_str(), "rb");
  if (!file)
    return Status::userError("cannot read '", path, "': ", std::strerror(errno));
  Sha256 hash;
  std::vector<uint8_t> piece(1 << 20);
  size_t size;
  while ((size = std::fread(piece.data(), 1, piece.size(), file)) > 0)
    hash.update(piece.data(), size);
  bool failed = std::ferror(file);
  std::fclose(file);
  if (failed)
    return Status::userError("cannot read '", path, "' to its end");
  return hash.finish();
}

} // namespace cleave
