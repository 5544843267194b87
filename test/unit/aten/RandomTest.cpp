// Random numbers of PyTorch's programs: ranges and means, and what they are without training.
#include "compiler/frontend/step/RandomKeys.h"
#include "compiler/interpret/Interpret.h"
#include "dialects/graph/Step.h"
#include "test/unit/aten/AtenBench.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

using namespace cleave;
using namespace cleave::test;
using aten::IValue;
using Numbers = std::vector<double>;

namespace {

double meanOf(const Numbers &numbers) {
  double sum = 0;
  for (double number : numbers)
    sum += number;
  return sum / static_cast<double>(numbers.size());
}

double deviationOf(const Numbers &numbers) {
  double mean = meanOf(numbers), sum = 0;
  for (double number : numbers)
    sum += (number - mean) * (number - mean);
  return std::sqrt(sum / static_cast<double>(numbers.size()));
}

// A program of one output, run in the step of the given number. Dropouts get `seed` if it is not 0.
Numbers run(const std::function<IValue(aten::Context &)> &program, double number,
            int64_t seed = 0) {
  mlir::MLIRContext context;
  context.loadDialect<graph::GraphDialect, mlir::func::FuncDialect>();
  frontend::StepBuilder step(context, "model");
  emit::Emitter emitter(step.builder(), step.location(), step.evaluator());
  frontend::RandomKeys keys(step);
  aten::Context aten{.emitter = emitter, .random = &keys};
  step.addOutput(program(aten).tensor()->read(emitter), "y");
  keys.addStateResult();
  step.commit();
  mlir::func::FuncOp function = graph::stepOf(step.module());
  function.walk([&](graph::DropoutInterface op) {
    mlir::OpBuilder b(op);
    if (seed != 0)
      op.setSeed(graph::buildSplat(b, op.getLoc(), graph::tensorOf({}, b.getI64Type()),
                                   static_cast<double>(seed)));
  });
  std::vector<Tensor> arguments(function.getNumArguments(), Tensor(ElementType::F64, {}, number));
  auto results = interpret::run(function, arguments);
  INFO(results.status().message());
  REQUIRE(results.isOk());
  return (*results)[0].values;
}

// One call that returns a tensor of [4000].
Numbers drawn(const std::string &name, const aten::IValueList &arguments, double step = 0) {
  return run([&](aten::Context &c) { return aten::call(c, name, arguments).at(0); }, step);
}

// A call that writes 4000 numbers in place.
Numbers drawnInPlace(const std::string &name, const aten::IValueList &arguments) {
  return run(
      [&](aten::Context &c) {
        aten::IValueList all{aten::call(c, "aten::empty", {ints({4000})}).at(0)};
        all.insert(all.end(), arguments.begin(), arguments.end());
        aten::call(c, name, all);
        return all[0];
      },
      0);
}

// Stochastic depth: a mask of a probability, divided by it.
IValue mask(aten::Context &c, double p) {
  IValue x = aten::call(c, "aten::empty", {ints({4000, 1})}).at(0);
  aten::call(c, "aten::bernoulli_", {x, p});
  return aten::call(c, "aten::div_", {x, p}).at(0);
}

} // namespace

TEST_CASE("stochastic depth keeps a part in training and everything without") {
  for (double value : run([](aten::Context &c) { return mask(c, 0.75); }, 0))
    CHECK(value == 1);
  Numbers kept = run([](aten::Context &c) { return mask(c, 0.75); }, 0, 7);
  CHECK(std::abs(meanOf(kept) - 1) < 0.03);
  for (double value : kept)
    CHECK((value == 0 || value == Approx(1 / 0.75)));
}

TEST_CASE("feature dropout drops whole channels") {
  auto dropped = [](aten::Context &c) {
    IValue x = aten::call(c, "aten::ones", {ints({20, 50, 4})}).at(0);
    return aten::call(c, "aten::feature_dropout", {x, 0.5, true}).at(0);
  };
  CHECK(run(dropped, 0) == Numbers(4000, 1));
  Numbers found = run(dropped, 0, 3);
  CHECK(std::abs(meanOf(found) - 1) < 0.1);
  for (size_t i = 0; i < found.size(); ++i)
    CHECK(found[i] == found[i / 4 * 4]);
}

TEST_CASE("numbers are in their range, and others in every step") {
  Numbers uniform = drawn("aten::rand", {ints({4000})});
  CHECK(std::abs(meanOf(uniform) - 0.5) < 0.02);
  CHECK(std::abs(deviationOf(uniform) - std::sqrt(1.0 / 12)) < 0.02);
  CHECK(uniform == drawn("aten::rand", {ints({4000})}));
  CHECK(uniform != drawn("aten::rand", {ints({4000})}, 1));
  Numbers normal = drawn("aten::randn", {ints({4000})});
  CHECK(std::abs(meanOf(normal)) < 0.05);
  CHECK(std::abs(deviationOf(normal) - 1) < 0.05);
  Numbers whole = drawn("aten::randint", {int64_t(3), int64_t(7), ints({4000})});
  CHECK(std::set<double>(whole.begin(), whole.end()) == std::set<double>{3, 4, 5, 6});
}

TEST_CASE("a permutation has every number once, in an order that changes with the step") {
  Numbers order = drawn("aten::randperm", {int64_t(100)}), sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i)
    CHECK(sorted[i] == static_cast<double>(i));
  CHECK(order != sorted);
  CHECK(order != drawn("aten::randperm", {int64_t(100)}, 1));
}

TEST_CASE("numbers are drawn in place") {
  CHECK(std::abs(meanOf(drawnInPlace("aten::uniform_", {2.0, 4.0})) - 3) < 0.05);
  CHECK(std::abs(deviationOf(drawnInPlace("aten::normal_", {5.0, 2.0})) - 2) < 0.1);
  CHECK(std::abs(meanOf(drawnInPlace("aten::exponential_", {2.0})) - 0.5) < 0.05);
  CHECK(std::abs(meanOf(drawnInPlace("aten::geometric_", {0.25})) - 4) < 0.2);
  CHECK(std::abs(meanOf(drawnInPlace("aten::random_", {int64_t(2), int64_t(5)})) - 3) < 0.1);
  CHECK(std::abs(meanOf(drawnInPlace("aten::log_normal_", {0.0, 0.5})) - std::exp(0.125)) < 0.05);
  Numbers cauchy = drawnInPlace("aten::cauchy_", {1.0, 2.0}); // half of them within 2 of 1
  auto within = std::count_if(cauchy.begin(), cauchy.end(),
                              [](double number) { return std::abs(number - 1) < 2; });
  CHECK(std::abs(static_cast<double>(within) / 4000 - 0.5) < 0.03);
}

TEST_CASE("each element may have a probability of its own") {
  Numbers found = run(
      [](aten::Context &c) {
        IValue p = aten::call(c, "aten::full", {ints({4000}), 0.25}).at(0);
        return aten::call(c, "aten::bernoulli", {p}).at(0);
      },
      0);
  CHECK(std::abs(meanOf(found) - 0.25) < 0.03);
}

TEST_CASE("draws that cannot be made say so") {
  AtenBench b;
  CHECK(b.problem("aten::rand", {ints({2})}) ==
        "aten::rand: draws random numbers, which this program cannot");
  CHECK(b.problem("aten::bernoulli", {b.counted({2}), 1.5}) ==
        "aten::bernoulli: draws with the probability 1.5, expected 0 to 1");
  CHECK(b.problem("aten::randint", {int64_t(0), ints({2})}) ==
        "aten::randint: draws integers from 0 to below 0, expected at least one");
}
