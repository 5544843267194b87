// See MeasureDevice.h.
#include "compiler/cluster/MeasureDevice.h"

#include "runtime/base/Units.h"

#include <algorithm>
#include <cmath>

namespace cleave::cluster {

namespace {

// The time of a kernel's work without its launch, which the cost model adds. Times of tiny kernels
// differ from that of an empty one by less than the clock's noise.
double withoutLaunch(double seconds, const Cluster &cluster) {
  return std::max(seconds - cluster.launchSeconds, 0.1 * seconds);
}

Status measureProducts(Cluster &cluster, DeviceTimes &times) {
  for (const char *type : {"f32", "tf32", "f16", "bf16"}) {
    std::vector<std::pair<double, double>> rates;
    for (int64_t size = 256; size <= 8192; size *= 2) {
      CLEAVE_TRY_ASSIGN(double seconds, times.product(type, size));
      double flops = 2.0 * static_cast<double>(size) * static_cast<double>(size * size);
      rates.push_back({flops, flops / withoutLaunch(seconds, cluster)});
    }
    Compute compute; // without tiles: these follow the measured efficiency
    compute.peakFlops = bestRate(rates, compute.efficiency);
    cluster.compute[type] = compute;
  }
  return Status::ok();
}

Status measureMemory(Cluster &cluster, DeviceTimes &times) {
  std::vector<std::pair<double, double>> rates;
  for (int64_t bytes = 3 << 14; bytes <= int64_t(3) << 28; bytes *= 4) {
    CLEAVE_TRY_ASSIGN(double seconds, times.addition(bytes));
    rates.push_back({bytes, static_cast<double>(bytes) / withoutLaunch(seconds, cluster)});
  }
  // Arrays that fit into a cache, where a training step seldom finds them, count as memory.
  for (auto &[bytes, rate] : rates)
    rate = std::min(rate, rates.back().second);
  cluster.memoryEfficiency = {};
  cluster.memoryBytesPerSecond = bestRate(rates, cluster.memoryEfficiency);
  return Status::ok();
}

Status measureHostLink(Cluster &cluster, DeviceTimes &times) {
  constexpr int64_t kLarge = 256 << 20;
  CLEAVE_TRY_ASSIGN(double tiny, times.upload(64));
  CLEAVE_TRY_ASSIGN(double large, times.upload(kLarge));
  cluster.hostLink.latencySeconds = tiny;
  cluster.hostLink.bytesPerSecond = kLarge / std::max(large - tiny, 0.1 * large);
  return Status::ok();
}

Status measureLevel(Level &level, DeviceTimes &times) {
  constexpr int64_t kTiny = 4096, kLarge = 128 << 20;
  if (times.ranks() < 2)
    return Status::ok();
  level.links.clear();
  std::vector<int> sizes;
  for (int ranks = 2; ranks < times.ranks(); ranks *= 2)
    sizes.push_back(ranks);
  sizes.push_back(times.ranks());
  for (CollectiveKind kind : linkKinds())
    for (int ranks : sizes) {
      CLEAVE_TRY_ASSIGN(double tiny, times.collective(kind, ranks, kTiny));
      CLEAVE_TRY_ASSIGN(double large, times.collective(kind, ranks, kLarge));
      level.links[kind].push_back(linkOf(kind, ranks, tiny, kLarge, large));
    }
  return Status::ok();
}

} // namespace

comm::Call measuredCall(CollectiveKind kind, int rank, int ranks, int64_t floats, void *send,
                        void *recv) {
  const int64_t chunks = std::max(chunksSent(kind, ranks), chunksReceived(kind, ranks));
  comm::Call call{.kind = kind, .pairs = {{send, recv, floats / chunks, DType::F32}}};
  if (kind != CollectiveKind::Send)
    return call;
  call.kind = rank == 0 ? CollectiveKind::Send : CollectiveKind::Recv;
  call.peer = 1 - rank;
  call.pairs[0] = {rank == 0 ? send : nullptr, rank == 0 ? nullptr : recv, floats, DType::F32};
  if (rank > 1)
    call.pairs.clear();
  return call;
}

double bestRate(const std::vector<std::pair<double, double>> &rates, Curve &curve) {
  double best = 0;
  for (auto [size, rate] : rates)
    best = std::max(best, rate);
  for (auto [size, rate] : rates)
    curve.points.push_back({size, rate / best});
  return best;
}

Link linkOf(CollectiveKind kind, int ranks, double tinySeconds, int64_t bytes, double seconds) {
  return {.ranks = ranks,
          .latencySeconds = tinySeconds,
          .bytesPerSecond = shareSent(kind, ranks) * static_cast<double>(bytes) /
                            std::max(seconds - tinySeconds, 0.1 * seconds)};
}

namespace {

// A rate far above that of a known device is a fault of the measurement.
Status checkRate(const std::string &what, double found, double known, const char *unit) {
  constexpr double kFaster = 10;
  if (found <= kFaster * known)
    return Status::ok();
  return Status::defect(what, ": measured ", countText(found, unit), ", which is ",
                        std::llround(found / known),
                        " times the rate of the cluster that --like names; this cannot be right");
}

Status checkRates(const Cluster &found, const Cluster &like) {
  for (const auto &[type, compute] : like.compute)
    if (auto at = found.compute.find(type); at != found.compute.end())
      CLEAVE_TRY(checkRate(concat("products in ", type), at->second.peakFlops, compute.peakFlops,
                           "FLOP/s"));
  CLEAVE_TRY(checkRate("memory", found.memoryBytesPerSecond, like.memoryBytesPerSecond, "B/s"));
  CLEAVE_TRY(checkRate("vector operations", found.vectorFlops, like.vectorFlops, "FLOP/s"));
  return checkRate("link of the host", found.hostLink.bytesPerSecond, like.hostLink.bytesPerSecond,
                   "B/s");
}

} // namespace

Result<Cluster> measureDevice(const Cluster &like, DeviceTimes &times) {
  constexpr double kArithmetic = 1e11; // FLOPs
  Cluster cluster = like;
  cluster.name = like.name + "-measured";
  cluster.source =
      concat(kCalibrated, "; sizes of memories and what else is not measured: ", like.name);
  CLEAVE_TRY_ASSIGN(cluster.launchSeconds, times.emptyKernel());
  CLEAVE_TRY(measureProducts(cluster, times));
  CLEAVE_TRY_ASSIGN(double vector, times.arithmetic(kArithmetic));
  cluster.vectorFlops = kArithmetic / withoutLaunch(vector, cluster);
  CLEAVE_TRY(measureMemory(cluster, times));
  CLEAVE_TRY(measureHostLink(cluster, times));
  CLEAVE_TRY(measureLevel(cluster.levels[0], times));
  CLEAVE_TRY(checkRates(cluster, like));
  return cluster;
}

} // namespace cleave::cluster
