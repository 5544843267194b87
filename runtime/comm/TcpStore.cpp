// The client. See TcpStore.h, SecureChannel.h and StoreRequest.h.
#include "runtime/comm/TcpStore.h"

#include "runtime/comm/SecureChannel.h"
#include "runtime/comm/Sockets.h"
#include "runtime/comm/StoreRequest.h"
#include "runtime/comm/TcpStoreServer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace cleave::comm {

using Clock = std::chrono::steady_clock;

static Status sendAll(int descriptor, const std::string &bytes) {
  for (size_t sent = 0; sent < bytes.size();) {
    ssize_t now = ::send(descriptor, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (now < 0 && errno == EINTR)
      continue;
    if (now <= 0)
      return Status::lost("rank 0 (the store) is gone: ", strerror(errno));
    sent += now;
  }
  return Status::ok();
}

static Result<std::string> receive(int descriptor, size_t bytes) {
  std::string received(bytes, '\0');
  for (size_t at = 0; at < bytes;) {
    ssize_t now = ::recv(descriptor, received.data() + at, bytes - at, 0);
    if (now < 0 && errno == EINTR)
      continue;
    if (now < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      return Status::lost("rank 0 (the store) does not answer");
    if (now <= 0)
      return Status::lost("rank 0 (the store) is gone");
    at += now;
  }
  return received;
}

struct TcpStore::Connection {
  Connection(int descriptor, SecureChannel channel) : descriptor(descriptor), channel(channel) {}
  ~Connection() { close(descriptor); }
  Result<std::string> ask(const StoreRequest &request);
  Result<std::string> exchange(const std::string &message);

  int descriptor;
  SecureChannel channel;
  std::mutex mutex; // of a request and its answer
  Status broken;    // the failure after which requests and answers no longer match
};

// The answer to one request.
Result<std::string> TcpStore::Connection::ask(const StoreRequest &request) {
  if (request.key.size() > kMaxKeyBytes || request.value.size() > kMaxValueBytes)
    return Status::defect("a key of ", request.key.size(), " bytes with a value of ",
                          request.value.size(), " does not fit into the store");
  std::lock_guard lock(mutex);
  CLEAVE_TRY(broken);
  auto answer = exchange(messageOf(request));
  broken = answer.status();
  return answer;
}

Result<std::string> TcpStore::Connection::exchange(const std::string &message) {
  CLEAVE_TRY(sendAll(descriptor, channel.seal(message)));
  CLEAVE_TRY_ASSIGN(auto prefix, receive(descriptor, kFrameLengthBytes));
  uint32_t length;
  std::memcpy(&length, prefix.data(), sizeof length);
  if (length > kMaxMessageBytes + kFrameSealBytes)
    return Status::lost("the connection to rank 0 (the store) was tampered with");
  CLEAVE_TRY_ASSIGN(auto frame, receive(descriptor, length));
  if (std::optional<std::string> answer = channel.open(frame); answer && !answer->empty())
    return *answer;
  return Status::lost("the connection to rank 0 (the store) was tampered with");
}

// The client's part of a handshake on a new connection. `isGone` tells whether the other end closed
// the connection, which is worth another attempt: the store does so if too many come at once.
static Result<SecureChannel> shakeHands(int descriptor, const Rendezvous &rendezvous,
                                        const std::string &store, bool &isGone) {
  ClientHandshake handshake(rendezvous.secret, rendezvous.rank, rendezvous.size);
  isGone = true;
  CLEAVE_TRY(sendAll(descriptor, handshake.hello()));
  CLEAVE_TRY_ASSIGN(auto challenge, receive(descriptor, kChallengeBytes));
  isGone = false;
  CLEAVE_TRY_ASSIGN(auto proof, handshake.answer(challenge, store));
  isGone = true;
  CLEAVE_TRY(sendAll(descriptor, proof));
  CLEAVE_TRY_ASSIGN(auto verdict, receive(descriptor, kVerdictBytes));
  isGone = false;
  return handshake.finish(verdict, store);
}

Result<std::unique_ptr<TcpStore>> TcpStore::connect(const Rendezvous &rendezvous,
                                                    std::chrono::milliseconds timeout) {
  if (!rendezvous.secret.isSet())
    return Status::defect("a rendezvous without the job's secret");
  std::unique_ptr<TcpStore> store(new TcpStore);
  if (rendezvous.rank == 0) {
    CLEAVE_TRY_ASSIGN(store->server_, TcpStoreServer::start(rendezvous));
  }
  std::string address = concat(rendezvous.host, ":", rendezvous.port), problem;
  auto deadline = Clock::now() + timeout;
  while (true) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    int descriptor = dial(rendezvous.host, rendezvous.port, left, problem);
    if (descriptor >= 0) {
      bool isGone = false;
      auto channel = shakeHands(descriptor, rendezvous, address, isGone);
      if (channel) {
        setTimeout(descriptor, timeout);
        store->localAddress_ = localAddressOf(descriptor);
        store->connection_ = std::make_unique<Connection>(descriptor, *channel);
        return store;
      }
      close(descriptor);
      if (!isGone)
        return channel.status();
      problem = channel.status().message();
    }
    if (Clock::now() >= deadline)
      return Status::lost("rank ", rendezvous.rank, " could not reach rank 0 at ", address, ": ",
                          problem);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

TcpStore::~TcpStore() = default;

Status TcpStore::write(const StoreRequest &request) {
  auto answer = connection_->ask(request);
  if (!answer)
    return answer.status().withContext("writing " + request.key);
  if (answer->front() == kConflict)
    return Status::userError("another process has written '", request.key,
                             "' for this rank; start each process with a rank of its own");
  return Status::ok();
}

Status TcpStore::set(const std::string &key, const std::string &value) {
  return write({StoreRequest::Set, key, value});
}

Status TcpStore::publish(const std::string &key, const std::string &value) {
  return write({StoreRequest::Publish, key, value});
}

Result<std::optional<std::string>> TcpStore::peek(const std::string &key) {
  auto answer = connection_->ask({StoreRequest::Get, key, ""});
  if (!answer)
    return answer.status();
  return answer->front() == kValue ? std::optional<std::string>(answer->substr(1)) : std::nullopt;
}

Result<std::string> TcpStore::get(const std::string &key, std::chrono::milliseconds timeout) {
  auto deadline = Clock::now() + timeout;
  for (auto pause = std::chrono::microseconds(200);;
       pause = std::min(2 * pause, std::chrono::microseconds(20'000))) {
    CLEAVE_TRY_ASSIGN(auto value, peek(key).withContext("waiting for " + key));
    if (value)
      return *value;
    if (Clock::now() >= deadline)
      return Status::lost("waiting for ", key, ": timed out");
    std::this_thread::sleep_for(pause);
  }
}

} // namespace cleave::comm
