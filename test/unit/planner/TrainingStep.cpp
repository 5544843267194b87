#include "test/unit/planner/TrainingStep.h"

#include "compiler/cluster/Presets.h"
#include "compiler/planner/model/ReadStep.h"
#include "test/unit/graph_text/GraphText.h"

#include <catch2/catch.hpp>

namespace cleave::test {

// B: batch, I: in, H: hidden, N: micro-batches.
static const char *const kTrainingStep = R"(
func.func @step(%x: tensor<BxIxf32> {graph.role = "input", graph.name = "x"},
    %w: tensor<IxHxf32> {graph.role = "parameter", graph.name = "up.weight"},
    %v: tensor<HxIxf32> {graph.role = "parameter", graph.name = "down.weight"},
    %wm: tensor<IxHxf32> {graph.role = "state", graph.name = "up.weight.m", graph.parameter = "up.weight"},
    %wv: tensor<IxHxf32> {graph.role = "state", graph.name = "up.weight.v", graph.parameter = "up.weight"},
    %vm: tensor<HxIxf32> {graph.role = "state", graph.name = "down.weight.m", graph.parameter = "down.weight"},
    %vv: tensor<HxIxf32> {graph.role = "state", graph.name = "down.weight.v", graph.parameter = "down.weight"},
    %t: tensor<f32> {graph.role = "state", graph.name = "step"})
    -> (tensor<f32> {graph.role = "loss", graph.name = "loss"},
        tensor<IxHxf32> {graph.role = "parameter", graph.name = "up.weight", graph.alias = 1 : i64},
        tensor<HxIxf32> {graph.role = "parameter", graph.name = "down.weight", graph.alias = 2 : i64},
        tensor<IxHxf32> {graph.role = "state", graph.name = "up.weight.m", graph.alias = 3 : i64},
        tensor<IxHxf32> {graph.role = "state", graph.name = "up.weight.v", graph.alias = 4 : i64},
        tensor<HxIxf32> {graph.role = "state", graph.name = "down.weight.m", graph.alias = 5 : i64},
        tensor<HxIxf32> {graph.role = "state", graph.name = "down.weight.v", graph.alias = 6 : i64},
        tensor<f32> {graph.role = "state", graph.name = "step", graph.alias = 7 : i64}) {
  %h = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<BxIxf32>, tensor<IxHxf32> -> tensor<BxHxf32>
  %a = graph.relu %h : tensor<BxHxf32>
  %y = graph.dot_general %a, %v batch [] x [] contract [1] x [0] : tensor<BxHxf32>, tensor<HxIxf32> -> tensor<BxIxf32>
  %q = graph.mul %y, %y : tensor<BxIxf32>
  %l = graph.reduce sum %q over [0, 1] : tensor<BxIxf32> -> tensor<f32>
  %c = graph.constant dense<2.0> : tensor<BxIxf32>
  %dy = graph.mul %y, %c : tensor<BxIxf32>
  %gv = graph.dot_general %a, %dy batch [] x [] contract [0] x [0] : tensor<BxHxf32>, tensor<BxIxf32> -> tensor<HxIxf32>
  %da = graph.dot_general %dy, %v batch [] x [] contract [1] x [1] : tensor<BxIxf32>, tensor<HxIxf32> -> tensor<BxHxf32>
  %dh = graph.mul %da, %a : tensor<BxHxf32>
  %gw = graph.dot_general %x, %dh batch [] x [] contract [0] x [0] : tensor<BxIxf32>, tensor<BxHxf32> -> tensor<IxHxf32>
  %sv = graph.accumulate %gv count N : tensor<HxIxf32>
  %sw = graph.accumulate %gw count N : tensor<IxHxf32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %t1 = graph.add %t, %one : tensor<f32>
  %nw:3 = graph.fusion (%p = %w : tensor<IxHxf32>, %g = %sw : tensor<IxHxf32>, %m = %wm : tensor<IxHxf32>,
                        %s = %wv : tensor<IxHxf32>, %n = %t1 : tensor<f32>)
      -> (tensor<IxHxf32>, tensor<IxHxf32>, tensor<IxHxf32>) {
    UPDATE IxH
  }
  %nv:3 = graph.fusion (%p = %v : tensor<HxIxf32>, %g = %sv : tensor<HxIxf32>, %m = %vm : tensor<HxIxf32>,
                        %s = %vv : tensor<HxIxf32>, %n = %t1 : tensor<f32>)
      -> (tensor<HxIxf32>, tensor<HxIxf32>, tensor<HxIxf32>) {
    UPDATE HxI
  }
  return %l, %nw#0, %nv#0, %nw#1, %nw#2, %nv#1, %nv#2, %t1 : tensor<f32>, tensor<IxHxf32>, tensor<HxIxf32>,
    tensor<IxHxf32>, tensor<IxHxf32>, tensor<HxIxf32>, tensor<HxIxf32>, tensor<f32>
})";

// The update of a parameter `p` of type T by its gradient `g`, with two states like Adam's.
static const char *const kUpdate = R"(%m1 = graph.add %m, %g : tensor<Txf32>
    %square = graph.mul %g, %g : tensor<Txf32>
    %s1 = graph.add %s, %square : tensor<Txf32>
    %root = graph.sqrt %s1 : tensor<Txf32>
    %ratio = graph.div %m1, %root : tensor<Txf32>
    %count = graph.broadcast %n to [] : tensor<f32> -> tensor<Txf32>
    %move = graph.div %ratio, %count : tensor<Txf32>
    %p1 = graph.sub %p, %move : tensor<Txf32>
    graph.yield %p1, %m1, %s1 : tensor<Txf32>, tensor<Txf32>, tensor<Txf32>)";

static void replaceAll(std::string &text, const std::string &from, const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

std::string trainingStep(int64_t batch, int64_t in, int64_t hidden, int64_t microBatches) {
  std::string text = kTrainingStep;
  const std::string b = std::to_string(batch), i = std::to_string(in), h = std::to_string(hidden);
  for (const char *type : {"IxH", "HxI"}) {
    std::string update = kUpdate;
    replaceAll(update, "<T", std::string("<") + type);
    replaceAll(text, std::string("UPDATE ") + type, update);
  }
  replaceAll(text, "<BxI", "<" + b + "x" + i);
  replaceAll(text, "<BxH", "<" + b + "x" + h);
  replaceAll(text, "<IxH", "<" + i + "x" + h);
  replaceAll(text, "<HxI", "<" + h + "x" + i);
  replaceAll(text, "count N", "count " + std::to_string(microBatches));
  return text;
}

planner::StepModel trainingModel(int64_t batch, int64_t in, int64_t hidden, int64_t microBatches) {
  GraphText text(trainingStep(batch, in, hidden, microBatches));
  auto model = planner::readStep(text.function());
  INFO(text.diagnostics);
  REQUIRE(mlir::succeeded(model));
  return std::move(*model);
}

// The preset with fixed prices of f32 kernels and of collectives.
static cluster::Cluster fixedNode() {
  cluster::Cluster cluster = *cluster::findCluster("h100-node");
  cluster.tileSeconds = 1e-6;
  cluster.launchSeconds = 3.5e-6;
  cluster.memoryEfficiency = {{{1e4, 0.01}, {1e5, 0.06}, {1e6, 0.35}, {1e7, 0.75}, {1e8, 0.87}}};
  for (size_t level = 0; level < cluster.levels.size(); ++level)
    for (auto &[kind, links] : cluster.levels[level].links) {
      const bool isInside = level == 0;
      links = {{.latencySeconds = 6.6e-6,
                .hopSeconds = isInside ? 1.9e-6 : 5e-6,
                .bytesPerSecond = !isInside                           ? 4.5e10
                                  : kind == CollectiveKind::AllReduce ? 4.7e11
                                                                      : 3.6e11}};
    }
  return cluster;
}

const cluster::Cluster &h100Node() {
  static const cluster::Cluster all = fixedNode();
  return all;
}

planner::PlanReport plannedBy(const planner::StepModel &model, const std::string &pins,
                              int64_t ranks) {
  planner::PlannerOptions options;
  options.ranks = ranks;
  options.pins = *planner::Pins::parse(pins);
  Result<planner::PlanReport> plan = planner::planStep(model, h100Node(), options);
  INFO(plan.status().message());
  REQUIRE(plan.isOk());
  return *plan;
}

} // namespace cleave::test
