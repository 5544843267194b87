// The classes of dims against their definition.
#include "compiler/planner/model/DimClasses.h"
#include "test/unit/planner/RandomStep.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

#include <map>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

// Per dim of a value (value, dim) and factor of an op (-1 - op, factor) the least of all that count
// the same thing: relabels until nothing changes.
static std::map<std::pair<int, int>, std::pair<int, int>> classesOf(const StepModel &model) {
  std::map<std::pair<int, int>, std::pair<int, int>> label;
  for (int v = 0; v < static_cast<int>(model.values.size()); ++v)
    for (int d = 0; d < static_cast<int>(model.values[v].shape.size()); ++d)
      label[{v, d}] = {v, d};
  for (int i = 0; i < static_cast<int>(model.ops.size()); ++i)
    for (int f = 0; f < static_cast<int>(model.ops[i].rule.factors.size()); ++f)
      label[{-1 - i, f}] = {-1 - i, f};
  for (bool changed = true; changed;) {
    changed = false;
    auto join = [&](const FactorRule &rule, int op, int value, const FactorRule::Dims &dims) {
      for (int d = 0; d < static_cast<int>(dims.size()); ++d)
        for (int f : dims[d]) {
          if (rule.factors[f].size.constant() == 1)
            continue;
          auto &a = label[{value, d}], &b = label[{-1 - op, f}];
          changed |= a != b;
          a = b = std::min(a, b);
          break;
        }
    };
    for (int i = 0; i < static_cast<int>(model.ops.size()); ++i) {
      const Op &op = model.ops[i];
      for (size_t v = 0; v < op.operands.size(); ++v)
        join(op.rule, i, op.operands[v], op.rule.operands[v]);
      for (size_t v = 0; v < op.results.size(); ++v)
        join(op.rule, i, op.results[v], op.rule.results[v]);
    }
  }
  return label;
}

TEST_CASE("dims are of one class if and only if factors of ops join them") {
  std::mt19937 random(2);
  for (int k = 0; k < 20; ++k) {
    const StepModel model = k == 0 ? trainingModel(8, 4, 16) : randomStep(2, 3, random);
    const DimClasses classes(model);
    std::map<std::pair<int, int>, int> numberOf; // per label
    std::map<int, std::pair<int, int>> labelOf;  // per number
    for (const auto &[member, label] : classesOf(model)) {
      const int number =
          member.first >= 0
              ? classes.ofDim(member.first, static_cast<size_t>(member.second))
              : classes.ofFactor(-1 - member.first, static_cast<size_t>(member.second));
      CHECK(number >= 0);
      CHECK(static_cast<size_t>(number) < classes.limit());
      CHECK(numberOf.try_emplace(label, number).first->second == number);
      CHECK(labelOf.try_emplace(number, label).first->second == label);
    }
  }
}

TEST_CASE("a dim that is a product of factors counts its major one") {
  StepModel model;
  model.values.resize(2);
  model.values[0].shape = {24};
  model.values[1].shape = {1, 6, 4};
  Op op;
  op.rule = FactorRule::parse("(a b c) -> a b c", {{24}}, {{1, 6, 4}});
  op.operands = {0};
  op.results = {1};
  model.ops = {op};
  const DimClasses classes(model);
  CHECK(classes.ofDim(0, 0) == classes.ofDim(1, 1)); // the first of a size other than 1
  CHECK(classes.ofDim(0, 0) != classes.ofDim(1, 2));
  CHECK(classes.ofDim(0, 0) != classes.ofDim(1, 0));
}

TEST_CASE("ops of other parts join nothing") {
  StepModel model = trainingModel(8, 4, 16);
  const DimClasses all(model), updates(model, Part::Update);
  const Op &product = model.ops[0]; // x [8, 4] times up.weight [4, 16]
  CHECK(product.part == Part::Forward);
  CHECK(all.ofDim(product.operands[0], 1) == all.ofDim(product.operands[1], 0));
  CHECK(updates.ofDim(product.operands[0], 1) != updates.ofDim(product.operands[1], 0));
}
