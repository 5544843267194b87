// Causal attention is priced by its slowest rank, or in zigzag by the mean and its exchanges.
#include "compiler/planner/network/Computing.h"
#include "test/unit/planner/Facts.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

const Mesh kMeshOf4 = *Mesh::parse("a=4");

StepModel attentionModel() {
  return modelOf(R"(
func.func @step(%q: tensor<1x4x64x8xf32>, %k: tensor<1x2x64x8xf32>) -> tensor<1x4x64x8xf32> {
  %y, %l = graph.attention %q, %k, %k {causal, scale = 1.0 : f64}
    : (tensor<1x4x64x8xf32>, tensor<1x2x64x8xf32>, tensor<1x2x64x8xf32>) -> (tensor<1x4x64x8xf32>, tensor<1x4x64xf32>)
  return %y : tensor<1x4x64x8xf32>
})");
}

// plainCluster() with this speed of attention.
cluster::Cluster clusterWith(double flops, double latency, double bandwidth) {
  cluster::Cluster cluster = plainCluster(flops, latency, bandwidth);
  cluster.attentionFlops = flops;
  return cluster;
}

// The choice whose queries are split over the only axis.
OpChoice splitQueries(const Op &op) {
  OpChoice choice{.factors = FactorAxes(op.rule.factors.size())};
  choice.factors[op.triangle->first] = {0};
  setLayouts(op, choice);
  return choice;
}

} // namespace

TEST_CASE("in order, the last of four ranks computes 7/4 of the mean") {
  const StepModel model = attentionModel();
  const Op &op = model.ops[0];
  const cluster::Cluster machine = clusterWith(1e9, 0, kFast);
  const Costs costs(model, machine, kMeshOf4);
  const double mean = op.work.flops / 4 / 1e9;
  CHECK(inOrder(costs, op, splitQueries(op)) == Approx(mean * 7 / 4));
  CHECK(*inZigzag(costs, op, splitQueries(op)) == Approx(mean));
  CHECK(computingSeconds(costs, op, splitQueries(op)) == Approx(mean));
  CHECK(isFasterInZigzag(costs, op, splitQueries(op)));
}

TEST_CASE("zigzag pays for the halves of the query, the result and its log-sum-exp") {
  const StepModel model = attentionModel();
  const Op &op = model.ops[0];
  const double latency = 1e-3, bandwidth = 1e6;
  const cluster::Cluster machine = clusterWith(1e12, latency, bandwidth);
  const Costs costs(model, machine, kMeshOf4);
  const double rows = 4 * 64 / 4 / 2, bytes = 4 * rows * (8 + 8 + 1); // of one rank, in a half
  CHECK(*inZigzag(costs, op, splitQueries(op)) ==
        Approx(op.work.flops / 4 / 1e12 + 3 * latency + bytes / bandwidth));
  CHECK(!isFasterInZigzag(costs, op, splitQueries(op)));
  CHECK(computingSeconds(costs, op, splitQueries(op)) ==
        Approx(inOrder(costs, op, splitQueries(op))));
}

TEST_CASE("ranks that share cores wait for the slowest one only beyond their share") {
  const StepModel model = attentionModel();
  const Op &op = model.ops[0];
  cluster::Cluster machine = clusterWith(1e9, 0, kFast);
  machine.isCpu = true, machine.devicesPerNode = 4;
  // CPUs compute whole blocks of scores: here one, of which half counts.
  const double blocks =
                   countedShare(cluster::kMeasuredTokens, cluster::kMeasuredTokens, true) / 0.5,
               mean = op.work.flops / 4 / 1e9 * blocks;
  for (const auto &[cores, expected] : {std::pair(4, 7. / 4), {3, 7. / 4}, {2, 2.}, {1, 4.}}) {
    machine.devicesPerNode = cores;
    const cluster::Cluster shared = *cluster::forRanks(machine, 4);
    const Costs costs(model, shared, kMeshOf4);
    CHECK(inOrder(costs, op, splitQueries(op)) == Approx(mean * expected));
  }
}
