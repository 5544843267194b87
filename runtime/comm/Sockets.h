// TCP sockets of the rendezvous: where rank 0 listens, and how the ranks reach it.
#pragma once

#include "runtime/base/Status.h"

#include <chrono>
#include <string>
#include <vector>

namespace cleave::comm {

// A TCP socket bound to a free port of the loopback interface, and that port.
struct BoundSocket {
  int descriptor;
  int port;
};
Result<BoundSocket> bindLoopback();

// Sockets that listen at HOST:PORT on this machine: at the addresses of `host` that belong to its
// network interfaces. At all interfaces if none does (as behind address translation), or if a host
// name means a loopback address, which other machines do not see (Debian gives a machine's own name
// the address 127.0.1.1). Status::lost if the port is taken. The caller closes the sockets.
Result<std::vector<int>> listenAt(const std::string &host, int port);

// One attempt to reach HOST:PORT within the time. Returns a socket, which the caller closes, or -1
// and the reason in `problem`.
int dial(const std::string &host, int port, std::chrono::milliseconds timeout,
         std::string &problem);

// The local address of a connected or bound socket, such as `10.0.0.3`.
std::string localAddressOf(int descriptor);

// Whether an address is one of the loopback interface: `127.…` or `::1`.
bool isLoopback(const std::string &address);

// Sets the time that a send or receive waits; both then fail with EAGAIN.
void setTimeout(int descriptor, std::chrono::milliseconds timeout);

} // namespace cleave::comm
