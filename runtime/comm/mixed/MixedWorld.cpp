// See MixedWorld.h.
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
      : World(between->rank(), between->size()), between_(std::move(between)),
        within_(std::move(within)), here_(std::move(here)) {}

  Result<std::unique_ptr<Communicator>> connect(const std::vector<int> &members) override {
    bool allHere = std::all_of(members.begin(), members.end(), [&](int member) {
      return std::binary_search(here_.begin(), here_.end(), member);
    });
    return allHere ? within_->connect(members) : between_->connect(members);
  }

  Status publish(const std::string &key, const std::string &value) override {
    return between_->publish(key, value);
  }
  Result<std::optional<std::string>> peek(const std::string &key) override {
    return between_->peek(key);
  }
  bool hasEnded(int rank) const override {
    return std::binary_search(here_.begin(), here_.end(), rank) && within_->hasEnded(rank);
  }

  std::string implementation() const override { return "shm+gloo"; }

private:
  std::unique_ptr<World> between_, within_;
  std::vector<int> here_; // ranks of this machine, ascending
};

// The ranks of this machine, ascending.
Result<std::vector<int>> ranksHere(TcpStore &store, int rank, int size, const std::string &machine,
                                   std::chrono::milliseconds timeout) {
  CLEAVE_TRY(store.set("machine/" + std::to_string(rank), machine));
  std::vector<int> here;
  for (int other = 0; other < size; ++other) {
    auto theirs = store.get("machine/" + std::to_string(other), timeout);
    if (!theirs)
      return Status::lost("rank ", other, " did not come to the rendezvous (",
                          theirs.status().message(), ")");
    if (*theirs == machine)
      here.push_back(other);
  }
  return here;
}

} // namespace

Result<std::unique_ptr<World>> connectMixed(std::shared_ptr<TcpStore> store, int rank, int size,
                                            const std::string &machine, const Options &options) {
  CLEAVE_TRY_ASSIGN(auto here, ranksHere(*store, rank, size, machine, options.timeout));
  std::unique_ptr<World> within;
  if (here.size() > 1) {
    CLEAVE_TRY_ASSIGN(within, connectShm(store, rank, here, size, options));
  }
  // All ranks of a machine get the same result here, so all of them or none use Gloo.
  if (within && here.size() == static_cast<size_t>(size))
    return within;
  CLEAVE_TRY_ASSIGN(auto between, connectGloo(store, rank, size, options));
  if (!within)
    return between;
  return std::unique_ptr<World>(
      std::make_unique<MixedWorld>(std::move(between), std::move(within), std::move(here)));
}

} // namespace cleave::comm
