// See StagedWorld.h.
#include "runtime/comm/staged/StagedWorld.h"

#include "runtime/comm/Pieces.h"

#include <vector>

namespace cleave::comm {
namespace {

// Memory of the host that all groups share: the calls of a queue use it one after the other.
struct Staging {
  std::shared_ptr<void> send, recv;
  size_t bytes; // of each
};

// One piece: downloads, the call between the hosts, uploads.
struct Piece {
  ActionList downloads, uploads;
  Call call;
};

class StagedAction final : public device::Action {
public:
  StagedAction(device::Device &device, Communicator &group, uint32_t queue,
               std::vector<std::unique_ptr<Piece>> pieces)
      : device_(device), group_(group), queue_(queue), pieces_(std::move(pieces)) {}

  Status run() override {
    for (auto &piece : pieces_) {
      CLEAVE_TRY(piece->downloads.run());
      // Also waits for the last piece's uploads, which read the memory that this one writes.
      CLEAVE_TRY(device_.synchronize(queue_));
      CLEAVE_TRY(group_.run(piece->call));
      CLEAVE_TRY(piece->uploads.run());
    }
    return Status::ok();
  }

private:
  device::Device &device_;
  Communicator &group_;
  uint32_t queue_;
  std::vector<std::unique_ptr<Piece>> pieces_;
};

class StagedGroup final : public DeviceGroup {
public:
  StagedGroup(std::unique_ptr<Communicator> group, device::Device &device, const Staging &staging)
      : group_(std::move(group)), device_(device), staging_(staging) {}

  device::PreparedAction prepare(const Call &call, uint32_t queue) override {
    CLEAVE_TRY(checkCall(call, group_->size(), group_->rank()));
    if (group_->size() == 1)
      return prepareAlone(device_, call, queue);
    device_.prepareFor(queue);
    // A piece's received chunks must fit, too.
    const int64_t sent = chunksSent(call.kind, group_->size()),
                  received = chunksReceived(call.kind, group_->size());
    PieceCutter cutter(call, group_->size(),
                       received > sent ? staging_.bytes / size_t(received) : staging_.bytes);
    std::vector<std::unique_ptr<Piece>> pieces;
    for (auto segments = cutter.next(); !segments.empty(); segments = cutter.next()) {
      CLEAVE_TRY_ASSIGN(auto piece, pieceOf(call, segments));
      pieces.push_back(std::move(piece));
    }
    return device::PreparedAction(
        std::make_unique<StagedAction>(device_, *group_, queue, std::move(pieces)));
  }

private:
  // The pairs of the host's call are the segments. Their offsets in the received memory are those
  // in the sent one, times the chunks of an AllGather.
  Result<std::unique_ptr<Piece>> pieceOf(const Call &call, const std::vector<Segment> &segments) {
    const int64_t sent = chunksSent(call.kind, group_->size()),
                  received = chunksReceived(call.kind, group_->size());
    auto piece = std::make_unique<Piece>();
    piece->call = call;
    piece->call.pairs.clear();
    for (const Segment &segment : segments) {
      const BufferPair &pair = call.pairs[segment.pair];
      int64_t count = segment.end - segment.begin;
      char *out = static_cast<char *>(staging_.send.get()) + segment.packedAt;
      char *in = static_cast<char *>(staging_.recv.get()) +
                 segment.packedAt * size_t(received > sent ? received : 1);
      if (pair.send)
        CLEAVE_TRY(addDownloads(*piece, pair, segment, sent, out));
      if (pair.recv)
        CLEAVE_TRY(addUploads(*piece, pair, segment, received, in));
      piece->call.pairs.push_back(
          {pair.send ? out : nullptr, pair.recv ? in : nullptr, count, pair.dtype});
    }
    return piece;
  }

  Status addDownloads(Piece &piece, const BufferPair &pair, const Segment &segment, int64_t chunks,
                      char *to) {
    int64_t size = byteSize(pair.dtype), bytes = (segment.end - segment.begin) * size;
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      const char *from =
          static_cast<const char *>(pair.send) + (chunk * pair.count + segment.begin) * size;
      CLEAVE_TRY_ASSIGN(auto action, device_.download(from, to + chunk * bytes, uint64_t(bytes)));
      piece.downloads.add(std::move(action));
    }
    return Status::ok();
  }

  Status addUploads(Piece &piece, const BufferPair &pair, const Segment &segment, int64_t chunks,
                    const char *from) {
    int64_t size = byteSize(pair.dtype), bytes = (segment.end - segment.begin) * size;
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      char *to = static_cast<char *>(pair.recv) + (chunk * pair.count + segment.begin) * size;
      CLEAVE_TRY_ASSIGN(auto action, device_.upload(from + chunk * bytes, to, uint64_t(bytes)));
      piece.uploads.add(std::move(action));
    }
    return Status::ok();
  }

  std::unique_ptr<Communicator> group_;
  device::Device &device_;
  const Staging &staging_;
};

class StagedWorld final : public DeviceWorld {
public:
  StagedWorld(World &world, device::Device &device, Staging staging)
      : world_(world), device_(device), staging_(std::move(staging)) {}

  Result<std::unique_ptr<DeviceGroup>> connect(const std::vector<int> &members) override {
    CLEAVE_TRY_ASSIGN(auto group, world_.connect(members));
    return std::unique_ptr<DeviceGroup>(
        std::make_unique<StagedGroup>(std::move(group), device_, staging_));
  }
  bool canRecord() const override { return world_.size() == 1; } // only copies on the device
  Status await(const std::function<Status()> &wait) override { return wait(); }
  std::string implementation() const override { return world_.implementation() + ", staged"; }

private:
  World &world_;
  device::Device &device_;
  Staging staging_;
};

} // namespace

Result<std::unique_ptr<DeviceWorld>> makeStagedWorld(World &world, device::Device &device,
                                                     size_t stagingBytes) {
  Staging staging{.send = {}, .recv = {}, .bytes = stagingBytes};
  if (world.size() > 1) {
    CLEAVE_TRY_ASSIGN(staging.send, device.allocate(plan::HOST, stagingBytes));
    CLEAVE_TRY_ASSIGN(staging.recv, device.allocate(plan::HOST, stagingBytes));
  }
  return std::unique_ptr<DeviceWorld>(
      std::make_unique<StagedWorld>(world, device, std::move(staging)));
}

} // namespace cleave::comm
