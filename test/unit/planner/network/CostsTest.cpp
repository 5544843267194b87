// Seconds and bytes of single choices and layout changes.
#include "compiler/planner/network/Costs.h"
#include "compiler/planner/choices/Meshes.h"
#include "test/unit/planner/Facts.h"
#include "test/unit/planner/TrainingStep.h"

#include <climits>

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

const Mesh kMesh = *Mesh::parse("a=4");
const Sharding kWhole = Sharding::replicated(2), kRows{{{0}, {}}, {}, {}},
               kColumns{{{}, {0}}, {}, {}}, kPartial{{{}, {}}, {0}, {}};

// The choice of an op whose kernel writes the first result in this layout.
OpChoice choiceWith(const StepModel &model, const Op &op, const Sharding &natural) {
  for (const OpChoice &choice : enumerateOp(op, model, kMesh))
    if (choice.natural[0] == natural && choice.partial.empty())
      return choice;
  FAIL("no such choice");
  return {};
}

int productOf(const StepModel &model, Part part) {
  for (size_t i = 0; i < model.ops.size(); ++i)
    if (model.ops[i].work.isProduct && model.ops[i].part == part)
      return static_cast<int>(i);
  return -1;
}

} // namespace

TEST_CASE("a kernel takes the FLOPs of its largest block, once per micro-batch") {
  const cluster::Cluster machine = plainCluster(1e9, 0, kFast);
  for (int64_t microBatches : {1, 8}) {
    const StepModel model = trainingModel(64, 32, 128, microBatches);
    const Costs costs(model, machine, kMesh);
    const Op &op = model.ops[productOf(model, Part::Forward)];
    REQUIRE(op.repeats == microBatches);
    const double whole = op.work.flops * static_cast<double>(microBatches) / 1e9;
    CHECK(costs.kernels(op, choiceWith(model, op, kWhole)) == Approx(whole));
    CHECK(costs.kernels(op, choiceWith(model, op, kRows)) == Approx(whole / 4));
  }
  // 6 rows over 4 ranks: the largest block has 2.
  const StepModel uneven = trainingModel(6, 32, 128);
  const Costs costs(uneven, machine, kMesh);
  const Op &op = uneven.ops[productOf(uneven, Part::Forward)];
  CHECK(costs.kernels(op, choiceWith(uneven, op, kRows)) == Approx(op.work.flops / 3 / 1e9));
}

TEST_CASE("a layout change takes seconds unless nothing changes, by layout as by number") {
  const StepModel model = trainingModel(64, 32, 128);
  Costs costs(model, h100Node(), kMesh);
  const int value = model.ops[productOf(model, Part::Forward)].results[0];
  const int rows = costs.number(kRows), columns = costs.number(kColumns),
            whole = costs.number(kWhole);
  CHECK(costs.number(kRows) == rows);
  CHECK(costs.layout(rows) == kRows);
  CHECK(costs.reshard(value, kRows, kRows) == 0);
  CHECK(costs.reshard(value, kRows, kWhole) > 0);
  CHECK(costs.reshard(value, rows, whole) == costs.reshard(value, kRows, kWhole));
  const auto steps = costs.path(value, kRows, kColumns);
  REQUIRE(steps);
  double seconds = 0;
  for (const cost::ReshardStep &step : *steps)
    seconds += step.seconds;
  CHECK(costs.reshard(value, rows, columns) == Approx(seconds));
  CHECK(costs.reshard(value, kWhole, kPartial) == solver::kForbidden);
  CHECK_FALSE(costs.path(value, kWhole, kPartial));
}

TEST_CASE("of several layouts the closest two count") {
  const StepModel model = trainingModel(64, 32, 128);
  Costs costs(model, h100Node(), kMesh);
  const int value = model.ops[productOf(model, Part::Forward)].results[0];
  const int rows = costs.number(kRows), columns = costs.number(kColumns),
            whole = costs.number(kWhole);
  const double gather = costs.reshard(value, rows, whole),
               exchange = costs.reshard(value, rows, columns);
  CHECK(costs.leastReshard(value, {rows}, {whole, columns}) == std::min(gather, exchange));
  CHECK(costs.leastReshard(value, {rows, whole}, {columns, whole}) == 0);
  CHECK(costs.leastReshard(value, {rows}, {}) == solver::kForbidden);
}

TEST_CASE("a layout change needs memory for blocks that are packed, and none in place") {
  const StepModel model = trainingModel(64, 32, 128);
  Costs costs(model, h100Node(), kMesh);
  const int value = model.ops[productOf(model, Part::Forward)].results[0];
  CHECK(costs.changeBytes(value, kRows, kRows, true) == 0);
  CHECK(costs.changeBytes(value, kPartial, kWhole, false) == 0); // an all_reduce
  CHECK(costs.changeBytes(value, kWhole, kPartial, false) == 0); // impossible
  // The blocks of an all_to_all are packed, and unpacked where they arrive.
  CHECK(costs.changeBytes(value, kRows, kColumns, true) >= model.values[value].bytes() / 4);
}

TEST_CASE(
    "only reductions that are read late can wait for others, and have their share of a call") {
  const StepModel model = trainingModel(64, 32, 128);
  Costs costs(model, h100Node(), kMesh);
  int late = 0;
  for (const Value &value : model.values) {
    const bool isRead = firstReader(model, value) < INT_MAX;
    if (!isReadLate(model, value))
      continue;
    ++late;
    CHECK(value.producer >= 0);
    CHECK(model.ops[value.producer].part != Part::Update);
    CHECK((!isRead || firstReader(model, value) > value.producer + 1));
  }
  CHECK(late >= 2); // the sums of both gradients
  const int product = productOf(model, Part::Forward);
  CHECK_FALSE(costs.joinable(model.ops[product].results[0], kPartial, kWhole));
  int shared = 0;
  for (const Op &op : model.ops)
    if (op.isAccumulate) {
      const auto step = costs.joinable(op.results[0], kPartial, kWhole);
      REQUIRE(step);
      OpChoice choice{.operands = {kPartial}, .natural = {kPartial}, .results = {kWhole}};
      CHECK(costs.resolve(op, choice) < step->seconds);
      CHECK(costs.resolve(op, choice) > 0);
      ++shared;
    }
  CHECK(shared == 2);
}

// A step of one reshape, which copies whole tensors in an order that is not known.
static StepModel reshapeModel(const std::string &from, const std::string &to) {
  StepModel model =
      modelOf("func.func @step(%x: tensor<" + from +
              R"(xf32> {graph.role = "input", graph.name = "x"}) -> (tensor<)" + to +
              R"(xf32> {graph.role = "output", graph.name = "y"}) {
  %y = graph.reshape %x : tensor<)" +
              from + "xf32> -> tensor<" + to + "xf32>\n  return %y : tensor<" + to + "xf32>\n}");
  model.ops[0].hasKernel = false;
  model.ops[0].moves = {Move{.operand = 0}};
  return model;
}

// Dims: samples, positions, heads, features of a head.
TEST_CASE("a reshape that joins heads copies a block with several heads that lie apart") {
  StepModel model = reshapeModel("2x4x4x2", "2x4x8");
  Op &join = model.ops[0];
  const OpChoice whole = choiceWith(model, join, Sharding::replicated(3)),
                 byHeads = choiceWith(model, join, {{{}, {}, {0}}, {}, {}});
  const Costs costs(model, h100Node(), kMesh);
  auto copies = [&](const OpChoice &choice) { return costs.kernels(join, choice) > 0; };
  CHECK(copies(whole));
  CHECK(copies(byHeads));
  join.copyOrder = cost::MemoryOrder{0, 2, 1, 3};
  CHECK(copies(whole));
  CHECK_FALSE(copies(byHeads)); // one head per rank
  join.copyOrder = cost::MemoryOrder{1, 0, 2, 3};
  CHECK_FALSE(copies(whole)); // heads lie together
}

TEST_CASE("a reshape whose result is wanted by heads copies a block with several heads") {
  StepModel model = reshapeModel("2x4x8", "2x4x4x2");
  Op &split = model.ops[0];
  split.copiesBehindProducer = true;
  split.copyOrder = cost::MemoryOrder{0, 2, 1, 3};
  const Costs costs(model, h100Node(), kMesh);
  auto copies = [&](const Sharding &layout) {
    const OpChoice choice = choiceWith(model, split, layout);
    OpChoice made;
    made.natural = made.results = {choice.operands[0]};
    return costs.afterProducer(made, split, choice) > 0;
  };
  CHECK(copies(Sharding::replicated(4)));
  CHECK_FALSE(copies({{{}, {}, {0}, {}}, {}, {}})); // one head per rank
  CHECK_FALSE(copies({{{}, {0}, {}, {}}, {}, {}})); // one position per rank
}

TEST_CASE("a reduction can wait if its result is read 16 ops later or only by the update") {
  StepModel model;
  model.ops.resize(20);
  auto isLate = [&](int reader) {
    Value value;
    value.producer = 1;
    value.uses = {{reader, 0}};
    return isReadLate(model, value);
  };
  CHECK_FALSE(isLate(1 + 15));
  CHECK(isLate(1 + 16));
  model.ops[2].part = Part::Update;
  CHECK(isLate(2));
}
