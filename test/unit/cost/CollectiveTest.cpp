// Seconds of collectives: the latency-bandwidth formulas, and groups in the topology.
#include "compiler/cost/Collective.h"
#include "compiler/cluster/Presets.h"
#include "compiler/cost/Reshard.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::cost;

// One level with latency α and 1/β bytes/s.
static cluster::Cluster flat(double alpha, double beta) {
  cluster::Cluster cluster;
  cluster.compute["f32"] = {1e30, {}};
  cluster.memoryBytesPerSecond = 1e30;
  cluster.levels.push_back(
      {"all",
       0,
       {{CollectiveKind::Send, {{.latencySeconds = alpha, .bytesPerSecond = 1 / beta}}}}});
  return cluster;
}

TEST_CASE("collectives follow the formulas for bandwidth-optimal algorithms") {
  CollectiveCost cost(flat(1, 0.5), {{{"x", 4}, {"y", 2}}});
  CHECK(cost.seconds(CollectiveKind::AllReduce, {0}, 800) == Approx(1 + 0.5 * 2 * 0.75 * 800));
  CHECK(cost.seconds(CollectiveKind::AllGather, {0}, 800) == Approx(1 + 0.5 * 0.75 * 800));
  CHECK(cost.seconds(CollectiveKind::ReduceScatter, {0}, 800) == Approx(1 + 0.5 * 0.75 * 800));
  CHECK(cost.seconds(CollectiveKind::AllToAll, {0, 1}, 800) == Approx(1 + 0.5 * 0.875 * 800));
  CHECK(cost.seconds(CollectiveKind::Send, {1}, 800) == Approx(1 + 0.5 * 800));
}

TEST_CASE("one rank alone communicates nothing") {
  CollectiveCost cost(flat(1, 1), {{{"x", 1}, {"y", 2}}});
  CHECK(cost.seconds(CollectiveKind::AllReduce, {0}, 800) == 0);
  CHECK(cost.seconds(CollectiveKind::AllReduce, {}, 800) == 0);
  CHECK(cost.seconds(CollectiveKind::AllReduce, {1}, 0) == 0);
}

// The published optima of a two-layer perceptron on 4 devices with α = β = 1 (Alpa's solver tests,
// without their tie-breaking constants): data parallel reduces two weight gradients, tensor
// parallel one activation.
TEST_CASE("the communication of a two-layer perceptron is that of the published optima") {
  CollectiveCost cost(flat(1, 1), {{{"x", 4}}});
  const double hidden = 128, batch = 1024;
  double weight = cost.seconds(CollectiveKind::AllReduce, {0}, hidden * hidden * 4);
  CHECK(2 * weight == Approx(196610.02 - 0.02));
  double activation = cost.seconds(CollectiveKind::AllReduce, {0}, 128 * 1024 * 4);
  CHECK(activation == Approx(786433.01 - 0.01));
  CHECK(batch > hidden);
}

// Volume of one pair of matmuls on P devices: 1D tensor parallel 2(P-1)/P of the activation.
TEST_CASE("sequence parallelism moves as many bytes as tensor parallelism") {
  Mesh mesh{{{"tp", 8}}};
  CollectiveCost cost(flat(0, 1), mesh);
  const double bytes = 1 << 20;
  double reduce = cost.sentBytes(CollectiveKind::AllReduce, {0}, bytes);
  double split = cost.sentBytes(CollectiveKind::ReduceScatter, {0}, bytes) +
                 cost.sentBytes(CollectiveKind::AllGather, {0}, bytes);
  CHECK(reduce == Approx(2.0 * 7 / 8 * bytes));
  CHECK(split == Approx(reduce));
}

// Two nodes of four devices: 100 bytes/s inside, 10 bytes/s per device outside.
static cluster::Cluster twoLevels() {
  cluster::Cluster cluster = flat(0, 0.01);
  cluster.levels[0].devices = 4;
  cluster.levels.push_back({"network", 0, {{CollectiveKind::Send, {{.bytesPerSecond = 10}}}}});
  return cluster;
}

TEST_CASE("a group costs what the outermost level that it crosses costs") {
  CollectiveCost cost(twoLevels(), {{{"node", 2}, {"inside", 4}}});
  CHECK(cost.seconds(CollectiveKind::AllGather, {1}, 400) == Approx(0.75 * 400 / 100));
  CHECK(cost.seconds(CollectiveKind::AllGather, {0}, 400) == Approx(0.5 * 400 / 10));
  // All eight: inside the nodes, and between them over the four connections of a node at a time.
  CHECK(cost.seconds(CollectiveKind::AllGather, {0, 1}, 400) ==
        Approx(0.75 * 400 / 100 + 0.5 * 100 / 10));
  // An all-to-all uses each rank's own connections, pair by pair.
  CHECK(cost.seconds(CollectiveKind::AllToAll, {0, 1}, 400) ==
        Approx(3.0 / 8 * 400 / 100 + 4.0 / 8 * 400 / 10));
}

// The same with 40 bytes/s inside, and latencies: 1 s per call, 0.1 s per hop inside, 1 s outside.
static cluster::Cluster withHops() {
  cluster::Cluster cluster = twoLevels();
  cluster.levels[0].links[CollectiveKind::Send][0].bytesPerSecond = 40;
  for (size_t level : {0, 1}) {
    cluster::Link &link = cluster.levels[level].links[CollectiveKind::Send][0];
    link.latencySeconds = 1;
    link.hopSeconds = level ? 1 : 0.1;
  }
  return cluster;
}

TEST_CASE("a ring pays for each of its hops") {
  CollectiveCost cost(withHops(), {{{"node", 2}, {"inside", 4}}});
  const double large = 1e6;
  CHECK(cost.seconds(CollectiveKind::AllGather, {1}, large) ==
        Approx(1 + 3 * 0.1 + 0.75 * large / 40));
  CHECK(cost.seconds(CollectiveKind::AllReduce, {1}, large) ==
        Approx(1 + 6 * 0.1 + 1.5 * large / 40));
  // Of seven hops of each lap, two are between the nodes, whose connections share the traffic.
  CHECK(cost.seconds(CollectiveKind::AllReduce, {0, 1}, large) ==
        Approx(1 + 2 * (2 * 1 + 5 * 0.1) + 1.75 * large / 40));
  CHECK(cost.seconds(CollectiveKind::Send, {0}, large) == Approx(1 + 1 + large / 10));
}

TEST_CASE("a small all_reduce goes along a tree, at half the bandwidth") {
  CollectiveCost cost(withHops(), {{{"node", 2}, {"inside", 4}}});
  CHECK(cost.seconds(CollectiveKind::AllReduce, {1}, 1) == Approx(1 + 2 * 2 * 0.1 + 4 * 1.0 / 40));
  CHECK(cost.seconds(CollectiveKind::AllReduce, {0, 1}, 1) ==
        Approx(1 + 2 * (1 * 1 + 2 * 0.1) + 4 * 1.0 / 40));
}

TEST_CASE("a collective over many nodes goes level by level where hops cost more than bytes") {
  cluster::Cluster cluster = withHops();
  cluster.levels[0].links[CollectiveKind::Send][0].hopSeconds = 1;
  cluster.levels[1].links[CollectiveKind::Send][0].hopSeconds = 0;
  CollectiveCost cost(cluster, {{{"node", 4}, {"inside", 4}}});
  // A ring over all has 11 hops of 1 s, two levels have 3.
  CHECK(cost.seconds(CollectiveKind::AllGather, {0, 1}, 8) ==
        Approx((1 + 3 + 0.75 * 8 / 40) + (1 + 0.75 * 2 / 10)));
}

TEST_CASE(
    "a large all_reduce over many nodes goes along pipelined trees, if the cluster has them") {
  cluster::Cluster cluster = withHops();
  cluster.levels[1].links[CollectiveKind::Send][0].doublingSeconds = 0.5;
  CollectiveCost cost(cluster, {{{"node", 16}, {"inside", 4}}});
  // Sixteen nodes are four doublings of one.
  CHECK(cost.seconds(CollectiveKind::AllReduce, {0, 1}, 1e6) ==
        Approx(1 + 4 * 0.5 + 2 * 63.0 / 64 * 1e6 / 40));
  // One rank of each node: the trees span the nodes alike, over one connection of each.
  CHECK(cost.seconds(CollectiveKind::AllReduce, {0}, 1e6) ==
        Approx(1 + 4 * 0.5 + 2 * 15.0 / 16 * 1e6 / 10));
  CHECK(cost.seconds(CollectiveKind::AllGather, {0}, 1e6) ==
        Approx(1 + 15 * 1 + 15.0 / 16 * 1e6 / 10));
}

TEST_CASE("of several protocols the fastest is taken") {
  cluster::Cluster cluster = withHops();
  cluster.levels[0].links[CollectiveKind::AllGather] = {
      {.latencySeconds = 1, .bytesPerSecond = 10}, {.latencySeconds = 5, .bytesPerSecond = 40}};
  CollectiveCost cost(cluster, {{{"inside", 4}}});
  CHECK(cost.seconds(CollectiveKind::AllGather, {0}, 8) == Approx(1 + 0.75 * 8 / 10));
  CHECK(cost.seconds(CollectiveKind::AllGather, {0}, 800) == Approx(5 + 0.75 * 800 / 40));
}

// Measured busbw of nccl-tests (compiler/cluster/presets/README.md) beside the presets.
namespace {
struct Measured {
  const char *preset;
  int64_t ranks;
  double mebibytes, gigabytesPerSecond;
};
} // namespace

TEST_CASE("the presets' all_reduces are within 30 % of measured ones") {
  const Measured all[] = {{"a100-80-node", 8, 1, 36},     {"a100-80-node", 8, 16, 109},
                          {"a100-80-node", 8, 64, 167},   {"a100-80-node", 8, 1024, 228},
                          {"h100-node", 8, 1, 44},        {"h100-node", 8, 4, 129},
                          {"h100-node", 8, 16, 234},      {"h100-node", 8, 64, 362},
                          {"h100-node", 8, 1024, 466},    {"h100-node", 4, 8192, 363},
                          {"b200-node", 8, 16, 255},      {"b200-node", 8, 256, 646},
                          {"b200-node", 8, 8192, 839},    {"gb200-nvl72", 4, 1, 80},
                          {"gb200-nvl72", 4, 16, 331},    {"gb200-nvl72", 4, 1024, 647},
                          {"gb200-nvl72", 64, 1024, 681}, {"mi300x-node", 8, 4, 142},
                          {"mi300x-node", 8, 64, 274},    {"mi300x-node", 8, 1024, 315},
                          {"h100-node", 32, 16, 114},     {"h100-node", 32, 256, 272},
                          {"h100-node", 128, 16, 73},     {"h100-node", 128, 1024, 325},
                          {"h100-node", 1024, 16, 46},    {"h100-node", 1024, 64, 123},
                          {"h100-node", 1024, 256, 235},  {"h100-node", 1024, 1024, 303},
                          {"h100-node", 4096, 16, 41},    {"h100-node", 4096, 1024, 286}};
  for (const Measured &run : all) {
    const double ranks = static_cast<double>(run.ranks), bytes = run.mebibytes * 1048576;
    const CollectiveCost cost(*cluster::findCluster(run.preset), {{{"x", run.ranks}}});
    const double seconds = cost.seconds(CollectiveKind::AllReduce, {0}, bytes);
    const double busbw = 2 * (ranks - 1) / ranks * bytes / seconds / 1e9;
    INFO(run.preset << ", " << run.ranks << " ranks, " << run.mebibytes << " MiB: " << busbw
                    << " GB/s, measured " << run.gigabytesPerSecond);
    CHECK(busbw == Approx(run.gigabytesPerSecond).epsilon(0.3));
  }
}

TEST_CASE("joined calls take no longer than the calls one by one") {
  CollectiveCost cost(withHops(), {{{"node", 4}, {"inside", 4}}});
  for (double bytes : {1.0, 100.0, 1e3, 1e4, 1e5})
    for (CollectiveKind kind : {CollectiveKind::AllReduce, CollectiveKind::AllGather,
                                CollectiveKind::ReduceScatter, CollectiveKind::AllToAll})
      CHECK(cost.seconds(kind, {0, 1}, 3 * bytes) <=
            cost.seconds(kind, {0, 1}, bytes) + cost.seconds(kind, {0, 1}, 2 * bytes));
}

TEST_CASE("axes that straddle nodes are priced by their worst group") {
  CollectiveCost cost(twoLevels(), {{{"x", 2}, {"y", 3}}}); // ranks 0 1 2 | 3 4 5, nodes of 4
  CHECK(cost.seconds(CollectiveKind::AllGather, {1}, 300) == Approx(2.0 / 3 * 300 / 10));
}
