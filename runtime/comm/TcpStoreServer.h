// The server of TcpStore: one thread at rank 0, which waits for no client.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/comm/StoreClient.h"
#include "runtime/comm/TcpStore.h"

#include <memory>
#include <thread>
#include <vector>

namespace cleave::comm {

// Limits for connections that have not proven yet that they belong to the job.
struct StoreLimits {
  std::chrono::milliseconds handshake{10000}; // the time in which they have to
  size_t strangers = 256;                     // at a time; the oldest is closed for a new one
};

class TcpStoreServer {
public:
  // Listens at the rendezvous' host and port (see listenAt), or at its socket, which the server
  // then owns. Status::lost if the port is taken.
  static Result<std::unique_ptr<TcpStoreServer>> start(const Rendezvous &rendezvous,
                                                       const StoreLimits &limits = {});
  ~TcpStoreServer();

private:
  TcpStoreServer(const JobSecret &secret, int size, const StoreLimits &limits)
      : secret_(secret), size_(size), limits_(limits) {}
  void serve();
  bool serveClient(StoreClient &client, short events);
  void acceptFrom(int listener);
  void closeLateStrangers();
  bool closeOldestStranger();
  int timeToNextDeadline() const;

  JobSecret secret_;
  int size_;
  StoreLimits limits_;
  std::vector<int> listeners_;
  int stopPipe_[2] = {-1, -1};
  std::vector<std::unique_ptr<StoreClient>> clients_; // in the order in which they came
  StoredValues values_;
  std::thread thread_;
};

} // namespace cleave::comm
