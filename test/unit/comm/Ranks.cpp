#include "Ranks.h"

#include "runtime/comm/gloo/GlooWorld.h"
#include "runtime/comm/local/LocalWorld.h"
#include "runtime/comm/shm/ShmWorld.h"

#include <thread>

namespace cleave::comm {

const std::vector<std::string> &implementations() {
  static const std::vector<std::string> names{"local", "shm", "gloo"};
  return names;
}

static Result<std::unique_ptr<World>> connectOver(const std::string &implementation,
                                                  const Rendezvous &rendezvous,
                                                  const Options &options) {
  auto store = TcpStore::connect(rendezvous, options.timeout);
  CLEAVE_TRY(store.status());
  auto *connect =
      implementation == "gloo" ? static_cast<decltype(&connectShm)>(connectGloo) : connectShm;
  return connect(std::move(*store), rendezvous.rank, rendezvous.size, options);
}

std::string runRanks(const std::string &implementation, int size, const RankMain &main,
                     const Options &options) {
  std::vector<std::unique_ptr<World>> local;
  BoundSocket socket{-1, 0};
  if (implementation == "local")
    local = makeLocalWorlds(size, options);
  else
    socket = *bindLoopback();
  std::vector<Findings> findings;
  for (int rank = 0; rank < size; ++rank)
    findings.emplace_back(rank);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      Rendezvous rendezvous{rank, size, "127.0.0.1", socket.port,
                            rank == 0 ? socket.descriptor : -1};
      Result<std::unique_ptr<World>> world =
          implementation == "local" ? Result<std::unique_ptr<World>>(std::move(local[rank]))
                                    : connectOver(implementation, rendezvous, options);
      findings[rank].expectOk(world.status(), "connecting");
      if (world)
        main(**world, findings[rank]);
    });
  for (std::thread &thread : threads)
    thread.join();
  std::string all;
  for (const Findings &finding : findings)
    all += finding.text;
  return all;
}

} // namespace cleave::comm
