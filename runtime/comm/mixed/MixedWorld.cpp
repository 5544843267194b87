#include "runtime/comm/mixed/MixedWorld.h"

#include "runtime/comm/gloo/GlooWorld.h"
#include "runtime/comm/shm/ShmWorld.h"

#include <algorithm>
#include <vector>

namespace cleave::comm {
namespace {

class MixedWorld final : public World {
public:
  MixedWorld(std::unique_ptr<World> between, std::unique_ptr<World> within, std::vector<int> here)
      : World(between->rank(), between->size()), between(std::move(between)),
        within(std::move(within)), here(std::move(here)) {}

  Result<std::unique_ptr<Communicator>> connect(const std::vector<int> &members) override {
    bool allHere = std::all_of(members.begin(), members.end(), [&](int member) {
      return std::binary_search(here.begin(), here.end(), member);
    });
    return allHere ? within->connect(members) : between->connect(members);
  }

  std::string implementation() const override { return "shm+gloo"; }

private:
  std::unique_ptr<World> between, within;
  std::vector<int> here; // ranks of this machine, ascending
};

// The ranks of this machine, ascending.
Result<std::vector<int>> ranksHere(TcpStore &store, int rank, int size, const std::string &machine,
                                   std::chrono::milliseconds timeout) {
  CLEAVE_TRY(store.set("machine/" + std::to_string(rank), machine));
  std::vector<int> here;
  for (int other = 0; other < size; ++other) {
    auto theirs = store.get("machine/" + std::to_string(other), timeout);
    if (!theirs)
      return Status::lost("rank " + std::to_string(other) + " did not come to the rendezvous (" +
                          theirs.status().message() + ")");
    if (*theirs == machine)
      here.push_back(other);
  }
  return here;
}

} // namespace

Result<std::unique_ptr<World>> connectMixed(std::shared_ptr<TcpStore> store, int rank, int size,
                                            const std::string &machine, const Options &options) {
  auto here = ranksHere(*store, rank, size, machine, options.timeout);
  CLEAVE_TRY(here.status());
  std::unique_ptr<World> within;
  if (here->size() > 1) {
    auto connected = connectShm(store, rank, *here, size, options);
    CLEAVE_TRY(connected.status());
    within = std::move(*connected);
  }
  // All ranks of a machine see the same, so if one needs no Gloo, none does.
  if (within && here->size() == static_cast<size_t>(size))
    return within;
  auto between = connectGloo(store, rank, size, options);
  CLEAVE_TRY(between.status());
  if (!within)
    return between;
  return std::unique_ptr<World>(
      std::make_unique<MixedWorld>(std::move(*between), std::move(within), std::move(*here)));
}

} // namespace cleave::comm
