// Which way the ranks of a job talk.
#include "runtime/comm/gloo/GlooWorld.h"
#include "runtime/comm/local/LocalWorld.h"
#include "runtime/launch/Launch.h"

namespace cleave::launch {

Result<std::unique_ptr<comm::World>> joinWorld(const RankEnvironment &environment,
                                               const comm::Options &options) {
  if (environment.size == 1)
    return std::move(comm::makeLocalWorlds(1, options)[0]);
  return comm::connectGloo({environment.rank, environment.size, environment.masterAddress,
                            environment.masterPort, environment.listenSocket},
                           options);
}

} // namespace cleave::launch
