#include "Ranks.h"

#include "runtime/comm/Sockets.h"
#include "runtime/comm/gloo/GlooWorld.h"
#include "runtime/comm/local/LocalWorld.h"
#include "runtime/comm/mixed/MixedWorld.h"
#include "runtime/comm/shm/ShmWorld.h"

#include <csignal>

namespace cleave::comm {

// Gloo writes to sockets that a peer may have closed; cleave-run ignores the signal likewise.
[[maybe_unused]] static const auto kPreviousHandler = std::signal(SIGPIPE, SIG_IGN);

const std::vector<std::string> &implementations() {
  static const std::vector<std::string> names{"local", "shm", "gloo", "mixed"};
  return names;
}

std::vector<std::string> implementationsThat(Promise) { return implementations(); }

static Result<std::unique_ptr<World>> connectOver(const std::string &implementation,
                                                  const Rendezvous &rendezvous,
                                                  const Options &options) {
  auto store = TcpStore::connect(rendezvous, options.timeout);
  CLEAVE_TRY(store.status());
  std::shared_ptr<TcpStore> shared = std::move(*store);
  if (implementation == "gloo")
    return connectGloo(shared, rendezvous.rank, rendezvous.size, options);
  if (implementation == "shm")
    return connectShm(shared, rendezvous.rank, firstRanks(rendezvous.size), rendezvous.size,
                      options);
  std::string machine = "machine " + std::to_string(rendezvous.rank / 2); // two ranks on each
  return connectMixed(shared, rendezvous.rank, rendezvous.size, machine, options);
}

std::string runRanks(const std::string &implementation, int size, const RankMain &main,
                     const Options &options) {
  std::vector<std::unique_ptr<World>> local;
  BoundSocket socket{-1, 0};
  if (implementation == "local")
    local = makeLocalWorlds(size, options);
  else
    socket = *bindLoopback();
  return runThreads(size, [&](int rank, Findings &findings) {
    Rendezvous rendezvous{.rank = rank,
                          .size = size,
                          .port = socket.port,
                          .listenSocket = rank == 0 ? socket.descriptor : -1,
                          .secret = JobSecret::of("the ranks of a test")};
    Result<std::unique_ptr<World>> world =
        implementation == "local" ? Result<std::unique_ptr<World>>(std::move(local[rank]))
                                  : connectOver(implementation, rendezvous, options);
    findings.expectOk(world.status(), "connecting");
    if (world)
      main(**world, findings);
  });
}

} // namespace cleave::comm
