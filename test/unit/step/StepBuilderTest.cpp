// StepBuilder: arguments, constants and results of the step.
#include "compiler/frontend/step/StepBuilder.h"

#include "compiler/frontend/emit/Failure.h"
#include "dialects/graph/Build.h"
#include "dialects/graph/StopGradient.h"

#include "mlir/IR/MLIRContext.h"

#include <catch2/catch.hpp>

namespace cleave::frontend {
namespace {

using namespace graph;

struct StepFixture {
  StepFixture()
      : step((context.loadDialect<GraphDialect, mlir::func::FuncDialect>(), context), "") {}

  mlir::Type vector() { return tensorOf({Polynomial(2)}, step.builder().getF32Type()); }

  mlir::MLIRContext context;
  StepBuilder step;
};

TEST_CASE("arguments and results have names, roles and aliases") {
  StepFixture f;
  mlir::BlockArgument x = f.step.addArgument(Role::Input, f.vector(), "x");
  mlir::BlockArgument w = f.step.addArgument(Role::Parameter, f.vector(), "w", TensorOrigin());
  mlir::BlockArgument count = f.step.addArgument(Role::State, f.vector(), "count", TensorOrigin());
  f.step.freeze(w);
  CHECK(f.step.nameOf(count) == "count");
  mlir::Value sum = AddOp::create(f.step.builder(), f.step.location(), x, w);
  f.step.addOutput(sum, "y");
  f.step.addStateResult(count, sum);
  Imported imported = f.step.finish({}, "test");
  CHECK(imported.producer == "test");
  mlir::func::FuncOp step = stepOf(*imported.module);
  CHECK(argRole(step, 0) == Role::Input);
  CHECK(argRole(step, 1) == Role::Parameter);
  CHECK(isFrozen(step, 1));
  CHECK(argRole(step, 2) == Role::State);
  CHECK(resultName(step, 0) == "y");
  CHECK(resultRole(step, 1) == Role::State);
  CHECK(aliasOf(step, 1) == 2u);
}

TEST_CASE("a state that the step does not write becomes a constant argument, whatever its values") {
  StepFixture f;
  TensorOrigin zeros;
  zeros.kind = TensorOrigin::Kind::Inline;
  zeros.data = Tensor(ElementType::F32, {2});
  mlir::BlockArgument mean = f.step.addArgument(Role::State, f.vector(), "mean", zeros);
  f.step.addOutput(mean, "y");
  Imported imported = f.step.finish({}, "test");
  mlir::func::FuncOp step = stepOf(*imported.module);
  REQUIRE(step.getNumArguments() == 1);
  CHECK(argName(step, 0) == "mean");
  CHECK(argRole(step, 0) == Role::Constant);
}

TEST_CASE("a state keeps its type") {
  StepFixture f;
  mlir::BlockArgument mean = f.step.addArgument(Role::State, f.vector(), "mean", TensorOrigin());
  mlir::Value scalar = f.step.addConstant("one", Tensor(ElementType::F32, {}));
  std::string message;
  try {
    f.step.addStateResult(mean, scalar);
  } catch (const emit::Failure &failure) {
    message = failure.status.message();
  }
  CHECK(message == "the program changes the shape or type of the buffer 'mean', expected that it "
                   "keeps them");
}

} // namespace
} // namespace cleave::frontend
