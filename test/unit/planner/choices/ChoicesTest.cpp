// Choices of ops and arguments against enumeration of all assignments of axes.
#include "compiler/planner/choices/Choices.h"
#include "compiler/planner/report/PlanReport.h"
#include "test/unit/planner/RandomStep.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

#include <set>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

// All splits of the factors of an op by the axes of a mesh that the partitioner supports.
std::set<FactorAxes> validSplits(const Op &op, const Mesh &mesh) {
  std::set<FactorAxes> found;
  const size_t factors = op.rule.factors.size();
  std::vector<size_t> use(mesh.axes.size(), factors); // per axis a factor, or none
  while (true) {
    FactorAxes axes(factors);
    for (size_t a = 0; a < use.size(); ++a)
      if (use[a] < factors)
        axes[use[a]].push_back(static_cast<int>(a));
    if (isValidSplit(op.rule, axes, mesh))
      found.insert(axes);
    size_t a = 0;
    while (a < use.size() && use[a] == 0)
      use[a++] = factors;
    if (a == use.size())
      return found;
    --use[a];
  }
}

} // namespace

TEST_CASE("every valid split of an op is a choice, and no other is") {
  const Mesh mesh = *Mesh::parse("a=2,b=3");
  const StepModel model = trainingModel(12, 24, 36);
  for (const Op &op : model.ops) {
    if (op.group)
      continue;
    const std::vector<OpChoice> choices = enumerateOp(op, model, mesh);
    REQUIRE_FALSE(choices.empty());
    CHECK(choices[0].factors == FactorAxes(op.rule.factors.size())); // uses no axis
    CHECK(choices[0].partial.empty());
    std::set<FactorAxes> splits;
    for (const OpChoice &choice : choices) {
      CHECK(isValidSplit(op.rule, choice.factors, mesh));
      splits.insert(choice.factors);
    }
    std::set<FactorAxes> expected;
    for (const FactorAxes &axes : validSplits(op, mesh)) {
      bool splitsOne = false; // a factor of size 1
      for (size_t f = 0; f < axes.size(); ++f)
        splitsOne |= !axes[f].empty() && op.rule.factors[f].size.constant() == 1;
      if (!splitsOne)
        expected.insert(axes);
    }
    INFO(op.name << ": " << op.rule.str());
    CHECK(splits == expected);
  }
}

TEST_CASE("a rank holds its largest block of a value, and computes its share of the FLOPs") {
  const Mesh mesh = *Mesh::parse("a=2,b=3");
  Value value;
  value.shape = {8, 9};
  CHECK(localBytes(value, Sharding::replicated(2), mesh) == 8 * 9 * 4);
  CHECK(localBytes(value, {{{0}, {}}, {}, {}}, mesh) == 4 * 9 * 4);
  CHECK(localBytes(value, {{{1}, {0}}, {}, {}}, mesh) == 3 * 5 * 4); // of 8 in three, 9 in two
  CHECK(localBytes(value, {{{0, 1}, {}}, {}, {}}, mesh) == 2 * 9 * 4);
  CHECK(storedBytes(1) >= 1);
  CHECK(storedBytes(value, {{{0}, {}}, {}, {}}, mesh) == storedBytes(4 * 9 * 4));
  const StepModel model = trainingModel(12, 24, 36);
  const Op &product = model.ops[0];
  FactorAxes axes(product.rule.factors.size());
  CHECK(localFlops(product, axes, mesh) == product.work.flops);
  axes[0] = {0, 1};
  CHECK(localFlops(product, axes, mesh) == Approx(product.work.flops / 6));
}

TEST_CASE("the last queries of a causal attention see the most keys") {
  const Mesh mesh = *Mesh::parse("a=2,b=4");
  const StepModel model = trainingModel(16, 32, 64);
  Op op = model.ops[0];
  op.triangle = {0, 1};
  REQUIRE(op.rule.factors[0].size == Polynomial(16));
  op.rule.factors[1].size = Polynomial(16);
  FactorAxes axes(op.rule.factors.size());
  CHECK(slowestShare(op, axes, mesh) == 1);
  axes[0] = {1}; // of the mean of 4 ranks, the last one has 7/4
  CHECK(slowestShare(op, axes, mesh) == Approx(7.0 / 4));
  axes[0] = {};
  axes[1] = {0}; // the first keys are seen by the most queries
  CHECK(slowestShare(op, axes, mesh) == Approx(3.0 / 2));
  op.triangle = {};
  CHECK(slowestShare(op, axes, mesh) == 1);
}

TEST_CASE("an argument is whole, as its readers want it, or gathered from finer parts") {
  const Mesh mesh = *Mesh::parse("a=2,b=2");
  const Sharding whole = Sharding::replicated(2), rows{{{0}, {}}, {}, {}};
  auto plain = enumerateArgument({8, 8}, mesh, {rows, rows, whole}, false);
  REQUIRE(plain.size() == 2);
  CHECK((plain[0].storage == whole && !plain[0].isGathered()));
  CHECK((plain[1].storage == rows && !plain[1].isGathered()));
  int gathered = 0;
  for (const ArgumentChoice &choice : enumerateArgument({8, 8}, mesh, {rows}, true)) {
    CHECK((choice.compute == whole || choice.compute == rows));
    gathered += choice.isGathered();
    CHECK(mesh.ranksAlong(choice.storage.dims[0]) >= mesh.ranksAlong(choice.compute.dims[0]));
  }
  // A whole tensor is gathered over one or both axes, of either dim; one split by rows is gathered
  // over the second axis, of either dim.
  CHECK(gathered == 3 * 2 + 2);
  for (const ArgumentChoice &choice : enumerateArgument({1, 8}, mesh, {}, true))
    CHECK(choice.storage.dims[0].empty()); // one row cannot be split
}
