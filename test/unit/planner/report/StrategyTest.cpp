// Names of splits, from what the axes of a mesh split and shard.
#include "compiler/planner/report/Strategy.h"
#include "compiler/cluster/Presets.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

// Indices of AxisUse::flops.
constexpr auto kOfBatch = static_cast<size_t>(DimUse::Batch),
               kOfSequence = static_cast<size_t>(DimUse::Sequence),
               kOfPositions = static_cast<size_t>(DimUse::Positions),
               kOfExperts = static_cast<size_t>(DimUse::Experts),
               kOfFeatures = static_cast<size_t>(DimUse::Features);

// An axis that splits these shares of the FLOPs, and shards these of parameters and states.
AxisUse axis(std::vector<std::pair<size_t, double>> flops, double parameters = 0,
             double states = 0) {
  AxisUse use{.parameters = parameters, .states = states, .hasStates = true};
  for (auto [dim, share] : flops)
    use.flops[dim] = share;
  return use;
}
AxisUse data(double parameters, double states) { return axis({{kOfBatch, 1}}, parameters, states); }

// The strategy on a mesh of axes a=2, b=4, c=8.
Strategy of(const std::vector<AxisUse> &uses, bool trains = true) {
  const std::vector<MeshAxis> axes = {{"a", 2}, {"b", 4}, {"c", 8}};
  return strategyOf({{axes.begin(), axes.begin() + static_cast<long>(uses.size())}}, uses, trains);
}

} // namespace

TEST_CASE("a split of the batch is named by what ranks store") {
  CHECK(of({data(0, 0)}).name == "DDP 2");
  CHECK(of({data(0, 0)}).text == "parameters and optimizer states replicated over a=2");
  CHECK(of({data(0, 1)}).name == "ZeRO-1 2");
  CHECK(of({data(0, 1)}).text == "optimizer states sharded over a=2; parameters replicated");
  CHECK(of({data(1, 1), data(1, 1)}).name == "FSDP 8");
  CHECK(of({data(1, 1), data(1, 1)}).text ==
        "parameters and optimizer states sharded over a=2 and b=4");
  CHECK(of({data(0, 0)}, /*trains=*/false).name == "DP 2");
}

TEST_CASE("parameters that are whole along some axes of the batch are HSDP") {
  CHECK(of({data(0, 0), data(1, 1)}).name == "HSDP (2 x 4)");
  CHECK(of({data(0, 0), data(1, 1)}).text ==
        "parameters and optimizer states sharded over b=4, replicated over a=2");
  CHECK(of({data(0, 1), data(1, 1)}).text ==
        "parameters sharded over b=4, replicated over a=2; optimizer states sharded over a=2 and "
        "b=4");
}

TEST_CASE("nearly all bytes are enough for a name, and the share is told") {
  CHECK(of({data(0.981, 0.96)}).name == "FSDP 2");
  CHECK(of({data(0.981, 0.96)}).text ==
        "parameters (98.1 %) and optimizer states (96.0 %) sharded over a=2");
  CHECK(of({data(0.94, 1)}).name == "DP 2");
  CHECK(of({data(0.94, 1)}).text ==
        "some parameters or optimizer states sharded, others replicated");
  CHECK(of({data(1, 0)}).name == "DP 2"); // states are whole, but not parameters: no name
}

TEST_CASE("other splits have names of their own") {
  CHECK(of({axis({{kOfFeatures, 0.96}}), data(1, 1)}).name == "TP 2 x FSDP 4");
  CHECK(of({data(1, 1), axis({{kOfSequence, 1}}, 1, 1)}).name == "CP 4 x DP 2, FSDP");
  CHECK(of({axis({{kOfSequence, 0.5}, {kOfPositions, 0.5}})}).name == "SP 2, DDP");
  CHECK(of({axis({{kOfExperts, 0.4}, {kOfBatch, 0.6}}), data(0, 1)}).name == "EP 2 x ZeRO-1 4");
  CHECK(of({axis({{kOfFeatures, 0.6}, {kOfBatch, 0.4}}), data(0, 0)}).name == "mixed 2 x DDP 4");
  CHECK(of({axis({{kOfFeatures, 1}})}).text.empty());
}

TEST_CASE("every axis of several ranks has a kind, in the order of the mesh") {
  CHECK(of({axis({{kOfFeatures, 1}}), data(1, 1), axis({{kOfSequence, 1}})}).axes ==
        "a=tensor,b=data,c=context");
  CHECK(of({axis({{kOfPositions, 1}}), axis({{kOfFeatures, 0.6}, {kOfBatch, 0.4}}),
            axis({{kOfExperts, 0.4}, {kOfBatch, 0.6}})})
            .axes == "a=spatial,b=mostly tensor,c=expert");
  const Mesh mesh = {{{"a", 1}, {"b", 4}}};
  CHECK(strategyOf(mesh, {data(0, 0), data(0, 0)}, /*trains=*/true).axes == "b=data");
}

TEST_CASE("plans under the recipes of pins have the names of these") {
  const StepModel model = trainingModel(64, 32, 128);
  for (auto [pin, name] : {std::pair("dp", "DDP 4"), std::pair("zero1", "ZeRO-1 4"),
                           std::pair("zero3", "FSDP 4"), std::pair("megatron", "TP 4")}) {
    INFO(pin);
    const PlanReport plan = plannedBy(model, pin, 4);
    CHECK(strategyOf(plan.mesh, axisUses(model, plan, {}), /*trains=*/true).name == name);
  }
}
