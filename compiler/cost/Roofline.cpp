// Seconds of kernels.
#include "compiler/cost/Roofline.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cleave::cost {

static double movingSeconds(const cluster::Cluster &cluster, double bytes) {
  return bytes / (cluster.memoryBytesPerSecond * cluster.memoryEfficiency.at(bytes));
}

// The fewest terms of a piece of a divided sum.
static constexpr double kShortestSum = 128;

// Seconds of a product in tiles of `rows` by `columns`, the sums divided in `pieces`.
static double tiledSeconds(const cluster::Cluster &cluster, double rate, const MatrixSizes &sizes,
                           double rows, double columns, double pieces) {
  const double processors = static_cast<double>(cluster.processors);
  const double tiles =
      sizes.batch * std::ceil(sizes.m / rows) * std::ceil(sizes.n / columns) * pieces;
  const double flops = 2 * rows * columns * std::ceil(sizes.k / pieces);
  const double seconds =
      std::ceil(tiles / processors) * (flops * processors / rate + cluster.tileSeconds);
  const double partial = 4 * sizes.batch * sizes.m * sizes.n * pieces; // bytes
  return pieces > 1 ? seconds + movingSeconds(cluster, 2 * partial) : seconds;
}

static double productSeconds(const cluster::Cluster &cluster, const cluster::Compute &compute,
                             const MatrixSizes &sizes) {
  double least = std::numeric_limits<double>::infinity();
  for (const cluster::Tile &tile : compute.tiles) {
    const double rows = static_cast<double>(tile.rows), columns = static_cast<double>(tile.columns);
    const double rate = compute.peakFlops * tile.share;
    for (double pieces = 1; pieces == 1 || sizes.k / pieces >= kShortestSum; pieces *= 2)
      least = std::min({least, tiledSeconds(cluster, rate, sizes, rows, columns, pieces),
                        tiledSeconds(cluster, rate, sizes, columns, rows, pieces)});
  }
  return least;
}

// Seconds of a grouped product in our kernel. A rank with some of the groups has as large a share
// of the rows.
static double groupedSeconds(const cluster::Cluster &cluster, const cluster::Compute &compute,
                             const GroupedSizes &grouped) {
  constexpr double kSide = 128;
  const double groups = static_cast<double>(grouped.groups),
               rows = static_cast<double>(grouped.rows) * groups /
                      static_cast<double>(grouped.wholeGroups),
               inputs = static_cast<double>(grouped.inputs),
               outputs = static_cast<double>(grouped.outputs);
  const MatrixSizes sizes =
      grouped.isWeightGradient
          ? MatrixSizes{.batch = groups, .m = inputs, .n = outputs, .k = rows / groups}
          : MatrixSizes{.m = rows + std::min(groups, rows) * kSide / 2, .n = outputs, .k = inputs};
  const double rate = compute.peakFlops * kGroupedShare;
  if (cluster.processors == 0)
    return 2 * sizes.batch * sizes.m * sizes.n * sizes.k / rate;
  return tiledSeconds(cluster, rate, sizes, kSide, kSide, /*pieces=*/1);
}

// The share of the device's rate that a direct convolution reaches: each of its threads reads two
// elements per multiply-add, and computes one result.
static double directShare(const cluster::Cluster &cluster, double results) {
  const double busy = results / (kDirectResults * static_cast<double>(cluster.processors));
  return kDirectShare * (cluster.processors > 0 ? std::min(1.0, busy) : 1.0);
}

// Whether our kernels of attention use matrix instructions on this type.
static bool hasMatrixInstructions(const std::string &elementType) {
  return elementType == "bf16" || elementType == "f16";
}

// Relative to heads of more columns, with tiles that are full.
static double rateOf(const LibraryAttention &attention) {
  constexpr double kTile = 128;
  constexpr int64_t kNarrow = 64;
  const AttentionSizes &sizes = attention.sizes;
  auto filled = [](int64_t size) {
    return static_cast<double>(size) / (std::ceil(static_cast<double>(size) / kTile) * kTile);
  };
  const bool isNarrow = std::max(sizes.width, sizes.depth) <= kNarrow;
  const double share = !isNarrow ? 1 : attention.isGradient ? 0.78 : 0.84;
  return share * filled(sizes.queries) * filled(sizes.keys);
}

double peakShare(const cluster::Cluster &cluster, const LibraryAttention &attention) {
  const cluster::Curve &curve =
      attention.isGradient ? cluster.libraryAttention.gradient : cluster.libraryAttention.forward;
  const double measured = attention.isGradient ? 0.27 : 0.37;
  return rateOf(attention) *
         (curve.points.empty() ? measured : curve.at(static_cast<double>(attention.sizes.keys)));
}

// One launch.
static double computingSeconds(const cluster::Cluster &cluster, const KernelWork &work,
                               double flops) {
  if (flops <= 0)
    return 0;
  if (work.directResults > 0)
    flops /= directShare(cluster, work.directResults);
  if (work.isAttention && cluster.attentionFlops > 0) {
    const double measured = countedShare(cluster::kMeasuredTokens, cluster::kMeasuredTokens, true);
    return flops / cluster.attentionFlops * (cluster.isCpu ? measured / work.countedShare : 1);
  }
  if (work.library && !cluster.isCpu)
    return flops /
           (cluster.computeOf(work.elementType).peakFlops * peakShare(cluster, *work.library));
  if (work.grouped.groups > 0 && !cluster.isCpu)
    return groupedSeconds(cluster, cluster.computeOf(work.elementType), work.grouped);
  const bool isOurs = work.isAttention && !cluster.isCpu;
  const bool isProduct = isOurs ? hasMatrixInstructions(work.elementType) : work.isProduct;
  if (!isProduct && cluster.vectorFlops > 0)
    return flops / cluster.vectorFlops;
  const cluster::Compute &compute = cluster.computeOf(isProduct ? work.elementType : "f32");
  if (work.sizes.isKnown() && !compute.tiles.empty() && work.launches <= 1)
    return productSeconds(cluster, compute, work.sizes);
  const double share = isOurs && isProduct ? kAttentionShare : 1;
  return flops / (compute.peakFlops * compute.efficiency.at(flops) * share);
}

double kernelSeconds(const cluster::Cluster &cluster, const KernelWork &work) {
  const double launches = static_cast<double>(std::max<int64_t>(1, work.launches));
  double computing = launches * computingSeconds(cluster, work, work.flops / launches);
  if (work.columns > 0 && cluster.columnsPerSecond > 0)
    computing = std::max(computing, work.columns / cluster.columnsPerSecond);
  const double moving =
      work.bytes > 0 ? launches * movingSeconds(cluster, work.bytes / launches) : 0;
  return std::max(computing, moving) + static_cast<double>(work.launches) * cluster.launchSeconds;
}

double waitingShare(const cluster::Cluster &cluster, double slowest) {
  return std::max(1.0, slowest / cluster.ranksPerCore);
}

double fillSeconds(const cluster::Cluster &cluster, double bytes) {
  return kernelSeconds(cluster, {.bytes = bytes});
}

double copySeconds(const cluster::Cluster &cluster, double bytes) {
  return kernelSeconds(cluster, {.bytes = 2 * bytes});
}

double awaySeconds(const cluster::Cluster &cluster, Space space, double bytes) {
  const cluster::Link &link = cluster.linkTo(space);
  return link.latencySeconds + bytes / link.bytesPerSecond;
}

} // namespace cleave::cost
