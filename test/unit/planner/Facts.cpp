#include "test/unit/planner/Facts.h"

#include "compiler/planner/model/ReadStep.h"
#include "test/unit/graph_text/GraphText.h"

#include <catch2/catch.hpp>

#include <fstream>

namespace cleave::test {

Json readFacts(const std::string &name) {
  std::ifstream file(CLEAVE_SOURCE "/../shared/facts/" + name);
  if (!file) {
    WARN("skipped: ../shared/facts/" << name << " is not there");
    return Json();
  }
  return Json::parse(file);
}

planner::StepModel modelOf(const std::string &text) {
  GraphText parsed(text);
  auto model = planner::readStep(parsed.function());
  INFO(parsed.diagnostics);
  REQUIRE(mlir::succeeded(model));
  return std::move(*model);
}

cluster::Cluster plainCluster(double flops, double latency, double bandwidth) {
  cluster::Cluster cluster;
  cluster.name = "plain";
  cluster.deviceBytes = int64_t(1) << 50;
  cluster.devicesPerNode = 1024;
  cluster.compute["f32"] = {flops, {}, {}};
  cluster.vectorFlops = cluster.memoryBytesPerSecond = kFast;
  cluster::Level level{"all", 0, {}};
  for (CollectiveKind kind : cluster::linkKinds())
    level.links[kind] = {{0, latency, 0, bandwidth}};
  cluster.levels = {level};
  return cluster;
}

planner::PlanReport planOn(const planner::StepModel &model, const cluster::Cluster &cluster,
                           const std::string &mesh, const planner::Pins &pins) {
  planner::PlannerOptions options;
  options.mesh = *Mesh::parse(mesh);
  options.ranks = options.mesh->ranks();
  options.pins = pins;
  Result<planner::PlanReport> plan = planStep(model, cluster, options);
  INFO(plan.status().message());
  REQUIRE(plan.isOk());
  return *plan;
}

} // namespace cleave::test
