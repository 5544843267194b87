// See Signature.h. The DER encodings of Ed25519 keys consist of a fixed prefix and the key's bytes.
#include "runtime/artifact/Signature.h"

#include "runtime/base/RegularFile.h"
#include "runtime/base/Sodium.h"

#include <algorithm>
#include <sys/stat.h>

namespace cleave::artifact {
namespace {

using Bytes = std::vector<unsigned char>;

constexpr unsigned char kPrivatePrefix[] = {0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06,
                                            0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20};
constexpr unsigned char kPublicPrefix[] = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03,
                                           0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};
constexpr size_t kMostKeyBytes = 1 << 16; // of a PEM file; more is not read

// Opens before it looks, so that the file that is read is the file whose mode was checked.
Result<std::string> readKeyFile(const std::string &path, bool isPrivate) {
  CLEAVE_TRY_ASSIGN(RegularFile file, RegularFile::open(path).withContext("key file"));
  struct stat status;
  if (isPrivate && (::fstat(file.descriptor(), &status) != 0 || (status.st_mode & 077)))
    return Status::userError("key file '", path,
                             "' is open to other users of this machine; run `chmod 600 ", path,
                             "`, and make a new key if somebody may have read it");
  std::string text(kMostKeyBytes, '\0');
  CLEAVE_TRY_ASSIGN(size_t size, file.read(text.data(), text.size()));
  text.resize(size);
  return text;
}

// The decoded blocks `-----BEGIN LABEL-----` … `-----END LABEL-----` of a PEM file.
Result<std::vector<Bytes>> pemBlocks(const std::string &text, const std::string &label,
                                     const std::string &path) {
  const std::string begin = "-----BEGIN " + label + "-----", end = "-----END " + label + "-----";
  std::vector<Bytes> blocks;
  for (size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    at += begin.size();
    size_t last = text.find(end, at);
    Bytes block(last == std::string::npos ? 0 : last - at);
    size_t size = 0;
    if (block.empty() ||
        sodium_base642bin(block.data(), block.size(), text.data() + at, last - at, " \r\n", &size,
                          nullptr, sodium_base64_VARIANT_ORIGINAL) != 0)
      return Status::userError("key file '", path, "' is damaged: a block '", label,
                               "' is not base64");
    block.resize(size);
    blocks.push_back(std::move(block));
  }
  if (blocks.empty())
    return Status::userError("'", path, "' has no block '", label,
                             "', expected a PEM file of an Ed25519 key without a passphrase");
  return blocks;
}

// Copies the key behind the prefix; false if the block is that of another kind of key.
template <size_t prefixSize>
bool takeKey(const Bytes &block, const unsigned char (&prefix)[prefixSize], unsigned char *key) {
  constexpr size_t keySize = crypto_sign_SEEDBYTES; // of both kinds of keys
  if (block.size() != prefixSize + keySize ||
      !std::equal(prefix, prefix + prefixSize, block.begin()))
    return false;
  std::copy_n(block.begin() + prefixSize, keySize, key);
  return true;
}

Status notEd25519(const std::string &path) {
  return Status::userError("the key in '", path,
                           "' is not an Ed25519 key; "
                           "`openssl genpkey -algorithm ed25519` makes one");
}

} // namespace

Result<SigningKey> SigningKey::read(const std::string &path) {
  CLEAVE_TRY_ASSIGN(std::string text, readKeyFile(path, /*isPrivate=*/true));
  Result<std::vector<Bytes>> blocks = pemBlocks(text, "PRIVATE KEY", path);
  sodium_memzero(text.data(), text.size());
  CLEAVE_TRY(blocks.status());
  startSodium();
  unsigned char seed[crypto_sign_SEEDBYTES], unused[crypto_sign_PUBLICKEYBYTES];
  SigningKey key;
  bool isKey = blocks->size() == 1 && takeKey(blocks->front(), kPrivatePrefix, seed);
  if (isKey)
    crypto_sign_seed_keypair(unused, key.key_.data(), seed);
  sodium_memzero(seed, sizeof seed);
  for (Bytes &block : *blocks)
    sodium_memzero(block.data(), block.size());
  return isKey ? Result<SigningKey>(key) : notEd25519(path);
}

SigningKey::~SigningKey() { sodium_memzero(key_.data(), key_.size()); }

std::string SigningKey::sign(std::string_view bytes) const {
  startSodium();
  std::string signature(crypto_sign_BYTES, '\0');
  crypto_sign_detached(reinterpret_cast<unsigned char *>(signature.data()), nullptr,
                       reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size(),
                       key_.data());
  return signature;
}

Result<std::vector<PublicKey>> readPublicKeys(const std::string &path) {
  CLEAVE_TRY_ASSIGN(std::string text, readKeyFile(path, /*isPrivate=*/false));
  CLEAVE_TRY_ASSIGN(std::vector<Bytes> blocks, pemBlocks(text, "PUBLIC KEY", path));
  startSodium();
  std::vector<PublicKey> keys(blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i)
    if (!takeKey(blocks[i], kPublicPrefix, keys[i].data()))
      return notEd25519(path);
  return keys;
}

std::string signaturePath(const std::string &planPath) { return planPath + ".sig"; }

Status checkSignature(std::string_view bytes, const std::string &planPath,
                      const std::vector<PublicKey> &trusted) {
  std::string path = signaturePath(planPath);
  Result<std::string> found = readRegularFile(path, 1 << 16);
  if (!found)
    return Status::userError("plan file '", planPath, "' is not signed: ", found.status().message(),
                             "; cleave-compile --sign signs a plan");
  if (found->size() != crypto_sign_BYTES)
    return Status::userError("'", path, "' is not a signature: it has ", found->size(),
                             " bytes, expected ", crypto_sign_BYTES, "; sign the plan again");
  auto raw = [](std::string_view text) {
    return reinterpret_cast<const unsigned char *>(text.data());
  };
  for (const PublicKey &key : trusted)
    if (crypto_sign_verify_detached(raw(*found), raw(bytes), bytes.size(), key.data()) == 0)
      return Status::ok();
  return Status::userError("the signature of plan file '", planPath, "' is of none of the ",
                           trusted.size(),
                           " trusted keys, or the plan has changed since it was "
                           "signed; do not run it unless you know where it comes from");
}

} // namespace cleave::artifact
