// See TcpStoreServer.h.
#include "runtime/comm/TcpStoreServer.h"

#include "runtime/comm/Sockets.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cleave::comm {

Result<std::unique_ptr<TcpStoreServer>> TcpStoreServer::start(const Rendezvous &rendezvous,
                                                              const StoreLimits &limits) {
  std::unique_ptr<TcpStoreServer> server(
      new TcpStoreServer(rendezvous.secret, rendezvous.size, limits));
  if (rendezvous.listenSocket >= 0) {
    server->listeners_ = {rendezvous.listenSocket};
  } else {
    CLEAVE_TRY_ASSIGN(server->listeners_, listenAt(rendezvous.host, rendezvous.port));
  }
  for (int listener : server->listeners_)
    fcntl(listener, F_SETFL, fcntl(listener, F_GETFL) | O_NONBLOCK);
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
  for (int listener : listeners_)
    close(listener);
  for (int descriptor : stopPipe_)
    if (descriptor >= 0)
      close(descriptor);
}

void TcpStoreServer::serve() {
  while (true) {
    std::vector<pollfd> watched{{stopPipe_[0], POLLIN, 0}};
    for (const auto &client : clients_)
      watched.push_back(
          {client->descriptor(), short(client->hasOutput() ? POLLIN | POLLOUT : POLLIN), 0});
    for (int listener : listeners_)
      watched.push_back({listener, POLLIN, 0});
    if (poll(watched.data(), watched.size(), timeToNextDeadline()) < 0 && errno != EINTR)
      return;
    if (watched[0].revents)
      return;
    size_t at = 1, clients = clients_.size();
    for (size_t i = 0; i < clients; ++i, ++at)
      if (watched[at].revents && !serveClient(*clients_[i], watched[at].revents))
        clients_[i].reset();
    std::erase(clients_, nullptr);
    closeLateStrangers();
    for (int listener : listeners_)
      if (watched[at++].revents)
        acceptFrom(listener);
  }
}

// False if the connection is to be closed.
bool TcpStoreServer::serveClient(StoreClient &client, short events) {
  if ((events & POLLOUT) && !client.write())
    return false;
  return (events & ~POLLOUT) == 0 || client.read(values_);
}

void TcpStoreServer::acceptFrom(int listener) {
  while (true) {
    auto isStranger = [](const auto &client) { return !client->isMember(); };
    size_t strangers = std::count_if(clients_.begin(), clients_.end(), isStranger);
    if (strangers >= limits_.strangers)
      closeOldestStranger();
    int descriptor = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor >= 0) {
      int on = 1;
      setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      clients_.push_back(std::make_unique<StoreClient>(descriptor, secret_, size_));
    } else if (errno == EMFILE || errno == ENFILE) { // no descriptors left
      if (!closeOldestStranger())
        return std::this_thread::sleep_for(std::chrono::milliseconds(10));
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return;
    }
  }
}

bool TcpStoreServer::closeOldestStranger() {
  auto oldest = std::find_if(clients_.begin(), clients_.end(),
                             [](const auto &client) { return !client->isMember(); });
  if (oldest == clients_.end())
    return false;
  clients_.erase(oldest);
  return true;
}

void TcpStoreServer::closeLateStrangers() {
  auto now = StoreClient::Clock::now();
  std::erase_if(clients_, [&](const auto &client) {
    return !client->isMember() && now - client->accepted() >= limits_.handshake;
  });
}

// Milliseconds until a stranger's time is over, for poll(); -1 if there is none.
int TcpStoreServer::timeToNextDeadline() const {
  for (const auto &client : clients_) // the oldest comes first
    if (!client->isMember()) {
      auto left = client->accepted() + limits_.handshake - StoreClient::Clock::now();
      auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count() + 1;
      return static_cast<int>(std::max<int64_t>(0, ms));
    }
  return -1;
}

} // namespace cleave::comm
