// See Sockets.h.
#include "runtime/comm/Sockets.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cleave::comm {
namespace {

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;
  int family() const { return storage.ss_family; }
  const sockaddr *get() const { return reinterpret_cast<const sockaddr *>(&storage); }
};

Address anyAddress(int family, int port) {
  Address any;
  any.storage.ss_family = static_cast<sa_family_t>(family);
  any.length = family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  if (family == AF_INET6)
    reinterpret_cast<sockaddr_in6 *>(&any.storage)->sin6_port = htons(uint16_t(port));
  else
    reinterpret_cast<sockaddr_in *>(&any.storage)->sin_port = htons(uint16_t(port));
  return any;
}

std::string textOf(const sockaddr_storage &address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET)
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in *>(&address)->sin_addr, text,
              sizeof text);
  else
    inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6 *>(&address)->sin6_addr, text,
              sizeof text);
  return text;
}

// The addresses of a host, each once; empty, with the reason, if it has none.
std::vector<Address> resolve(const std::string &host, int port, std::string &problem) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  std::vector<Address> addresses;
  if (error != 0) {
    problem = gai_strerror(error);
    return addresses;
  }
  for (addrinfo *info = found; info; info = info->ai_next) {
    Address address;
    std::memcpy(&address.storage, info->ai_addr, info->ai_addrlen);
    address.length = info->ai_addrlen;
    bool isKnown = std::any_of(addresses.begin(), addresses.end(), [&](const Address &other) {
      return std::memcmp(&other.storage, &address.storage, sizeof address.storage) == 0;
    });
    if (!isKnown)
      addresses.push_back(address);
  }
  freeaddrinfo(found);
  return addresses;
}

// A socket that listens at the address; -1 with errno if that fails.
int tryListen(const Address &address, bool onlyIpv6) {
  int descriptor = socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0)
    return -1;
  int on = 1, only = onlyIpv6;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.family() == AF_INET6)
    setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only);
  if (bind(descriptor, address.get(), address.length) == 0 && listen(descriptor, 1024) == 0)
    return descriptor;
  int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

// Whether the machine lacks the address or its kind.
bool isMissingAddress(int error) { return error == EADDRNOTAVAIL || error == EAFNOSUPPORT; }

Status notListening(int port) {
  return Status::lost("rank 0 could not listen at port ", port, ": ", strerror(errno),
                      "; choose another MASTER_PORT");
}

Result<std::vector<int>> listenEverywhere(int port) {
  int descriptor = tryListen(anyAddress(AF_INET6, port), /*onlyIpv6=*/false);
  if (descriptor < 0 && isMissingAddress(errno)) // this machine has no IPv6
    descriptor = tryListen(anyAddress(AF_INET, port), false);
  if (descriptor < 0)
    return notListening(port);
  return std::vector<int>{descriptor};
}

} // namespace

Result<BoundSocket> bindLoopback() {
  int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (descriptor < 0 || bind(descriptor, reinterpret_cast<sockaddr *>(&address), length) != 0 ||
      listen(descriptor, 1024) != 0 ||
      getsockname(descriptor, reinterpret_cast<sockaddr *>(&address), &length) != 0)
    return Status::lost("could not open a port on 127.0.0.1: ", strerror(errno));
  return BoundSocket{descriptor, ntohs(address.sin_port)};
}

Result<std::vector<int>> listenAt(const std::string &host, int port) {
  std::string problem;
  std::vector<Address> addresses = resolve(host, port, problem);
  bool meansLoopback = host == "localhost" || isLoopback(host);
  for (const Address &address : addresses)
    if (isLoopback(textOf(address.storage)) && !meansLoopback)
      return listenEverywhere(port);
  std::vector<int> listeners;
  for (const Address &address : addresses) {
    int descriptor = tryListen(address, /*onlyIpv6=*/true);
    if (descriptor >= 0) {
      listeners.push_back(descriptor);
    } else if (!isMissingAddress(errno)) {
      Status status = notListening(port);
      for (int listener : listeners)
        close(listener);
      return status;
    }
  }
  return listeners.empty() ? listenEverywhere(port) : listeners;
}

int dial(const std::string &host, int port, std::chrono::milliseconds timeout,
         std::string &problem) {
  for (const Address &address : resolve(host, port, problem)) {
    int descriptor = socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) {
      problem = strerror(errno);
      continue;
    }
    setTimeout(descriptor, timeout); // of connect(), too
    if (::connect(descriptor, address.get(), address.length) == 0) {
      int on = 1;
      setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      return descriptor;
    }
    problem = errno == EINPROGRESS ? "no answer" : strerror(errno);
    close(descriptor);
  }
  return -1;
}

std::string localAddressOf(int descriptor) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  getsockname(descriptor, reinterpret_cast<sockaddr *>(&address), &length);
  return textOf(address);
}

bool isLoopback(const std::string &address) {
  return address.rfind("127.", 0) == 0 || address == "::1";
}

void setTimeout(int descriptor, std::chrono::milliseconds timeout) {
  auto microseconds = std::chrono::microseconds(std::max(timeout, std::chrono::milliseconds(1)));
  timeval limit{microseconds.count() / 1'000'000, microseconds.count() % 1'000'000};
  setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

} // namespace cleave::comm
