// Detached signatures of plan files: Ed25519 over all bytes of the file, 64 bytes in `PLAN.sig`.
//
// Keys are PEM files as `openssl genpkey -algorithm ed25519` (PKCS#8) and `openssl pkey -pubout`
// (SPKI) write them. OpenSSL can check a signature:
//
//   openssl pkeyutl -verify -rawin -pubin -inkey PUBLIC -in PLAN -sigfile PLAN.sig
#pragma once

#include "runtime/base/Status.h"

#include <array>
#include <sodium.h>
#include <string>
#include <string_view>
#include <vector>

namespace cleave::artifact {

// The private key that signs plans. Its memory is cleared at the end.
class SigningKey {
public:
  // Reads a PEM file with one private key. A user error if it is something else, or if other users
  // of the machine may read the file.
  static Result<SigningKey> read(const std::string &path);
  ~SigningKey();
  SigningKey(const SigningKey &) = default;
  SigningKey &operator=(const SigningKey &) = default;

  // The signature of the bytes, crypto_sign_BYTES long.
  std::string sign(std::string_view bytes) const;

private:
  SigningKey() = default;
  std::array<unsigned char, crypto_sign_SECRETKEYBYTES> key_;
};

using PublicKey = std::array<unsigned char, crypto_sign_PUBLICKEYBYTES>;

// Reads a PEM file with one or several public keys; a user error if it has none or other content.
Result<std::vector<PublicKey>> readPublicKeys(const std::string &path);

// The file of a plan's signature: `PLAN.sig`.
std::string signaturePath(const std::string &planPath);

// Checks that `bytes`, the content of the plan file `planPath`, have a signature beside them that
// belongs to one of the keys; otherwise a user error.
Status checkSignature(std::string_view bytes, const std::string &planPath,
                      const std::vector<PublicKey> &trusted);

} // namespace cleave::artifact
