// A small key-value store by which ranks find each other: rank 0 serves it, all ranks write and
// read. Keys are written once; reading waits until the key is there.
#pragma once

#include "runtime/base/Status.h"

#include <chrono>
#include <memory>
#include <string>

namespace cleave::comm {

// Where and as whom to meet.
struct Rendezvous {
  int rank = 0;
  int size = 1;
  std::string host = "127.0.0.1"; // where rank 0 runs
  int port = 0;                   // where it serves the store
  int listenSocket = -1; // at rank 0: a socket already bound to the port, which is taken over
};

// A TCP socket bound to a free port of the loopback interface, and that port.
struct BoundSocket {
  int descriptor;
  int port;
};
Result<BoundSocket> bindLoopback();

class TcpStoreServer; // at rank 0: a thread

// One rank's connection to the store. The server lives as long as rank 0's.
class TcpStore {
public:
  // Connects, waiting for rank 0 to come. Thread-safe afterwards.
  static Result<std::unique_ptr<TcpStore>> connect(const Rendezvous &rendezvous,
                                                   std::chrono::milliseconds timeout);
  ~TcpStore();

  Status set(const std::string &key, const std::string &value);
  // Waits for the key, asking again and again: other threads may use the store meanwhile.
  Result<std::string> get(const std::string &key, std::chrono::milliseconds timeout);
  // This machine's address as the master sees it.
  const std::string &localAddress() const { return localAddress_; }

private:
  TcpStore() = default;
  struct Connection;
  std::unique_ptr<TcpStoreServer> server;
  std::unique_ptr<Connection> connection;
  std::string localAddress_;
};

} // namespace cleave::comm
