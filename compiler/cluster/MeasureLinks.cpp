// Collectives among threads, by plain loops over shared buffers.
#include "compiler/cluster/MeasureLinks.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

namespace cleave::cluster {

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Threads that do one collective together, again and again.
class Ranks {
public:
  Ranks(int ranks, size_t floats) : ranks_(ranks), floats_(floats), meet_(ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      send_.emplace_back(floats, 1.0f);
      receive_.emplace_back(floats, 0.0f);
    }
  }

  // The least time of one collective on `floats` elements, over as many as fit into `budget` seconds.
  double leastSeconds(CollectiveKind kind, double budget) {
    double least = 1e30;
    isOver_ = false;
    std::vector<std::thread> others;
    for (int rank = 1; rank < ranks_; ++rank)
      others.emplace_back([this, kind, rank] {
        while (take(kind, rank)) {
        }
      });
    const double end = now() + budget;
    for (int k = 0; !isOver_; ++k) {
      double begin = now();
      isOver_ = k >= 3 && begin > end; // seen by all after they have met
      if (take(kind, 0))
        least = std::min(least, now() - begin);
    }
    for (std::thread &other : others)
      other.join();
    return least;
  }

private:
  // One rank's part; false if it is over.
  bool take(CollectiveKind kind, int rank) {
    meet_.arrive_and_wait();
    if (isOver_)
      return false;
    const size_t piece = floats_ / ranks_;
    switch (kind) {
    case CollectiveKind::AllReduce:
      reduce(rank, piece);
      meet_.arrive_and_wait();
      for (int k = 1; k < ranks_; ++k) {
        int from = (rank + k) % ranks_;
        copy(rank, receive_[from], from * piece, piece);
      }
      break;
    case CollectiveKind::ReduceScatter:
      reduce(rank, piece);
      break;
    case CollectiveKind::AllGather:
    case CollectiveKind::AllToAll:
      for (int k = 0; k < ranks_; ++k) {
        int from = (rank + k) % ranks_;
        copy(rank, send_[from], from * piece, piece);
      }
      break;
    case CollectiveKind::SendRecv:
      copy(rank, send_[(rank + 1) % ranks_], 0, floats_);
      break;
    }
    meet_.arrive_and_wait();
    return true;
  }

  // Adds up all ranks' operands in the rank's own piece.
  void reduce(int rank, size_t piece) {
    float *to = receive_[rank].data() + rank * piece;
    std::memcpy(to, send_[0].data() + rank * piece, piece * sizeof(float));
    for (int from = 1; from < ranks_; ++from) {
      const float *operand = send_[from].data() + rank * piece;
      for (size_t i = 0; i < piece; ++i)
        to[i] += operand[i];
    }
  }

  void copy(int rank, const std::vector<float> &from, size_t offset, size_t count) {
    std::memcpy(receive_[rank].data() + offset, from.data() + offset, count * sizeof(float));
  }

  int ranks_;
  size_t floats_;
  std::barrier<> meet_;
  bool isOver_ = false; // written by rank 0 before a meeting
  std::vector<std::vector<float>> send_, receive_;
};

// The link that explains the times of a tiny and a large collective by the formulas of
// compiler/cost/Collective.h.
Link measureLink(CollectiveKind kind, int ranks, double seconds) {
  constexpr size_t tiny = 256, large = 2 << 20; // floats
  double latency = Ranks(ranks, tiny).leastSeconds(kind, seconds * 0.3);
  double time = Ranks(ranks, large).leastSeconds(kind, seconds * 0.7);
  double share = static_cast<double>(ranks - 1) / ranks;
  double factor = kind == CollectiveKind::AllReduce  ? 2 * share
                  : kind == CollectiveKind::SendRecv ? 1
                                                     : share;
  double bytes = factor * static_cast<double>(large * sizeof(float));
  return {ranks, latency, bytes / std::max(time - latency, 0.1 * time)};
}

} // namespace

Level measureLinks(int64_t cores, double seconds) {
  Level level{"node", cores, {}};
  std::vector<int> sizes = {2};
  if (cores > 2)
    sizes.push_back(static_cast<int>(std::min<int64_t>(cores, 64)));
  const double each = seconds / static_cast<double>(sizes.size() * collectiveKinds);
  for (int ranks : sizes)
    for (int k = 0; k < collectiveKinds; ++k) {
      auto kind = static_cast<CollectiveKind>(k);
      level.links[kind].push_back(measureLink(kind, ranks, each));
    }
  return level;
}

} // namespace cleave::cluster
