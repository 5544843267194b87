// See ConnectDevices.h.
#include "runtime/comm/devices/ConnectDevices.h"

#include "runtime/comm/nccl/Nccl.h"
#include "runtime/comm/nccl/NcclWorld.h"
#include "runtime/comm/staged/StagedWorld.h"

#include <cstdlib>
#include <numeric>

namespace cleave::comm {
namespace {

// Calls of the host's communicators, whose memory the buffers are in.
class DirectAction final : public device::Action {
public:
  DirectAction(Communicator &group, Call call) : group_(group), call_(std::move(call)) {}
  Status run() override { return group_.run(call_); }

private:
  Communicator &group_;
  Call call_;
};

class DirectGroup final : public DeviceGroup {
public:
  explicit DirectGroup(std::unique_ptr<Communicator> group) : group_(std::move(group)) {}
  device::PreparedAction prepare(const Call &call, uint32_t) override {
    CLEAVE_TRY(checkCall(call, group_->size(), group_->rank()));
    return device::PreparedAction(std::make_unique<DirectAction>(*group_, call));
  }

private:
  std::unique_ptr<Communicator> group_;
};

class DirectWorld final : public DeviceWorld {
public:
  explicit DirectWorld(World &world) : world_(world) {}
  Result<std::unique_ptr<DeviceGroup>> connect(const std::vector<int> &members) override {
    CLEAVE_TRY_ASSIGN(auto group, world_.connect(members));
    return std::unique_ptr<DeviceGroup>(std::make_unique<DirectGroup>(std::move(group)));
  }
  bool canRecord() const override { return false; }
  Status await(const std::function<Status()> &wait) override { return wait(); }
  std::string implementation() const override { return world_.implementation(); }

private:
  World &world_;
};

template <size_t N> void put(char (&field)[N], const std::string &text) {
  field[text.copy(field, N - 1)] = '\0';
}

DeviceCard cardOf(const device::Device &device) {
  DeviceCard card{};
  put(card.identity, device.identity());
  if (auto table = nccl::loadNccl(); !table)
    put(card.obstacle, table.status().message());
  return card;
}

// The cards of all ranks, by rank.
Result<std::vector<DeviceCard>> exchangeCards(World &world, const DeviceCard &own) {
  std::vector<int> ranks(size_t(world.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  CLEAVE_TRY_ASSIGN(auto everyone, world.connect(ranks));
  std::vector<DeviceCard> cards(ranks.size());
  CLEAVE_TRY(everyone->allGather(&own, cards.data(), sizeof own, DType::U8));
  return cards;
}

} // namespace

Result<std::string> kindFor(const std::vector<DeviceCard> &cards, const std::string &wanted) {
  if (!wanted.empty() && wanted != "nccl" && wanted != "staged")
    return Status::userError("found CLEAVE_DEVICE_COMM=", wanted, ", expected nccl or staged");
  std::string obstacle;
  for (size_t rank = 0; rank < cards.size() && obstacle.empty(); ++rank) {
    if (*cards[rank].obstacle)
      obstacle = concat("rank ", rank, ": ", cards[rank].obstacle);
    for (size_t other = 0; other < rank && obstacle.empty(); ++other)
      if (std::string(cards[other].identity) == cards[rank].identity)
        obstacle = concat("ranks ", other, " and ", rank, " share a GPU");
  }
  if (wanted == "nccl" && !obstacle.empty())
    return Status::userError("found CLEAVE_DEVICE_COMM=nccl, but ", obstacle, "; unset it");
  return std::string(wanted == "staged" || !obstacle.empty() ? "staged" : "nccl");
}

Result<std::unique_ptr<DeviceWorld>> connectDevices(World &world, device::Device &device,
                                                    const Options &options) {
  if (device.isHost())
    return std::unique_ptr<DeviceWorld>(std::make_unique<DirectWorld>(world));
  const char *variable = std::getenv("CLEAVE_DEVICE_COMM");
  std::string wanted = variable ? variable : "";
  if (world.size() == 1 && wanted.empty()) // nothing to transfer: copies on the device
    return makeStagedWorld(world, device);
  CLEAVE_TRY_ASSIGN(auto cards, exchangeCards(world, cardOf(device)));
  CLEAVE_TRY_ASSIGN(std::string kind, kindFor(cards, wanted));
  if (kind == "staged")
    return makeStagedWorld(world, device);
  CLEAVE_TRY_ASSIGN(const nccl::Table *table, nccl::loadNccl());
  return makeNcclWorld(*table, world, device, options);
}

} // namespace cleave::comm
