// See TcpStoreServer.h.
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
  if (!bound && (descriptor < 0 || errno == EADDRNOTAVAIL ||
                 errno == EAFNOSUPPORT)) { // this machine has no IPv6
    if (descriptor >= 0)
      close(descriptor);
    descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    bound = bind(descriptor, reinterpret_cast<sockaddr *>(&address4), sizeof address4) == 0;
  }
  if (bound && listen(descriptor, 1024) == 0)
    return descriptor;
  Status status = Status::lost("rank 0 could not listen at port ", port, ": ", strerror(errno),
                               "; choose another MASTER_PORT");
  close(descriptor);
  return status;
}

Result<std::unique_ptr<TcpStoreServer>> TcpStoreServer::start(const Rendezvous &rendezvous) {
  std::unique_ptr<TcpStoreServer> server(new TcpStoreServer);
  server->listener_ = rendezvous.listenSocket;
  if (server->listener_ < 0) {
    CLEAVE_TRY_ASSIGN(server->listener_, listenAt(rendezvous.port));
  }
  if (pipe2(server->stopPipe_, O_CLOEXEC) != 0)
    return Status::lost("could not create a pipe: ", strerror(errno));
  server->thread_ = std::thread([raw = server.get()] { raw->serve(); });
  return server;
}

TcpStoreServer::~TcpStoreServer() {
  if (thread_.joinable()) {
    [[maybe_unused]] ssize_t ignored = write(stopPipe_[1], "x", 1);
    thread_.join();
  }
  for (Client &client : clients_)
    close(client.descriptor);
  for (int descriptor : {listener_, stopPipe_[0], stopPipe_[1]})
    if (descriptor >= 0)
      close(descriptor);
}

void TcpStoreServer::serve() {
  while (true) {
    std::vector<pollfd> watched{{stopPipe_[0], POLLIN, 0}, {listener_, POLLIN, 0}};
    for (Client &client : clients_)
      watched.push_back({client.descriptor, POLLIN, 0});
    if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR)
      return;
    if (watched[0].revents)
      return;
    for (size_t i = 2; i < watched.size(); ++i) {
      Client &client = clients_[i - 2];
      if (watched[i].revents && !read(client)) {
        close(client.descriptor);
        client.descriptor = -1;
      }
    }
    std::erase_if(clients_, [](const Client &client) { return client.descriptor < 0; });
    if (watched[1].revents)
      accept();
  }
}

void TcpStoreServer::accept() {
  int descriptor = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (descriptor >= 0)
    clients_.push_back({descriptor, {}});
}

// False if the client has disconnected.
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

// Reads a string at `at` and advances `at`; false if it is incomplete.
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
    values_[key] = value;
  } else {
    answer(client, key);
  }
  client.received.erase(0, at);
  return true;
}

void TcpStoreServer::answer(Client &client, const std::string &key) {
  auto found = values_.find(key);
  std::string message(1, found == values_.end() ? 'N' : 'Y');
  if (found != values_.end()) {
    uint32_t length = static_cast<uint32_t>(found->second.size());
    message.append(reinterpret_cast<const char *>(&length), sizeof length);
    message += found->second;
  }
  [[maybe_unused]] ssize_t ignored =
      ::send(client.descriptor, message.data(), message.size(), MSG_NOSIGNAL);
}

} // namespace cleave::comm
