// Short benchmarks of one core and of memory.
#include "compiler/cluster/Measure.h"

#include "compiler/cluster/MeasureAttention.h"
#include "compiler/cluster/MeasureConvolution.h"
#include "compiler/cluster/MeasureDevice.h"
#include "compiler/cluster/MeasureLinks.h"

#include <oneapi/dnnl/dnnl.h>

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <functional>
#include <thread>

namespace cleave::cluster {

namespace {

// Seconds of CPU time of this thread, which exclude other processes.
double cpuSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

} // namespace

double leastSeconds(double budget, const std::function<void()> &call) {
  double least = 1e30, end = cpuSeconds() + budget;
  for (int k = 0; k < 2 || cpuSeconds() < end; ++k) {
    double begin = cpuSeconds();
    call();
    if (double spent = cpuSeconds() - begin; spent > 0)
      least = std::min(least, spent);
  }
  return least;
}

namespace {

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
  compute.peakFlops = bestRate(rates, compute.efficiency);
  return compute;
}

// Generated kernels use all instructions of this machine, and so must these loops: they are
// compiled for several CPUs, the best of which is chosen at run time.
#define CLEAVE_BEST_CPU                                                                            \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"), optimize("O3")))

// Reads two arrays and writes one.
CLEAVE_BEST_CPU void addTo(float *__restrict to, const float *__restrict from, size_t count) {
  for (size_t i = 0; i < count; ++i)
    to[i] += from[i];
}

// Bytes per second of an elementwise kernel; `curve` gets the shares by size. Each call works on
// the next piece of 32 MiB, since most data of a training step was last used several kernels ago.
double measureMemory(double seconds, Curve &curve) {
  constexpr size_t kWindow = 4 << 20; // floats of one array
  std::vector<float> a(2 * kWindow, 1.0f), b(2 * kWindow, 0.5f);
  std::vector<std::pair<double, double>> rates;
  const std::vector<size_t> counts = {1 << 12, 1 << 15, 1 << 18, 1 << 21, 2 * kWindow};
  for (size_t count : counts) {
    const int repeats =
        static_cast<int>((size_t(1) << 16) / count) + 1; // above the clock's resolution
    size_t next = 0;
    double time = leastSeconds(seconds / static_cast<double>(counts.size()), [&] {
      for (int k = 0; k < repeats; ++k, next += count) {
        if (next + count > kWindow)
          next = 0;
        addTo(a.data() + next, b.data() + next, count);
      }
    });
    double bytes = 12.0 * static_cast<double>(count);
    rates.push_back({bytes, bytes * repeats / time});
  }
  return bestRate(rates, curve);
}

// Sixteen multiplications and additions per element, as in the polynomials of exp and similar
// functions.
CLEAVE_BEST_CPU void evaluatePolynomials(float *values, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    float x = values[i], y = 0.5f;
    for (int k = 0; k < 16; ++k)
      y = y * x + 0.25f;
    values[i] = y * 0.5f;
  }
}

// FLOP/s of elementwise kernels whose data is in the cache.
double measureVector(double seconds) {
  std::vector<float> values(4096, 0.5f);
  constexpr int kRepeats = 16;
  double time = leastSeconds(seconds, [&] {
    for (int k = 0; k < kRepeats; ++k)
      evaluatePolynomials(values.data(), values.size());
  });
  return 33.0 * static_cast<double>(values.size()) * kRepeats / time;
}

// Memory of the machine in bytes, or the limit of the process's control group if that is lower.
int64_t memoryBytes() {
  int64_t bytes = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  int64_t limit = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit && limit > 0)
    bytes = std::min(bytes, limit);
  return bytes;
}

} // namespace

Result<Cluster> measureLocalCpu(double seconds) {
  Cluster cluster;
  cluster.name = "local-cpu";
  cluster.source = kCalibrated;
  cluster.isCpu = true;
  cluster.nodes = 1;
  cluster.devicesPerNode = std::max(1u, std::thread::hardware_concurrency());
  cluster.deviceBytes = memoryBytes() / cluster.devicesPerNode;
  cluster.reservedBytes = cluster.deviceBytes / 10;
  cluster.hostBytes = memoryBytes();
  cluster.compute["f32"] = measureGemm(seconds * 0.5, cluster.launchSeconds);
  cluster.vectorFlops = measureVector(seconds * 0.05);
  CLEAVE_TRY_ASSIGN(cluster.attentionFlops, measureAttention(seconds * 0.05));
  cluster.columnsPerSecond = measureColumns(seconds * 0.05);
  cluster.memoryBytesPerSecond = measureMemory(seconds * 0.15, cluster.memoryEfficiency);
  cluster.hostLink = {.bytesPerSecond = cluster.memoryBytesPerSecond / 2};
  CLEAVE_TRY_ASSIGN(Level node, measureLinks(cluster.devicesPerNode, seconds * 0.3));
  cluster.levels.push_back(std::move(node));
  return cluster;
}

} // namespace cleave::cluster
