#include "runtime/comm/TcpStoreServer.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cleave::comm {

static Result<int> listenAt(int port) {
  int descriptor = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in6 address6{};
  address6.sin6_family = AF_INET6;
  address6.sin6_port = htons(port);
  sockaddr_in address4{};
  address4.sin_family = AF_INET;
  address4.sin_port = htons(port);
  int on = 1, off = 0;
  bool bound = false;
  if (descriptor >= 0) {
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    bound = bind(descriptor, reinterpret_cast<sockaddr *>(&address6), sizeof address6) == 0;
  }
  if (!bound &&
      (descriptor < 0 || errno == EADDRNOTAVAIL || errno == EAFNOSUPPORT)) { // no IPv6 here
    if (descriptor >= 0)
      close(descriptor);
    descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    bound = bind(descriptor, reinterpret_cast<sockaddr *>(&address4), sizeof address4) == 0;
  }
  if (bound && listen(descriptor, 1024) == 0)
    return descriptor;
  Status status = Status::lost("rank 0 could not listen at port " + std::to_string(port) + ": " +
                               strerror(errno) + "; choose another MASTER_PORT");
  close(descriptor);
  return status;
}

Result<std::unique_ptr<TcpStoreServer>> TcpStoreServer::start(const Rendezvous &rendezvous) {
  std::unique_ptr<TcpStoreServer> server(new TcpStoreServer);
  server->listener = rendezvous.listenSocket;
  if (server->listener < 0) {
    auto listener = listenAt(rendezvous.port);
    CLEAVE_TRY(listener.status());
    server->listener = *listener;
  }
  if (pipe2(server->stopPipe, O_CLOEXEC) != 0)
    return Status::lost(std::string("could not make a pipe: ") + strerror(errno));
  server->thread = std::thread([raw = server.get()] { raw->serve(); });
  return server;
}

TcpStoreServer::~TcpStoreServer() {
  if (thread.joinable()) {
    [[maybe_unused]] ssize_t ignored = write(stopPipe[1], "x", 1);
    thread.join();
  }
  for (Client &client : clients)
    close(client.descriptor);
  for (int descriptor : {listener, stopPipe[0], stopPipe[1]})
    if (descriptor >= 0)
      close(descriptor);
}

void TcpStoreServer::serve() {
  while (true) {
    std::vector<pollfd> watched{{stopPipe[0], POLLIN, 0}, {listener, POLLIN, 0}};
    for (Client &client : clients)
      watched.push_back({client.descriptor, POLLIN, 0});
    if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR)
      return;
    if (watched[0].revents)
      return;
    for (size_t i = 2; i < watched.size(); ++i) {
      Client &client = clients[i - 2];
      if (watched[i].revents && !read(client)) {
        close(client.descriptor);
        client.descriptor = -1;
      }
    }
    std::erase_if(clients, [](const Client &client) { return client.descriptor < 0; });
    if (watched[1].revents)
      accept();
  }
}

void TcpStoreServer::accept() {
  int descriptor = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (descriptor >= 0)
    clients.push_back({descriptor, {}});
}

// False when the client is gone.
bool TcpStoreServer::read(Client &client) {
  char data[65536];
  ssize_t bytes = recv(client.descriptor, data, sizeof data, 0);
  if (bytes <= 0)
    return bytes < 0 && errno == EINTR;
  client.received.append(data, bytes);
  while (takeRequest(client)) {
  }
  return true;
}

// Reads a string at `at` and moves on; false if it is not all there.
static bool takeString(const std::string &data, size_t &at, std::string &text) {
  uint32_t length;
  if (data.size() < at + sizeof length)
    return false;
  std::memcpy(&length, data.data() + at, sizeof length);
  if (data.size() < at + sizeof length + length)
    return false;
  text = data.substr(at + sizeof length, length);
  at += sizeof length + length;
  return true;
}

bool TcpStoreServer::takeRequest(Client &client) {
  size_t at = 1;
  std::string key, value;
  if (client.received.empty() || !takeString(client.received, at, key))
    return false;
  if (client.received[0] == 'S') {
    if (!takeString(client.received, at, value))
      return false;
    values[key] = value;
  } else {
    answer(client, key);
  }
  client.received.erase(0, at);
  return true;
}

void TcpStoreServer::answer(Client &client, const std::string &key) {
  auto found = values.find(key);
  std::string message(1, found == values.end() ? 'N' : 'Y');
  if (found != values.end()) {
    uint32_t length = static_cast<uint32_t>(found->second.size());
    message.append(reinterpret_cast<const char *>(&length), sizeof length);
    message += found->second;
  }
  [[maybe_unused]] ssize_t ignored =
      ::send(client.descriptor, message.data(), message.size(), MSG_NOSIGNAL);
}

} // namespace cleave::comm
