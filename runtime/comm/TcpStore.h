// A small key-value store for the rendezvous of ranks. Rank 0 serves it; all ranks write and read.
// Keys are written once; reading waits until the key exists.
#pragma once

#include "runtime/base/Status.h"

#include <chrono>
#include <memory>
#include <string>

namespace cleave::comm {

// The place of the rendezvous, and this rank.
struct Rendezvous {
  int rank = 0;
  int size = 1;
  std::string host = "127.0.0.1"; // of rank 0
  int port = 0;                   // at which rank 0 serves the store
  int listenSocket = -1; // at rank 0: a socket bound to the port, which the store then owns
};

// A TCP socket bound to a free port of the loopback interface, and that port.
struct BoundSocket {
  int descriptor;
  int port;
};
Result<BoundSocket> bindLoopback();

class TcpStoreServer; // at rank 0: a thread

// One rank's connection to the store. The server lives as long as rank 0's connection.
class TcpStore {
public:
  // Connects; waits for rank 0 up to the timeout. The connection is thread-safe. Status::lost, here
  // and below, if rank 0 cannot be reached.
  static Result<std::unique_ptr<TcpStore>> connect(const Rendezvous &rendezvous,
                                                   std::chrono::milliseconds timeout);
  ~TcpStore();

  // Writes a key.
  Status set(const std::string &key, const std::string &value);
  // Reads a key. Polls until it exists, so that other threads can use the store in the meantime;
  // Status::lost after the timeout.
  Result<std::string> get(const std::string &key, std::chrono::milliseconds timeout);
  // The local address of the connection to rank 0.
  const std::string &localAddress() const { return localAddress_; }

private:
  TcpStore() = default;
  struct Connection;
  std::unique_ptr<TcpStoreServer> server_;
  std::unique_ptr<Connection> connection_;
  std::string localAddress_;
};

} // namespace cleave::comm
