// Plans whose form or price is known without a solver.
#include "compiler/planner/network/Costs.h"
#include "test/unit/planner/Facts.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

static int64_t splitOver(const FactorAxes &factors, const Mesh &mesh) {
  int64_t ranks = 1;
  for (const std::vector<int> &axes : factors)
    ranks *= mesh.ranksAlong(axes);
  return ranks;
}

TEST_CASE("where communication takes no time, every product is split over all ranks") {
  StepModel model = trainingModel(64, 32, 128);
  for (const char *mesh : {"a=4", "a=2,b=4"}) {
    PlanReport plan = planOn(model, plainCluster(1e9, 0, kFast), mesh);
    for (size_t op = 0; op < model.ops.size(); ++op)
      if (model.ops[op].work.isProduct)
        CHECK(splitOver(plan.ops[op].factors, plan.mesh) == plan.mesh.ranks());
  }
}

TEST_CASE(
    "where computing takes no time, nothing is communicated and every product is replicated") {
  StepModel model = trainingModel(64, 32, 128);
  for (const char *mesh : {"a=4", "a=2,b=4"}) {
    PlanReport plan = planOn(model, plainCluster(kFast, 1, 1), mesh);
    CHECK(plan.seconds == Approx(0).margin(1e-9));
    for (size_t op = 0; op < model.ops.size(); ++op)
      if (model.ops[op].work.isProduct)
        CHECK(splitOver(plan.ops[op].factors, plan.mesh) == 1);
  }
}

// Seconds of x (m x k) times w (k x n) on 4 ranks that hold a quarter each of the rows of x and of
// the columns of w: with all of x (split by columns), and with all of w (split by rows).
static std::pair<double, double> columnsAndRows(int64_t m, int64_t n) {
  auto shape = [](int64_t rows, int64_t columns) {
    return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "xf32>";
  };
  constexpr int64_t k = 64;
  StepModel model =
      modelOf("func.func @step(%x: " + shape(m, k) +
              " {graph.role = \"input\", graph.name = \"x\"}, %w: " + shape(k, n) +
              " {graph.role = \"parameter\", graph.name = \"w\"}) -> (" + shape(m, n) +
              " {graph.role = \"output\", graph.name = \"y\"}) {\n"
              "%y = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : " +
              shape(m, k) + ", " + shape(k, n) + " -> " + shape(m, n) +
              "\nreturn %y : " + shape(m, n) + "\n}");
  const Mesh mesh = *Mesh::parse("a=4");
  const cluster::Cluster machine = plainCluster(1e9, 1e-6, 1e6);
  Costs costs(model, machine, mesh);
  const Sharding rows{{{0}, {}}, {}, {}}, columns{{{}, {0}}, {}, {}};
  std::pair<double, double> seconds{-1, -1};
  const Op &op = model.ops[0];
  for (const OpChoice &choice : enumerateOp(op, model, mesh))
    for (bool isColumns : {true, false})
      if (choice.natural[0] == (isColumns ? columns : rows) && choice.partial.empty())
        (isColumns ? seconds.first : seconds.second) =
            costs.kernels(op, choice) + costs.reshard(op.operands[0], rows, choice.operands[0]) +
            costs.reshard(op.operands[1], columns, choice.operands[1]);
  return seconds;
}

TEST_CASE("splitting columns and splitting the sequence cost the same for as many tokens as "
          "output features") {
  auto [columns, rows] = columnsAndRows(256, 256);
  CHECK(columns > 0);
  CHECK(columns == Approx(rows).epsilon(1e-12));
  CHECK(columnsAndRows(128, 256).first < columnsAndRows(128, 256).second);
  CHECK(columnsAndRows(256, 128).first > columnsAndRows(256, 128).second);
}
