// The dims that run over samples.
#include "compiler/planner/model/Batch.h"
#include "test/unit/planner/RandomStep.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

TEST_CASE("the batch is followed through products and gradients") {
  StepModel model = trainingModel(8, 4, 16);
  Batch batch = findBatch(model);
  CHECK(batch.dims[model.ops[0].results[0]] == std::vector<bool>{true, false});
  CHECK(batch.dims[model.ops[7].results[0]] == std::vector<bool>{false, false}); // a gradient
  CHECK(batch.hasFactor(7)); // summed over the batch
  CHECK(!batch.hasFactor(15));
}

TEST_CASE("inputs run over samples in their first dim, parameters in none") {
  const StepModel model = trainingModel(8, 4, 16);
  const Batch batch = findBatch(model);
  for (const Argument &argument : model.arguments) {
    const std::vector<bool> &dims = batch.dims[argument.value];
    const bool isFed = argument.role == Role::Input || argument.role == Role::Label;
    for (size_t d = 0; d < dims.size(); ++d)
      CHECK(dims[d] == (isFed && d == 0));
  }
}

TEST_CASE("a factor over samples makes its dims of all operands and results run over them") {
  std::mt19937 random(1);
  int found = 0;
  for (int k = 0; k < 20; ++k) {
    const StepModel model = randomStep(3, 3, random);
    const Batch batch = findBatch(model);
    for (size_t i = 0; i < model.ops.size(); ++i) {
      const Op &op = model.ops[i];
      bool any = false;
      for (size_t f = 0; f < op.rule.factors.size(); ++f)
        any |= batch.factors[i][f];
      CHECK(batch.hasFactor(static_cast<int>(i)) == any);
      auto check = [&](int value, const FactorRule::Dims &dims) {
        for (size_t d = 0; d < dims.size(); ++d)
          if (dims[d].size() == 1 && op.rule.factors[dims[d][0]].size.constant() != 1) {
            CHECK(batch.dims[value][d] == batch.factors[i][dims[d][0]]);
            found += batch.dims[value][d];
          }
      };
      for (size_t v = 0; v < op.operands.size(); ++v)
        check(op.operands[v], op.rule.operands[v]);
      for (size_t v = 0; v < op.results.size(); ++v)
        check(op.results[v], op.rule.results[v]);
    }
  }
  CHECK(found > 50);
}

TEST_CASE("the dims after the first one of inputs without floats run over sequences") {
  StepModel model = trainingModel(8, 4, 16);
  CHECK(findSequences(model).dims[model.arguments[0].value] == std::vector<bool>{false, false});
  model.values[model.arguments[0].value].element = ElementType::I64;
  const Batch sequences = findSequences(model);
  CHECK(sequences.dims[model.arguments[0].value] == std::vector<bool>{false, true});
  CHECK(sequences.hasFactor(0)); // the product that contracts the dim
  CHECK(sequences.dims[model.ops[0].results[0]] == std::vector<bool>{false, false});
}
