// The server of TcpStore: one thread at rank 0.
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
  // Listens at the rendezvous' port, or at its socket, which the server then owns. Status::lost if
  // the port is taken.
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

  int listener_ = -1;
  int stopPipe_[2] = {-1, -1};
  std::vector<Client> clients_;
  std::map<std::string, std::string> values_;
  std::thread thread_;
};

} // namespace cleave::comm
