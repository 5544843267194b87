// See SecureChannel.h.
#include "runtime/comm/SecureChannel.h"

#include <cstring>
#include <sodium.h>

namespace cleave::comm {
namespace {

constexpr std::string_view kMagic = "CLEAVEKV";
constexpr uint32_t kVersion = 1;
constexpr size_t kNonceBytes = 32;

// Codes of a verdict.
constexpr char kAccepted = 'A', kWrongProof = 'P', kOtherSize = 'R';

static_assert(kFrameSealBytes == crypto_secretbox_MACBYTES);
static_assert(sizeof(SecureChannel::Key) == crypto_secretbox_KEYBYTES);
static_assert(sizeof(JobSecret) == crypto_auth_hmacsha256_KEYBYTES);
static_assert(kProofBytes == crypto_auth_hmacsha256_BYTES);
static_assert(kHelloBytes == kMagic.size() + 3 * sizeof(uint32_t) + kNonceBytes);
static_assert(kChallengeBytes == kMagic.size() + sizeof(uint32_t) + kNonceBytes);
static_assert(kVerdictBytes == 1 + sizeof(uint32_t) + kProofBytes);

unsigned char *bytesOf(std::string &text) { return reinterpret_cast<unsigned char *>(text.data()); }
const unsigned char *bytesOf(std::string_view text) {
  return reinterpret_cast<const unsigned char *>(text.data());
}

std::string numberBytes(uint32_t number) {
  return {reinterpret_cast<const char *>(&number), sizeof number};
}

uint32_t numberAt(const std::string &bytes, size_t at) {
  uint32_t number;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

std::string randomBytes(size_t count) {
  std::string bytes(count, '\0');
  randombytes_buf(bytes.data(), count);
  return bytes;
}

// HMAC of the handshake so far. The purpose has a length of its own, so that no two purposes and
// handshakes give the same input.
SecureChannel::Key hmac(const JobSecret &secret, const std::string &purpose,
                        const std::string &hello, const std::string &challenge) {
  SecureChannel::Key result;
  crypto_auth_hmacsha256_state state;
  crypto_auth_hmacsha256_init(&state, secret.bytes.data(), secret.bytes.size());
  for (const std::string &part : {numberBytes(uint32_t(purpose.size())), purpose, hello, challenge})
    crypto_auth_hmacsha256_update(&state, bytesOf(part), part.size());
  crypto_auth_hmacsha256_final(&state, result.data());
  return result;
}

std::string asText(const SecureChannel::Key &key) { return {key.begin(), key.end()}; }

std::string nonceOf(uint64_t frame) {
  std::string nonce(crypto_secretbox_NONCEBYTES, '\0');
  std::memcpy(nonce.data(), &frame, sizeof frame);
  return nonce;
}

bool isEqual(const std::string &a, const std::string &b) {
  return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

} // namespace

std::string SecureChannel::seal(const std::string &message) {
  std::string frame(message.size() + kFrameSealBytes, '\0');
  crypto_secretbox_easy(bytesOf(frame), bytesOf(std::string_view(message)), message.size(),
                        bytesOf(std::string_view(nonceOf(sent_++))), sending_.data());
  return numberBytes(static_cast<uint32_t>(frame.size())) + frame;
}

std::optional<std::string> SecureChannel::open(const std::string &frame) {
  if (frame.size() < kFrameSealBytes)
    return std::nullopt;
  std::string message(frame.size() - kFrameSealBytes, '\0');
  if (crypto_secretbox_open_easy(bytesOf(message), bytesOf(std::string_view(frame)), frame.size(),
                                 bytesOf(std::string_view(nonceOf(received_++))),
                                 receiving_.data()) != 0)
    return std::nullopt;
  return message;
}

ClientHandshake::ClientHandshake(const JobSecret &secret, int rank, int size)
    : secret_(secret), size_(size),
      hello_(std::string(kMagic) + numberBytes(kVersion) + numberBytes(uint32_t(rank)) +
             numberBytes(uint32_t(size)) + randomBytes(kNonceBytes)) {}

Result<std::string> ClientHandshake::answer(const std::string &challenge,
                                            const std::string &store) {
  if (challenge.size() != kChallengeBytes || !challenge.starts_with(kMagic))
    return Status::lost("the program that listens at ", store,
                        " is not the store of a Cleave job; choose another MASTER_PORT");
  uint32_t version = numberAt(challenge, kMagic.size());
  if (version != kVersion)
    return Status::lost("the store at ", store, " speaks version ", version,
                        " of the protocol, this cleave-run version ", kVersion,
                        "; use the same version of Cleave for all ranks");
  challenge_ = challenge;
  return asText(hmac(secret_, "client proof", hello_, challenge_));
}

Result<SecureChannel> ClientHandshake::finish(const std::string &verdict,
                                              const std::string &store) const {
  std::string ruling = verdict.substr(0, 1 + sizeof(uint32_t));
  std::string proof = asText(hmac(secret_, "server proof" + ruling, hello_, challenge_));
  bool isProven = verdict.size() == kVerdictBytes && isEqual(verdict.substr(ruling.size()), proof);
  if (isProven && verdict[0] == kOtherSize)
    return Status::userError("the job at ", store, " has ", numberAt(verdict, 1),
                             " ranks, but this rank was started as one of ", size_,
                             "; start all ranks with the same number");
  if (!isProven || verdict[0] != kAccepted)
    return Status::lost("the store at ", store,
                        " belongs to another job, or CLEAVE_JOB_SECRET differs");
  return SecureChannel(hmac(secret_, "client key", hello_, challenge_),
                       hmac(secret_, "server key", hello_, challenge_));
}

std::optional<std::string> ServerHandshake::challenge(const std::string &hello) {
  if (hello.size() != kHelloBytes || !hello.starts_with(kMagic))
    return std::nullopt;
  hello_ = hello;
  challenge_ = std::string(kMagic) + numberBytes(kVersion) + randomBytes(kNonceBytes);
  return challenge_; // a client of another version says so by itself
}

std::string ServerHandshake::verdict(const std::string &proof) {
  bool isProven = isEqual(proof, asText(hmac(secret_, "client proof", hello_, challenge_))) &&
                  numberAt(hello_, kMagic.size()) == kVersion;
  if (!isProven)
    return kWrongProof + std::string(kVerdictBytes - 1, '\0');
  uint32_t size = numberAt(hello_, kMagic.size() + 2 * sizeof(uint32_t));
  bool isOfThisJob = size == uint32_t(size_);
  std::string ruling = (isOfThisJob ? kAccepted : kOtherSize) + numberBytes(uint32_t(size_));
  if (isOfThisJob)
    channel_.emplace(hmac(secret_, "server key", hello_, challenge_),
                     hmac(secret_, "client key", hello_, challenge_));
  return ruling + asText(hmac(secret_, "server proof" + ruling, hello_, challenge_));
}

} // namespace cleave::comm
