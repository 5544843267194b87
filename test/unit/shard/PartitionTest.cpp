// The oracle of partitioning: under any valid plan the program of N ranks computes what the step on
// whole tensors does, whatever the padding of uneven blocks contains.
#include "passes/shard/Partition.h"
#include "compiler/cluster/Presets.h"
#include "compiler/interpret/Interpret.h"
#include "compiler/interpret/Ranks.h"
#include "compiler/planner/model/ReadStep.h"
#include "dialects/mesh/MeshDialect.h"
#include "passes/shard/Annotate.h"
#include "test/unit/graph_text/GraphText.h"
#include "test/unit/shard/Programs.h"
#include "test/unit/shard/RandomPlan.h"

#include "mlir/IR/Verifier.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::test;

namespace {

// Arguments: small floats; integers of the program's range.
std::vector<Tensor> arguments(const Program &program, mlir::func::FuncOp step, Random &random) {
  std::vector<Tensor> args;
  for (mlir::Type type : step.getArgumentTypes()) {
    bool isFloat = llvm::isa<mlir::FloatType>(llvm::cast<mlir::ShapedType>(type).getElementType());
    args.push_back(isFloat ? randomTensor(type, random)
                           : randomTensor(type, random, program.low, program.high));
  }
  return args;
}

void checkPlan(const Program &program, const Mesh &mesh, unsigned seed) {
  GraphText text(program.text);
  text.context()->loadDialect<mesh::MeshDialect>();
  mlir::func::FuncOp step = text.function();
  Random random(seed);
  std::vector<Tensor> args = arguments(program, step, random);
  auto expected = interpret::run(step, args);
  REQUIRE(expected.isOk());
  auto cluster = cluster::forRanks(*cluster::findCluster("h100-node"), mesh.ranks());
  REQUIRE(cluster.isOk());
  auto model = planner::readStep(step);
  REQUIRE(mlir::succeeded(model));
  shard::annotate(step, randomPlan(*model, *cluster, mesh, random));
  std::string annotated = text.str();
  INFO(program.name << " on " << mesh.str() << ", seed " << seed << "\n" << annotated);
  REQUIRE(mlir::succeeded(shard::partition(step, *cluster)));
  INFO(text.str() << text.diagnostics);
  REQUIRE(mlir::succeeded(mlir::verify(text.module())));
  auto actual = interpret::runPartitioned(text.function(), args);
  INFO((actual.isOk() ? "" : actual.status().message()));
  REQUIRE(actual.isOk());
  for (size_t i = 0; i < expected->size(); ++i) {
    INFO("result " << i);
    CHECK(difference((*actual)[i], (*expected)[i]) < 1e-4);
  }
}

} // namespace

TEST_CASE("any plan computes what one rank computes") {
  const std::vector<Mesh> meshes = {
      {{{"dp", 4}}}, {{{"dp", 2}, {"tp", 2}}}, {{{"dp", 3}}}, {{{"dp", 2}, {"tp", 3}}}};
  for (const Program &program : programs())
    for (const Mesh &mesh : meshes)
      for (unsigned seed = 0; seed < 12; ++seed)
        checkPlan(program, mesh, seed);
}
