// Measures the runtime's collectives (runtime/comm/local) between threads.
#include "compiler/cluster/MeasureLinks.h"

#include "compiler/cluster/MeasureDevice.h"
#include "runtime/comm/local/LocalWorld.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <numeric>
#include <thread>

namespace cleave::cluster {

namespace {

double wallSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Threads that repeat one collective. Each call transfers the next of a few pieces of memory, since
// most tensors of a training step are not in the cache any more when they are transferred.
class Ranks {
public:
  Ranks(CollectiveKind kind, std::vector<std::unique_ptr<comm::World>> worlds, int64_t floats)
      : kind_(kind), worlds_(std::move(worlds)), floats_(floats) {}

  // See leastSeconds() of the header.
  Result<double> leastSeconds(double budget) {
    std::vector<std::thread> others;
    for (size_t rank = 1; rank < worlds_.size(); ++rank)
      others.emplace_back([this, rank] { (void)repeat(static_cast<int>(rank), 0); });
    Status done = repeat(0, budget); // fails if any rank does
    for (std::thread &other : others)
      other.join();
    CLEAVE_TRY(done);
    return least_;
  }

private:
  // The loop of one rank, until rank 0 ends it or a collective fails.
  Status repeat(int rank, double budget) {
    std::vector<int> members(worlds_.size());
    std::iota(members.begin(), members.end(), 0);
    CLEAVE_TRY_ASSIGN(auto group, worlds_[rank]->connect(members));
    std::vector<float> send(kPieces * floats_, 1.0f), recv(kPieces * floats_, 0.0f);
    std::vector<comm::Call> calls;
    for (int64_t first = 0; first < kPieces * floats_; first += floats_)
      calls.push_back(measuredCall(kind_, rank, int(worlds_.size()), floats_, send.data() + first,
                                   recv.data() + first));
    const double end = wallSeconds() + budget;
    for (int k = 0;; ++k) {
      double begin = wallSeconds();
      if (rank == 0)
        isOver_ = k >= 5 && begin > end; // visible to all ranks after the barrier
      CLEAVE_TRY(group->barrier());
      if (isOver_)
        return Status::ok();
      const comm::Call &call = calls[k % kPieces];
      begin = wallSeconds();
      if (!call.pairs.empty())
        CLEAVE_TRY(group->run(call));
      if (rank == 0)
        least_ = std::min(least_, wallSeconds() - begin);
      CLEAVE_TRY(group->barrier()); // a send may return before it is received
    }
  }

  static constexpr int kPieces = 4;

  CollectiveKind kind_;
  std::vector<std::unique_ptr<comm::World>> worlds_;
  int64_t floats_;
  double least_ = std::numeric_limits<double>::infinity(); // written by rank 0
  std::atomic<bool> isOver_{false};                        // written by rank 0 before a barrier
};

// The link whose latency and bandwidth give the times of a tiny and a large collective by the
// formulas of compiler/cost/Collective.h. `crowd` ranks share a core, a factor that forRanks()
// applies.
Result<Link> measureLink(CollectiveKind kind, int ranks, double crowd, double seconds) {
  const int64_t tiny = 256, large = std::min(2 << 20, (32 << 20) / ranks); // floats
  CLEAVE_TRY_ASSIGN(double latency,
                    leastSeconds(kind, comm::makeLocalWorlds(ranks), tiny, seconds * 0.3));
  CLEAVE_TRY_ASSIGN(double time,
                    leastSeconds(kind, comm::makeLocalWorlds(ranks), large, seconds * 0.7));
  Link link = linkOf(kind, ranks, latency, large * int64_t(sizeof(float)), time);
  link.latencySeconds /= crowd;
  link.bytesPerSecond *= crowd;
  return link;
}

} // namespace

Result<double> leastSeconds(CollectiveKind kind, std::vector<std::unique_ptr<comm::World>> worlds,
                            int64_t floats, double budget) {
  return Ranks(kind, std::move(worlds), floats).leastSeconds(budget);
}

Result<Level> measureLinks(int64_t cores, double seconds) {
  Level level{.name = "node", .devices = cores, .links = {}};
  const int all = static_cast<int>(std::min<int64_t>(cores, 64));
  std::vector<int> sizes = {2};
  for (int ranks : {all, 2 * all})
    if (ranks > sizes.back())
      sizes.push_back(ranks);
  const std::vector<CollectiveKind> kinds = linkKinds();
  const double each = seconds / static_cast<double>(sizes.size() * kinds.size());
  for (int ranks : sizes)
    for (CollectiveKind kind : kinds) {
      double crowd = std::max(1.0, static_cast<double>(ranks) / static_cast<double>(cores));
      CLEAVE_TRY_ASSIGN(Link link, measureLink(kind, ranks, crowd, each));
      level.links[kind].push_back(link);
    }
  return level;
}

} // namespace cleave::cluster
