// See JobSecret.h.
#include "runtime/comm/JobSecret.h"

#include "runtime/base/Sodium.h"

#include <sodium.h>

namespace cleave::comm {

JobSecret JobSecret::random() {
  startSodium();
  JobSecret secret;
  randombytes_buf(secret.bytes.data(), secret.bytes.size());
  return secret;
}

JobSecret JobSecret::of(std::string_view text) {
  startSodium();
  JobSecret secret;
  crypto_generichash(secret.bytes.data(), secret.bytes.size(),
                     reinterpret_cast<const unsigned char *>(text.data()), text.size(), nullptr, 0);
  return secret;
}

bool JobSecret::isSet() const { return !sodium_is_zero(bytes.data(), bytes.size()); }

} // namespace cleave::comm
