// A cluster is fitted to the times of a device of known speed: the numbers come back.
#include "compiler/cluster/MeasureDevice.h"
#include "compiler/cluster/Presets.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::cluster;

namespace {

// A device whose times follow formulas.
class KnownDevice final : public DeviceTimes {
public:
  static constexpr double kLaunch = 4e-6, kPeak = 5e14, kMemory = 3e12, kVector = 6e13,
                          kHostLatency = 9e-6, kHost = 5e10, kCall = 2e-5, kLink = 3e11;
  explicit KnownDevice(int ranks) : ranks_(ranks) {}

  Result<double> emptyKernel() override { return kLaunch; }
  Result<double> product(const std::string &type, int64_t size) override {
    if (fails == type)
      return Status::lost("no product");
    double flops = 2.0 * double(size) * double(size) * double(size);
    double share = type == "f32" ? 0.1 : 1, half = size < 1000 ? 0.5 : 1; // small ones are slower
    return kLaunch + flops / (kPeak * share * half);
  }
  Result<double> addition(int64_t bytes) override {
    return kLaunch + double(bytes) / (bytes <= cacheBytes ? 5 * kMemory : kMemory);
  }
  Result<double> arithmetic(double flops) override { return kLaunch + flops / kVector; }
  Result<double> upload(int64_t bytes) override { return kHostLatency + double(bytes) / kHost; }
  Result<double> collective(CollectiveKind kind, int ranks, int64_t bytes) override {
    double sent = double(bytes) * (ranks - 1) / ranks;
    if (kind == CollectiveKind::AllReduce)
      sent *= 2;
    if (kind == CollectiveKind::Send)
      sent = double(bytes);
    return kCall + sent / kLink;
  }
  int ranks() const override { return ranks_; }

  std::string fails;
  int64_t cacheBytes = 0;

private:
  int ranks_;
};

Cluster like() { return *findCluster("h100-node"); }

} // namespace

TEST_CASE("a fitted cluster has the speeds of the measured device") {
  KnownDevice device(1);
  Cluster cluster = *measureDevice(like(), device);
  CHECK(cluster.launchSeconds == KnownDevice::kLaunch);
  CHECK(cluster.compute["bf16"].peakFlops == Approx(KnownDevice::kPeak));
  CHECK(cluster.compute["f32"].peakFlops == Approx(KnownDevice::kPeak / 10));
  CHECK(cluster.compute["bf16"].efficiency.at(2.0 * 512 * 512 * 512) == Approx(0.5));
  CHECK(cluster.compute["bf16"].efficiency.at(1e15) == Approx(1));
  CHECK(cluster.compute["bf16"].tiles.empty());
  CHECK(cluster.vectorFlops == Approx(KnownDevice::kVector));
  CHECK(cluster.memoryBytesPerSecond == Approx(KnownDevice::kMemory));
  CHECK(cluster.hostLink.bytesPerSecond == Approx(KnownDevice::kHost).epsilon(0.01));
  CHECK(cluster.hostLink.latencySeconds == Approx(KnownDevice::kHostLatency).epsilon(0.01));
}

TEST_CASE("what is not measured is that of the given cluster, and the file can be read back") {
  KnownDevice device(1);
  Cluster cluster = *measureDevice(like(), device);
  CHECK(cluster.deviceBytes == like().deviceBytes);
  CHECK(cluster.levels == like().levels); // a single rank has no links
  CHECK(cluster.compute["tf32"].peakFlops == Approx(KnownDevice::kPeak));
  CHECK(cluster.compute["f64"] == like().compute["f64"]);
  CHECK(cluster.name == "h100-node-measured");
  CHECK(cluster.isCalibrated());
  CHECK(!like().isCalibrated());
  CHECK(*fromJson(toJson(cluster)) == cluster);
}

TEST_CASE("links are measured for groups of rising size, up to all GPUs") {
  KnownDevice device(6);
  Cluster cluster = *measureDevice(like(), device);
  for (CollectiveKind kind : linkKinds()) {
    const std::vector<Link> &links = cluster.levels[0].links[kind];
    REQUIRE(links.size() == 3);
    for (size_t i = 0; i < 3; ++i) {
      CHECK(links[i].ranks == std::vector<int64_t>{2, 4, 6}[i]);
      CHECK(links[i].latencySeconds == Approx(KnownDevice::kCall).epsilon(0.01));
      CHECK(links[i].bytesPerSecond == Approx(KnownDevice::kLink).epsilon(0.01));
    }
  }
  CHECK(cluster.levels[1] == like().levels[1]);
}

TEST_CASE("what fits into a cache is no faster than memory") {
  KnownDevice device(1);
  device.cacheBytes = 60 << 20;
  Cluster cluster = *measureDevice(like(), device);
  CHECK(cluster.memoryBytesPerSecond == Approx(KnownDevice::kMemory));
  CHECK(cluster.memoryEfficiency.at(48 << 20) == Approx(1));
}

TEST_CASE("rates that cannot be right are no cluster") {
  KnownDevice device(1);
  Cluster slow = like();
  slow.compute["bf16"].peakFlops = KnownDevice::kPeak / 20;
  Result<Cluster> found = measureDevice(slow, device);
  REQUIRE(!found);
  CHECK_THAT(
      found.status().message(),
      Catch::Matchers::Contains("products in bf16: measured 500 TFLOP/s, which is 20 times"));
}

TEST_CASE("a device that fails has no cluster") {
  KnownDevice device(1);
  device.fails = "bf16";
  CHECK(measureDevice(like(), device).status().message() == "no product");
}
