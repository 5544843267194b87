// An authenticated and encrypted channel between a rank (the client) and the store (the server),
// as bytes without sockets. Both ends first prove that they know the job's secret:
//
//   client → server   hello      magic, version, rank, ranks, 32 random bytes
//   server → client   challenge  magic, version, 32 random bytes
//   client → server   proof      HMAC-SHA256(secret; `client proof`, hello, challenge)
//   server → client   verdict    code, ranks, HMAC-SHA256(secret; `server proof`, code, ranks,
//                                hello, challenge)
//
// The client proves first, so that the store gives a stranger nothing by which to guess a secret.
// The random bytes of both make every handshake differ: a recorded one is of no use. Afterwards
// each message is a frame: its length, then the message under crypto_secretbox, with a key per
// direction and the number of the frame as nonce. A changed, repeated or missing frame is noticed.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/comm/JobSecret.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace cleave::comm {

constexpr size_t kMaxKeyBytes = 4 << 10;                                // of a key in the store
constexpr size_t kMaxValueBytes = 1 << 20;                              // of its value
constexpr size_t kMaxMessageBytes = kMaxKeyBytes + kMaxValueBytes + 16; // of a request or an answer
constexpr size_t kFrameLengthBytes = 4; // before each frame: its length, little endian
constexpr size_t kFrameSealBytes = 16;  // by which a frame is longer than its message

// One end of an open channel.
class SecureChannel {
public:
  using Key = std::array<unsigned char, 32>;
  SecureChannel(const Key &sending, const Key &receiving)
      : sending_(sending), receiving_(receiving) {}

  // The frame of a message, with its length before it.
  std::string seal(const std::string &message);
  // The message of a frame (without its length); nothing if the frame is not the next one that the
  // other end has sealed.
  std::optional<std::string> open(const std::string &frame);

private:
  Key sending_, receiving_;
  uint64_t sent_ = 0, received_ = 0; // frames
};

constexpr size_t kHelloBytes = 52, kChallengeBytes = 44, kProofBytes = 32, kVerdictBytes = 37;

// The client's part of a handshake.
class ClientHandshake {
public:
  ClientHandshake(const JobSecret &secret, int rank, int size);
  const std::string &hello() const { return hello_; }
  // The proof for the server's challenge. Lost, here and below, if the other end is no store, a
  // store of another version, or one of another job; `store` is its address, for the message.
  Result<std::string> answer(const std::string &challenge, const std::string &store);
  // The channel, if the server's verdict accepts this rank. A user error if its job has another
  // number of ranks.
  Result<SecureChannel> finish(const std::string &verdict, const std::string &store) const;

private:
  JobSecret secret_;
  int size_;
  std::string hello_, challenge_;
};

// The server's part of a handshake.
class ServerHandshake {
public:
  ServerHandshake(const JobSecret &secret, int size) : secret_(secret), size_(size) {}
  // The answer to a client's hello; nothing if that is not one of this version.
  std::optional<std::string> challenge(const std::string &hello);
  // The answer to a client's proof; the channel is open if it accepts the client.
  std::string verdict(const std::string &proof);
  const std::optional<SecureChannel> &channel() const { return channel_; }

private:
  JobSecret secret_;
  int size_;
  std::string hello_, challenge_;
  std::optional<SecureChannel> channel_;
};

} // namespace cleave::comm
