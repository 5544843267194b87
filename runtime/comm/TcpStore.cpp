// The client. A request is one byte (`S`et, `G`et), the key and, for Set, the value. The answer to
// Get is `N` (no such key), or `Y` and the value. A string is its length as four bytes, little
// endian, and its bytes.
#include "runtime/comm/TcpStore.h"

#include "runtime/comm/TcpStoreServer.h"

#include <arpa/inet.h>
#include <cstring>
#include <mutex>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace cleave::comm {

using Clock = std::chrono::steady_clock;

struct TcpStore::Connection {
  ~Connection() { close(descriptor); }
  int descriptor;
  std::mutex mutex;
};

Result<BoundSocket> bindLoopback() {
  int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (descriptor < 0 || bind(descriptor, reinterpret_cast<sockaddr *>(&address), length) != 0 ||
      listen(descriptor, 128) != 0 ||
      getsockname(descriptor, reinterpret_cast<sockaddr *>(&address), &length) != 0)
    return Status::lost("could not open a port on 127.0.0.1: ", strerror(errno));
  return BoundSocket{descriptor, ntohs(address.sin_port)};
}

// One attempt to reach HOST:PORT; -1 if it failed.
static int dial(const Rendezvous &rendezvous, std::string &problem) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  int error =
      getaddrinfo(rendezvous.host.c_str(), std::to_string(rendezvous.port).c_str(), &hints, &found);
  if (error != 0) {
    problem = gai_strerror(error);
    return -1;
  }
  int descriptor = -1;
  for (addrinfo *address = found; address && descriptor < 0; address = address->ai_next) {
    descriptor = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor >= 0 && ::connect(descriptor, address->ai_addr, address->ai_addrlen) != 0) {
      problem = strerror(errno);
      close(descriptor);
      descriptor = -1;
    }
  }
  freeaddrinfo(found);
  return descriptor;
}

static std::string addressOf(int descriptor) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  getsockname(descriptor, reinterpret_cast<sockaddr *>(&address), &length);
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET)
    inet_ntop(AF_INET, &reinterpret_cast<sockaddr_in *>(&address)->sin_addr, text, sizeof text);
  else
    inet_ntop(AF_INET6, &reinterpret_cast<sockaddr_in6 *>(&address)->sin6_addr, text, sizeof text);
  return text;
}

Result<std::unique_ptr<TcpStore>> TcpStore::connect(const Rendezvous &rendezvous,
                                                    std::chrono::milliseconds timeout) {
  std::unique_ptr<TcpStore> store(new TcpStore);
  if (rendezvous.rank == 0) {
    CLEAVE_TRY_ASSIGN(store->server_, TcpStoreServer::start(rendezvous));
  }
  auto deadline = Clock::now() + timeout;
  std::string problem;
  int descriptor = dial(rendezvous, problem);
  while (descriptor < 0 && Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    descriptor = dial(rendezvous, problem);
  }
  if (descriptor < 0)
    return Status::lost("rank ", rendezvous.rank, " could not reach rank 0 at ", rendezvous.host,
                        ":", rendezvous.port, ": ", problem);
  int on = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  store->connection_ = std::make_unique<Connection>();
  store->connection_->descriptor = descriptor;
  store->localAddress_ = addressOf(descriptor);
  return store;
}

TcpStore::~TcpStore() = default;

static void append(std::string &message, const std::string &text) {
  uint32_t length = static_cast<uint32_t>(text.size());
  message.append(reinterpret_cast<const char *>(&length), sizeof length);
  message += text;
}

static Status sendAll(int descriptor, const std::string &message) {
  for (size_t sent = 0; sent < message.size();) {
    ssize_t now = ::send(descriptor, message.data() + sent, message.size() - sent, MSG_NOSIGNAL);
    if (now <= 0)
      return Status::lost("rank 0 (the store) is gone: ", strerror(errno));
    sent += now;
  }
  return Status::ok();
}

static Status receiveAll(int descriptor, void *to, size_t bytes) {
  for (size_t received = 0; received < bytes;) {
    ssize_t now = ::recv(descriptor, static_cast<char *>(to) + received, bytes - received, 0);
    if (now < 0 && errno == EINTR)
      continue;
    if (now < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      return Status::lost("timed out");
    if (now <= 0)
      return Status::lost("rank 0 (the store) is gone");
    received += now;
  }
  return Status::ok();
}

Status TcpStore::set(const std::string &key, const std::string &value) {
  std::lock_guard lock(connection_->mutex);
  std::string message = "S";
  append(message, key);
  append(message, value);
  return sendAll(connection_->descriptor, message);
}

// Asks once; nothing if the key does not exist.
static Result<std::optional<std::string>> ask(int descriptor, const std::string &key) {
  std::string message = "G";
  append(message, key);
  CLEAVE_TRY(sendAll(descriptor, message));
  char there = 'N';
  CLEAVE_TRY(receiveAll(descriptor, &there, 1));
  if (there == 'N')
    return std::optional<std::string>();
  uint32_t length = 0;
  CLEAVE_TRY(receiveAll(descriptor, &length, sizeof length));
  std::string value(length, '\0');
  CLEAVE_TRY(receiveAll(descriptor, value.data(), length));
  return std::optional<std::string>(std::move(value));
}

Result<std::string> TcpStore::get(const std::string &key, std::chrono::milliseconds timeout) {
  auto deadline = Clock::now() + timeout;
  timeval limit{timeout.count() / 1000 + 1, 0};
  for (auto pause = std::chrono::microseconds(200);;
       pause = std::min(2 * pause, std::chrono::microseconds(20'000))) {
    {
      std::lock_guard lock(connection_->mutex);
      setsockopt(connection_->descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
      CLEAVE_TRY_ASSIGN(auto value,
                        ask(connection_->descriptor, key).withContext("waiting for " + key));
      if (value)
        return *value;
    }
    if (Clock::now() >= deadline)
      return Status::lost("waiting for ", key, ": timed out");
    std::this_thread::sleep_for(pause);
  }
}

} // namespace cleave::comm
