// See Sha256.h. The rounds are libsodium's.
#include "runtime/base/Sha256.h"

#include "runtime/base/RegularFile.h"
#include "runtime/base/Sodium.h"

#include <vector>

namespace cleave {

Sha256::Sha256() {
  startSodium();
  crypto_hash_sha256_init(&state_);
}

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
  CLEAVE_TRY_ASSIGN(RegularFile file, RegularFile::open(path));
  Sha256 hash;
  std::vector<uint8_t> piece(1 << 20);
  while (true) {
    CLEAVE_TRY_ASSIGN(size_t size, file.read(piece.data(), piece.size()));
    if (size == 0)
      return hash.finish();
    hash.update(piece.data(), size);
  }
}

} // namespace cleave
