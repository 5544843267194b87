// Connects a rank over shared memory or Gloo. See Launch.h.
#include "runtime/comm/gloo/GlooWorld.h"
#include "runtime/comm/local/LocalWorld.h"
#include "runtime/comm/mixed/MixedWorld.h"
#include "runtime/launch/Launch.h"
#include "runtime/launch/RollCall.h"

#include <cstdlib>
#include <fstream>
#include <unistd.h>

namespace cleave::launch {
namespace {

// Identifies this machine even if several machines have the same host name.
std::string machineName() {
  std::string name;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> name;
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return name + "/" + host;
}

} // namespace

Result<std::unique_ptr<comm::World>> joinWorld(const RankEnvironment &environment,
                                               const comm::Options &options) {
  if (environment.size == 1)
    return std::move(comm::makeLocalWorlds(1, options)[0]);
  const char *variable = std::getenv("CLEAVE_COMM");
  std::string choice = variable ? variable : "";
  if (!choice.empty() && choice != "shm" && choice != "gloo")
    return Status::userError("found CLEAVE_COMM=", choice, ", expected shm or gloo");
  CLEAVE_TRY_ASSIGN(auto connected,
                    comm::TcpStore::connect({.rank = environment.rank,
                                             .size = environment.size,
                                             .host = environment.masterAddress,
                                             .port = environment.masterPort,
                                             .listenSocket = environment.listenSocket,
                                             .secret = environment.secret},
                                            options.timeout));
  std::shared_ptr<comm::TcpStore> store = std::move(connected);
  CLEAVE_TRY(callRoll(*store, environment, choice, options.timeout));
  if (choice == "gloo")
    return comm::connectGloo(store, environment.rank, environment.size, options);
  auto world =
      comm::connectMixed(store, environment.rank, environment.size, machineName(), options);
  if (world && choice == "shm" && (*world)->implementation() != "shm")
    return Status::userError("found CLEAVE_COMM=shm, but not all ranks can share memory; unset it");
  return world;
}

} // namespace cleave::launch
