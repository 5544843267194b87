// A small key-value store for the rendezvous of ranks. Rank 0 serves it; all ranks write and read.
// Every connection is bound to the job's secret and encrypted (SecureChannel.h).
#pragma once

#include "runtime/base/Status.h"
#include "runtime/comm/JobSecret.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace cleave::comm {

// The place of the rendezvous, and this rank.
struct Rendezvous {
  int rank = 0;
  int size = 1;
  std::string host = "127.0.0.1"; // of rank 0
  int port = 0;                   // at which rank 0 serves the store
  int listenSocket = -1; // at rank 0: a socket that listens at the port, which the store then owns
  JobSecret secret;      // of the job; must be set
};

class TcpStoreServer; // at rank 0: a thread
struct StoreRequest;

// One rank's connection to the store. The server lives as long as rank 0's connection. Thread-safe.
class TcpStore {
public:
  // Connects; waits for rank 0 up to the timeout, which is also the longest time that a request
  // takes. Status::lost, here and below, if rank 0 cannot be reached or belongs to another job.
  static Result<std::unique_ptr<TcpStore>> connect(const Rendezvous &rendezvous,
                                                   std::chrono::milliseconds timeout);
  ~TcpStore();

  // Writes a key, once: a user error if it has another value already, as when two processes were
  // started as the same rank. Keys have up to 4 KiB, values up to 1 MiB.
  Status set(const std::string &key, const std::string &value);
  // Reads a key. Polls until it exists, so that other threads can use the store in the meantime;
  // Status::lost after the timeout.
  Result<std::string> get(const std::string &key, std::chrono::milliseconds timeout);
  // Writes a key that may be overwritten; such keys are read with `peek`.
  Status publish(const std::string &key, const std::string &value);
  // The value of a key now, without waiting for it; nothing if it was never written.
  Result<std::optional<std::string>> peek(const std::string &key);
  // The local address of the connection to rank 0.
  const std::string &localAddress() const { return localAddress_; }

private:
  TcpStore() = default;
  struct Connection;
  Status write(const StoreRequest &request);
  std::unique_ptr<TcpStoreServer> server_;
  std::unique_ptr<Connection> connection_;
  std::string localAddress_;
};

} // namespace cleave::comm
