// ModelStates: which tensors of a model become states of the step.
#include "compiler/frontend/step/ModelStates.h"

#include "compiler/frontend/emit/Failure.h"
#include "dialects/graph/Build.h"
#include "dialects/graph/MicroBatches.h"

#include "mlir/IR/MLIRContext.h"

#include <catch2/catch.hpp>

namespace cleave::frontend {
namespace {

using namespace graph;

// A model with the buffers `read` and `count`, of which its program writes the second.
struct Counting {
  Counting() { context.loadDialect<GraphDialect, mlir::func::FuncDialect>(); }

  // Builds the step; returns the states that were missing.
  StateNames build(const StateNames &names) {
    step.emplace(context, "");
    ModelStates states(*step, names);
    mlir::Value read = add(states, "read"), count = add(states, "count");
    mlir::Value sum = AddOp::create(step->builder(), step->location(), read, count);
    step->addOutput(sum, "y");
    states.setLast("count", sum);
    states.setLast("read", read);
    if (isStatistic) // of a norm that reads it transposed
      states.keepStatistics(
          TransposeOp::create(step->builder(), step->location(), read, llvm::ArrayRef<int64_t>{0})
              .getResult());
    ++builds;
    return states.addResults();
  }

  mlir::Value add(ModelStates &states, const std::string &name) {
    mlir::Type type = tensorOf({Polynomial(2)}, step->builder().getF32Type());
    mlir::Value value =
        states.isState(name)
            ? mlir::Value(step->addArgument(Role::State, type, name, TensorOrigin()))
            : step->addConstant(name, Tensor(ElementType::F32, {2}));
    states.add(name, value);
    return value;
  }

  mlir::MLIRContext context;
  std::optional<StepBuilder> step;
  bool isStatistic = false;
  int builds = 0;
};

TEST_CASE("a written tensor is a state of the second build, others stay constants") {
  Counting model;
  buildUntilStatesAreKnown([&](const StateNames &names) { return model.build(names); });
  CHECK(model.builds == 2);
  Imported imported = model.step->finish({}, "test");
  mlir::func::FuncOp step = stepOf(*imported.module);
  REQUIRE(step.getNumArguments() == 1);
  CHECK(argName(step, 0) == "count");
  CHECK(argRole(step, 0) == Role::State);
  CHECK(step.getArgAttr(0, kPerMicroBatch));
  CHECK(resultName(step, 1) == "count");
  CHECK(aliasOf(step, 1) == 0u);
}

TEST_CASE("statistics that are only read stay arguments") {
  Counting model;
  model.isStatistic = true;
  buildUntilStatesAreKnown([&](const StateNames &names) { return model.build(names); });
  Imported imported = model.step->finish({}, "test");
  mlir::func::FuncOp step = stepOf(*imported.module);
  REQUIRE(step.getNumArguments() == 2);
  CHECK(argName(step, 0) == "read");
  CHECK(argRole(step, 0) == Role::Constant);
}

TEST_CASE("a state keeps its shape, and has one name") {
  Counting model;
  model.build({});
  ModelStates states(*model.step, {});
  mlir::Value value = model.add(states, "queue");
  auto problem = [](auto action) {
    try {
      action();
    } catch (const emit::Failure &failure) {
      return failure.status.message();
    }
    return std::string();
  };
  mlir::Value scalar = model.step->addConstant("one", Tensor(ElementType::F32, {}));
  CHECK(problem([&] { states.setLast("queue", scalar); }) ==
        "the program changes the shape or type of the buffer 'queue', expected that it keeps them");
  CHECK(problem([&] { states.add("queue", value); }) ==
        "the program takes the buffer 'queue' twice, expected once");
}

} // namespace
} // namespace cleave::frontend
