// The products that a step computes under every plan.
#include "compiler/planner/model/ModelWork.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

TEST_CASE("the work of a step is that of its products, once for every micro-batch") {
  const ModelWork one = modelWork(trainingModel(8, 16, 32), h100Node());
  // Two products forward, their two gradients each, but for that of the input.
  CHECK(one.flops == 5.0 * 2 * 8 * 16 * 32);
  CHECK(one.peakSeconds == Approx(one.flops / h100Node().computeOf("f32").peakFlops));
  CHECK(one.type == "f32");
  const ModelWork three = modelWork(trainingModel(8, 16, 32, 3), h100Node());
  CHECK(three.flops == 3 * one.flops);
}

TEST_CASE("recomputed ops are not work of the model") {
  StepModel model = trainingModel(8, 16, 32);
  const double before = modelWork(model, h100Node()).flops;
  model.ops.push_back(model.ops[0]);
  CHECK(modelWork(model, h100Node()).flops > before);
  model.ops.back().isRecomputed = true;
  CHECK(modelWork(model, h100Node()).flops == before);
}

TEST_CASE("without a peak rate the seconds are not known") {
  cluster::Cluster machine = h100Node();
  for (auto &[type, compute] : machine.compute)
    compute.peakFlops = 0;
  CHECK(modelWork(trainingModel(8, 16, 32), machine).peakSeconds == 0);
}
