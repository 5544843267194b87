// Roofline: the seconds of a kernel on one device (S. Williams et al., CACM 52(4), 2009, with
// efficiencies that depend on the kernel's size).
//
// A matrix product is computed in tiles: each processor computes one tile of the result at a time,
// and all of them together one wave (NVIDIA, Matrix Multiplication Background User's Guide, on tile
// and wave quantization). A result that the tiles do not fill, or a last wave that does not fill
// the processors, takes as long as a full one. For tiles of r rows and c columns, with P
// processors, and the sums of each tile divided among s of them:
//
//   waves   = ceil(batch * ceil(m / r) * ceil(n / c) * s / P)
//   seconds = waves * (2 r c ceil(k / s) * P / (peak * share(r, c)) + tile seconds)
//
// plus, if s > 1, the seconds to write s partial results in f32 and to read them again. The library
// is expected to choose the fastest of the cluster's tiles and of s = 1, 2, 4, … such that the
// pieces of a sum have at least 128 terms.
#pragma once

#include "compiler/cluster/Cluster.h"
#include "runtime/base/KernelWork.h"

namespace cleave::cost {

// The speed of our kernels of attention, relative to a library's `efficiency`: forward and gradient
// of GPT (1024 keys, 64 and 128 columns) on an H200.
inline constexpr double kAttentionShare = 0.25;

// The speed of our kernels of grouped products, relative to the peak, if their tiles fill all
// processors: an estimate until it is measured.
inline constexpr double kGroupedShare = 0.3;

// The share of the 16-bit peak that attention by cuDNN reaches: Cluster::libraryAttention at its
// keys, of clusters without these curves 0.37, and of gradients 0.27. Heads of at most 64 columns
// reach 0.84 of that, and their gradients 0.78. All as measured on an H200 with cuDNN 9.19, in GPT
// with 1024 keys. Its tiles have 128 queries and keys; a partly filled tile takes as long as a full
// one (ViT, 197 keys).
double peakShare(const cluster::Cluster &cluster, const LibraryAttention &attention);

// The share of the rate that a direct convolution reaches, and the results per processor from which
// on it does: estimates until they are measured.
inline constexpr double kDirectShare = 1.0 / 16, kDirectResults = 1024;

// Seconds of the work: max(computing, bytes / (bandwidth * efficiency)) + launches * launch
// overhead. Computing: of a product whose sizes are known on a cluster with tiles, by the formula
// above; else FLOPs / (peak * efficiency). Kernels other than products compute at
// Cluster::vectorFlops if that is not 0, else in f32; lowered convolutions take at least
// columns / Cluster::columnsPerSecond, and direct ones compute at kDirectShare of the rate, less
// where they have fewer than kDirectResults results per processor. Attention computes at
// Cluster::attentionFlops; on CPUs, this rate is scaled by the counted share of the scores,
// relative to the measured attention. If attentionFlops is 0, the rate depends on the kernel:
// peakShare() of the peak in a GPU library; kAttentionShare of peak * efficiency in a generated GPU
// kernel on 16-bit floats, and the rate of kernels other than products on other types; the rate of
// a product on CPUs. Grouped products compute on GPUs in tiles of 128 x 128 at kGroupedShare of the
// peak; the last tile of the rows of a group is half full.
double kernelSeconds(const cluster::Cluster &cluster, const KernelWork &work);

// Seconds to set `bytes` of one device's memory, by one kernel.
double fillSeconds(const cluster::Cluster &cluster, double bytes);

// The time that a step waits for a kernel whose work differs between ranks, relative to a rank with
// the mean of the work. `slowest`: the largest work relative to the mean. Ranks that share cores of
// a CPU wait for the slowest one only as far as it is busy when the cores have done all work.
double waitingShare(const cluster::Cluster &cluster, double slowest);

// Seconds to copy `bytes` within one device's memory, by one kernel.
double copySeconds(const cluster::Cluster &cluster, double bytes);

// Seconds of copying `bytes` between device memory and another space: the latency and the bytes of
// its link.
double awaySeconds(const cluster::Cluster &cluster, Space space, double bytes);

} // namespace cleave::cost
