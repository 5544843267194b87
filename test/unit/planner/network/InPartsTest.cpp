// Networks of coarser meshes on finer ones.
#include "compiler/planner/network/InParts.h"
#include "compiler/cluster/Presets.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

TEST_CASE("a network on a coarser mesh has the prices of its choices in parts") {
  StepModel model = trainingModel(512, 1024, 4096);
  cluster::Cluster machine = *cluster::findCluster("h100-node");
  const Mesh fine = *Mesh::parse("a=2,b=2,c=2");
  for (const CoarserMesh &coarser : coarserMeshes(fine)) {
    Costs costs(model, machine, coarser.mesh), fineCosts(model, machine, fine);
    PlanProblem problem = *buildProblem(costs, {}, int64_t(1) << 40);
    PlanProblem parts = inParts(problem, coarser.parts);
    for (size_t op = 0; op < model.ops.size(); ++op)
      for (size_t i = 0; i < problem.choicesOf(op).size(); ++i) {
        const OpChoice &whole = problem.choicesOf(op)[i], &inFine = parts.choicesOf(op)[i];
        CHECK(fineCosts.kernels(model.ops[op], inFine) == costs.kernels(model.ops[op], whole));
        CHECK(fineCosts.resolve(model.ops[op], inFine) ==
              Approx(costs.resolve(model.ops[op], whole)));
      }
  }
}
