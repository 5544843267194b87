// Short benchmarks of one core and of memory.
#include "compiler/cluster/Measure.h"

#include "compiler/cluster/MeasureLinks.h"

#include <oneapi/dnnl/dnnl.h>

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <thread>

namespace cleave::cluster {

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The least time of one call, over as many as fit into `budget` seconds (at least two).
double leastSeconds(double budget, const std::function<void()> &call) {
  double least = 1e30, end = now() + budget;
  for (int k = 0; k < 2 || now() < end; ++k) {
    double begin = now();
    call();
    least = std::min(least, now() - begin);
  }
  return least;
}

// Turns (size, rate) into the best rate and the shares of it.
double toCurve(const std::vector<std::pair<double, double>> &rates, Curve &curve) {
  double best = 0;
  for (auto [size, rate] : rates)
    best = std::max(best, rate);
  for (auto [size, rate] : rates)
    curve.points.push_back({size, rate / best});
  return best;
}

void multiply(int64_t n, const std::vector<float> &a, const std::vector<float> &b,
              std::vector<float> &c) {
  dnnl_sgemm('N', 'N', n, n, n, 1.0f, a.data(), n, b.data(), n, 0.0f, c.data(), n);
}

Compute measureGemm(double seconds, double &launchSeconds) {
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const std::vector<int64_t> sizes = {32, 64, 128, 256, 512, 1024};
  std::vector<float> a(1024 * 1024, 1.0f), b(1024 * 1024, 0.5f), c(1024 * 1024, 0.0f);
  std::vector<std::pair<double, double>> rates;
  for (int64_t n : sizes) {
    multiply(n, a, b, c); // creates the kernel
    double flops = 2.0 * static_cast<double>(n * n * n);
    double share = seconds / static_cast<double>(sizes.size() + 1);
    rates.push_back({flops, flops / leastSeconds(share, [&] { multiply(n, a, b, c); })});
  }
  multiply(1, a, b, c);
  launchSeconds = leastSeconds(seconds / 20, [&] { multiply(1, a, b, c); });
  omp_set_num_threads(threads);
  Compute compute;
  compute.peakFlops = toCurve(rates, compute.efficiency);
  return compute;
}

// a[i] += b[i] reads two arrays and writes one: an elementwise kernel.
double measureMemory(double seconds, Curve &curve) {
  std::vector<float> a(8 << 20, 1.0f), b(8 << 20, 0.5f);
  std::vector<std::pair<double, double>> rates;
  const std::vector<size_t> counts = {1 << 12, 1 << 15, 1 << 18, 1 << 21, 8 << 20};
  for (size_t count : counts) {
    const int repeats = static_cast<int>((size_t(1) << 16) / count) + 1; // above the clock's grain
    double time = leastSeconds(seconds / static_cast<double>(counts.size()), [&] {
      for (int k = 0; k < repeats; ++k) {
        float *__restrict to = a.data();
        const float *__restrict from = b.data();
        for (size_t i = 0; i < count; ++i)
          to[i] += from[i];
        asm volatile("" ::"r"(to) : "memory");
      }
    });
    double bytes = 12.0 * static_cast<double>(count);
    rates.push_back({bytes, bytes * repeats / time});
  }
  return toCurve(rates, curve);
}

// Of the machine, or less if the process's control group has less.
int64_t memoryBytes() {
  int64_t bytes = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  int64_t limit = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit && limit > 0)
    bytes = std::min(bytes, limit);
  return bytes;
}

} // namespace

Cluster measureLocalCpu(double seconds) {
  Cluster cluster;
  cluster.name = "local-cpu";
  cluster.source = "measured by cleave-calibrate";
  cluster.isCpu = true;
  cluster.nodes = 1;
  cluster.devicesPerNode = std::max(1u, std::thread::hardware_concurrency());
  cluster.deviceBytes = memoryBytes() / cluster.devicesPerNode;
  cluster.reservedBytes = cluster.deviceBytes / 10;
  cluster.hostBytes = memoryBytes();
  cluster.compute["f32"] = measureGemm(seconds * 0.5, cluster.launchSeconds);
  cluster.memoryBytesPerSecond = measureMemory(seconds * 0.2, cluster.memoryEfficiency);
  cluster.hostLink = {0, 0.0, cluster.memoryBytesPerSecond / 2};
  cluster.levels.push_back(measureLinks(cluster.devicesPerNode, seconds * 0.3));
  return cluster;
}

} // namespace cleave::cluster
