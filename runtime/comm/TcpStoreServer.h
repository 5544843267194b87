// The serving side of TcpStore: one thread at rank 0.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/comm/TcpStore.h"

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace cleave::comm {

class TcpStoreServer {
public:
  // Listens at the rendezvous' port (or takes over its socket).
  static Result<std::unique_ptr<TcpStoreServer>> start(const Rendezvous &rendezvous);
  ~TcpStoreServer();

private:
  struct Client {
    int descriptor;
    std::string received; // not yet a whole request
  };

  TcpStoreServer() = default;
  void serve();
  void accept();
  bool read(Client &client);
  bool takeRequest(Client &client);
  void answer(Client &client, const std::string &key);

  int listener = -1;
  int stopPipe[2] = {-1, -1};
  std::vector<Client> clients;
  std::map<std::string, std::string> values;
  std::thread thread;
};

} // namespace cleave::comm
