// A build without Gloo (CLEAVE_RUNTIME_ONLY): ranks on other machines cannot be reached.
#include "runtime/comm/gloo/GlooWorld.h"

namespace cleave::comm {

static Status withoutGloo() {
  return Status::userError(
      "found ranks that do not share this machine's memory, but this cleave-run was built without "
      "Gloo; run all ranks on one machine, or use a build without CLEAVE_RUNTIME_ONLY");
}

Result<std::unique_ptr<World>> connectGloo(const Rendezvous &, const Options &) {
  return withoutGloo();
}

Result<std::unique_ptr<World>> connectGloo(std::shared_ptr<TcpStore>, int, int, const Options &) {
  return withoutGloo();
}

} // namespace cleave::comm
