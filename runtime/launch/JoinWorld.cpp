// Which way the ranks of a job talk.
#include "runtime/comm/gloo/GlooWorld.h"
#include "runtime/comm/local/LocalWorld.h"
#include "runtime/comm/shm/ShmWorld.h"
#include "runtime/launch/Launch.h"

#include <cstdlib>
#include <fstream>
#include <unistd.h>

namespace cleave::launch {
namespace {

// Tells machines apart, whatever their names.
std::string machineName() {
  std::string name;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> name;
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return name + "/" + host;
}

// Whether all ranks run on this machine; every rank gets the same answer.
Result<bool> onOneMachine(comm::TcpStore &store, const RankEnvironment &environment,
                          std::chrono::milliseconds timeout) {
  std::string mine = machineName();
  CLEAVE_TRY(store.set("machine/" + std::to_string(environment.rank), mine));
  bool one = true;
  for (int rank = 0; rank < environment.size; ++rank) {
    auto machine = store.get("machine/" + std::to_string(rank), timeout);
    if (!machine)
      return Status::lost("rank " + std::to_string(rank) + " did not come to the rendezvous at " +
                          environment.masterAddress + ":" + std::to_string(environment.masterPort) +
                          " (" + machine.status().message() + ")");
    one &= *machine == mine;
  }
  return one;
}

} // namespace

Result<std::unique_ptr<comm::World>> joinWorld(const RankEnvironment &environment,
                                               const comm::Options &options) {
  if (environment.size == 1)
    return std::move(comm::makeLocalWorlds(1, options)[0]);
  const char *variable = std::getenv("CLEAVE_COMM");
  std::string choice = variable ? variable : "";
  if (!choice.empty() && choice != "shm" && choice != "gloo")
    return Status::userError("found CLEAVE_COMM=" + choice + ", expected shm or gloo");
  auto connected = comm::TcpStore::connect({environment.rank, environment.size, environment.masterAddress,
                                            environment.masterPort, environment.listenSocket},
                                           options.timeout);
  CLEAVE_TRY(connected.status());
  std::shared_ptr<comm::TcpStore> store = std::move(*connected);
  auto oneMachine = onOneMachine(*store, environment, options.timeout);
  CLEAVE_TRY(oneMachine.status());
  if (choice != "gloo" && *oneMachine) {
    auto world = comm::connectShm(store, environment.rank, environment.size, options);
    CLEAVE_TRY(world.status());
    if (*world)
      return world;
  }
  if (choice == "shm")
    return Status::userError("found CLEAVE_COMM=shm, but the ranks cannot share memory; unset it");
  return comm::connectGloo(store, environment.rank, environment.size, options);
}

} // namespace cleave::launch
