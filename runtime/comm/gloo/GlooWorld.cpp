// See GlooWorld.h.
#include "runtime/comm/gloo/GlooWorld.h"

#include "runtime/comm/Sockets.h"
#include "runtime/comm/gloo/GlooCommunicator.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cstdlib>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>
#include <map>
#include <netinet/in.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

namespace cleave::comm {
namespace {

// A rank that did not write its address.
Status missing(const std::string &rank, const Status &reason) {
  return Status::lost("rank ", rank, " did not come to the rendezvous (", reason.message(), ")");
}

// Adapts the TcpStore to Gloo's interface.
class StoreAdapter final : public gloo::rendezvous::Store {
public:
  StoreAdapter(TcpStore &store, std::chrono::milliseconds timeout)
      : store_(store), timeout_(timeout) {}

  void set(const std::string &key, const std::vector<char> &data) override {
    check(store_.set("gloo/" + key, std::string(data.begin(), data.end())));
  }
  std::vector<char> get(const std::string &key) override {
    Result<std::string> value = store_.get("gloo/" + key, timeout_);
    if (!value) // Gloo's keys are numbers of ranks
      check(missing(key, value.status()));
    return {value->begin(), value->end()};
  }
  void wait(const std::vector<std::string> &keys) override {
    for (const std::string &key : keys)
      get(key);
  }
  void wait(const std::vector<std::string> &keys, const std::chrono::milliseconds &) override {
    wait(keys);
  }

private:
  static void check(const Status &status) {
    if (!status) // caught in connectGloo: Gloo reports by exceptions
      throw std::runtime_error(status.message());
  }
  TcpStore &store_;
  std::chrono::milliseconds timeout_;
};

class GlooWorld final : public World {
public:
  GlooWorld(int rank, int size, std::shared_ptr<TcpStore> store,
            std::shared_ptr<gloo::Context> context, const Options &options)
      : World(rank, size), store_(std::move(store)), context_(std::move(context)),
        options_(options) {}

  Result<std::unique_ptr<Communicator>> connect(const std::vector<int> &members) override {
    auto found = std::find(members.begin(), members.end(), rank());
    if (found == members.end())
      return Status::defect("rank ", rank(), " connects to a group it is not in");
    uint32_t group = numberOf(members, made_[members]++);
    if (!numbers_.insert({group, members}).second)
      return Status::defect("two groups of rank ", rank(), " got the same number");
    return std::unique_ptr<Communicator>(std::make_unique<GlooCommunicator>(
        members, static_cast<int>(found - members.begin()), group, context_, options_));
  }

  Status publish(const std::string &key, const std::string &value) override {
    return store_->publish(key, value);
  }
  Result<std::optional<std::string>> peek(const std::string &key) override {
    return store_->peek(key);
  }

  std::string implementation() const override { return "gloo"; }

private:
  // A hash, so that all members compute the same number without communication.
  static uint32_t numberOf(const std::vector<int> &members, int repetition) {
    uint64_t hash = 0xcbf29ce484222325ull + repetition;
    for (int member : members)
      hash = (hash ^ static_cast<uint64_t>(member + 1)) * 0x100000001b3ull;
    return (hash ^ (hash >> 24) ^ (hash >> 48)) & 0xffffff;
  }

  std::shared_ptr<TcpStore> store_;
  std::shared_ptr<gloo::Context> context_;
  Options options_;
  std::map<std::vector<int>, int> made_; // groups of these members so far
  std::map<uint32_t, std::vector<int>> numbers_;
};

} // namespace

// This machine's address on the route to another one; empty if there is none. Sends nothing.
static std::string addressTowards(const std::string &other) {
  sockaddr_in target{};
  target.sin_family = AF_INET;
  target.sin_port = htons(9);
  if (inet_pton(AF_INET, other.c_str(), &target.sin_addr) != 1)
    return "";
  int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in own{};
  socklen_t length = sizeof own;
  char text[INET_ADDRSTRLEN] = "";
  if (connect(descriptor, reinterpret_cast<sockaddr *>(&target), sizeof target) == 0 &&
      getsockname(descriptor, reinterpret_cast<sockaddr *>(&own), &length) == 0)
    inet_ntop(AF_INET, &own.sin_addr, text, sizeof text);
  close(descriptor);
  return text;
}

// The address at which the other ranks reach this one: the local address of its connection to rank
// 0. On rank 0's own machine that is the loopback address; if ranks of other machines connect, the
// address on the route to one of them replaces it.
static Result<std::string> addressForOthers(TcpStore &store, int rank, int size,
                                            std::chrono::milliseconds timeout) {
  std::string mine = store.localAddress();
  CLEAVE_TRY(store.set("address/" + std::to_string(rank), mine));
  for (int other = 0; other < size && isLoopback(mine); ++other) {
    auto address = store.get("address/" + std::to_string(other), timeout);
    if (!address)
      return missing(std::to_string(other), address.status());
    if (!isLoopback(*address))
      mine = addressTowards(*address);
  }
  if (mine.empty())
    return Status::lost(
        "rank ", rank,
        " found no address for ranks on other machines; set GLOO_SOCKET_IFNAME to the network "
        "interface");
  return mine;
}

Result<std::unique_ptr<World>> connectGloo(const Rendezvous &rendezvous, const Options &options) {
  CLEAVE_TRY_ASSIGN(auto store, TcpStore::connect(rendezvous, options.timeout));
  return connectGloo(std::shared_ptr<TcpStore>(std::move(store)), rendezvous.rank, rendezvous.size,
                     options);
}

Result<std::unique_ptr<World>> connectGloo(std::shared_ptr<TcpStore> store, int rank, int size,
                                           const Options &options) {
  try {
    gloo::transport::tcp::attr attribute;
    const char *interface = std::getenv("GLOO_SOCKET_IFNAME");
    if (interface && *interface) {
      attribute.iface = interface;
    } else {
      CLEAVE_TRY_ASSIGN(attribute.hostname, addressForOthers(*store, rank, size, options.timeout));
    }
    std::shared_ptr<gloo::transport::Device> device = gloo::transport::tcp::CreateDevice(attribute);
    auto context = std::make_shared<gloo::rendezvous::Context>(rank, size);
    context->setTimeout(options.timeout);
    StoreAdapter adapter(*store, options.timeout);
    context->connectFullMesh(adapter, device);
    auto world = std::make_unique<GlooWorld>(rank, size, store, context, options);
    std::vector<int> everyone(size);
    for (int i = 0; i < size; ++i)
      everyone[i] = i;
    auto all = world->connect(everyone); // no rank continues or ends before all are connected
    CLEAVE_TRY(all.status());
    CLEAVE_TRY((*all)->barrier());
    return std::unique_ptr<World>(std::move(world));
  } catch (const std::exception &error) {
    return Status::lost("rank ", rank, " could not connect to the other ", size - 1,
                        " ranks: ", error.what());
  }
}

} // namespace cleave::comm
