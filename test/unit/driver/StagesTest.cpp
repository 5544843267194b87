// --stages: the options that it excludes, and the units and programs of the stages.
#include "passes/driver/Stages.h"

#include "dialects/graph/Messages.h"
#include "dialects/mesh/MeshDialect.h"
#include "dialects/program/Program.h"
#include "passes/driver/Diagnostics.h"
#include "passes/promise/Promise.h"
#include "test/unit/driver/Models.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::driver;
using Catch::Matchers::Contains;
using llvm::SmallVector;

namespace {

CompileOptions inStages(const ModelFile &file, int64_t stages) {
  CompileOptions options = optionsOf(file.path(), bundledCases()[1], {.ranks = stages});
  options.stages = stages;
  options.accumulate = 3;
  return options;
}

} // namespace

TEST_CASE("--stages excludes options that know one step only, by their names") {
  CompileOptions options;
  options.train = true;
  options.ranks = options.stages = 2;
  CHECK(checkStages(options).isOk());
  SECTION("no training") {
    options.train = false;
    CHECK_THAT(checkStages(options).message(), Contains("--train"));
  }
  SECTION("plans under other options") {
    options.whatIf = true;
    CHECK_THAT(checkStages(options).message(), Contains("--what-if"));
  }
  SECTION("a search for memory") {
    options.leastMemory = true;
    CHECK_THAT(checkStages(options).message(), Contains("--memory least"));
  }
  SECTION("stages of unequal size") {
    options.ranks = 5;
    CHECK_THAT(checkStages(options).message(), Contains("--ranks 5"));
  }
  SECTION("a mesh of all ranks") {
    options.ranks = 4;
    options.mesh = *Mesh::parse("x=4");
    CHECK_THAT(checkStages(options).message(), Contains("mesh of one stage"));
  }
  SECTION("a search for ranks") {
    options.stages = 1;
    options.autoStages = true;
    CHECK(checkStages(options).isOk());
    options.leastRanks = true;
    CHECK_THAT(checkStages(options).message(), Contains("--ranks least"));
  }
  SECTION("no stage") {
    options.stages = 0;
    CHECK_THAT(checkStages(options).message(), Contains("found 0"));
  }
}

TEST_CASE("each stage is a unit, then a program of its rank that takes the planned bytes") {
  const ModelFile file(bundledCases()[1]);
  Compilation c(inStages(file, 3));
  Status status = compileTo(c, "primitive");
  INFO((status ? "" : status.message()));
  REQUIRE(status.isOk());
  REQUIRE(c.units.size() == 3);
  for (size_t i = 0; i < 3; ++i)
    CHECK(c.units[i].name() == "stage " + std::to_string(i));
  status = continueTo(c, "primitive", "program");
  INFO((status ? "" : status.message()));
  REQUIRE(status.isOk());
  REQUIRE(c.stagePeaks.size() == 3);
  int64_t rank = 0;
  for (auto program : c.module().getOps<program::ProgramOp>()) {
    CHECK(std::vector<int64_t>(*program.getRanks()) == std::vector<int64_t>{rank});
    CHECK(program.getArena()->getPeak() == c.stagePeaks[rank]);
    ++rank;
  }
  CHECK(rank == 3);
}

TEST_CASE("every chunk knows which dims of what it receives run over samples") {
  const ModelFile file(zooCases()[0]);
  CompileOptions options = optionsOf(file.path(), zooCases()[0], {.ranks = 4});
  options.stages = 2;
  options.schedule = "interleaved";
  options.accumulate = 2;
  options.mesh = *Mesh::parse("dp=2");
  options.pin = "dp";
  Compilation c(std::move(options));
  Status status = compileTo(c, "planned");
  INFO((status ? "" : status.message()));
  REQUIRE(status.isOk());
  std::vector<int> messages; // by stage
  for (Unit &unit : c.units) {
    messages.push_back(0);
    mlir::func::FuncOp step = graph::stepOf(*unit.module);
    for (unsigned i = 0; i < step.getNumArguments(); ++i)
      if (graph::receivedWhen(step, i) == graph::Passed::Forward &&
          !graph::staticShapeOf(step.getArgument(i)).empty()) {
        CHECK(graph::dimsOf(step, i).samples == std::vector<int>{0});
        ++messages.back();
      }
  }
  CHECK(messages[0] > 0); // from the last stage
  CHECK(messages[1] > 0);
}

TEST_CASE("both ends of a message have one layout on every mesh of a stage") {
  const ModelFile file(bundledCases()[1]);
  const char *mesh = GENERATE("x=2", "x=2,y=2", "x=4");
  INFO(mesh);
  CompileOptions options = inStages(file, 3);
  options.mesh = *Mesh::parse(mesh);
  options.ranks = 3 * options.mesh->ranks();
  Compilation c(std::move(options));
  Status status = compileTo(c, "partitioned");
  INFO((status ? "" : status.message()));
  REQUIRE(status.isOk());
  SmallVector<mlir::func::FuncOp> stages;
  for (Unit &unit : c.units)
    stages.push_back(graph::stepOf(*unit.module));
  CHECK(succeeded(promise::checkMessages(stages)));

  // The check sees a layout that differs at one end, and a message without a receiver.
  mlir::func::FuncOp last = stages.back();
  unsigned received = 0;
  while (!graph::receivedWhen(last, received))
    ++received;
  DiagnosticText diagnostics(*c.context);
  SECTION("a layout") {
    last.setArgAttr(received, mesh::kSharding, mlir::UnitAttr::get(c.context.get()));
    CHECK(failed(promise::checkMessages(stages)));
    CHECK_THAT(diagnostics.text(), Contains("partitioned M2"));
  }
  SECTION("a name") {
    last.setArgAttr(received, "graph.name", mlir::StringAttr::get(c.context.get(), "other"));
    CHECK(failed(promise::checkMessages(stages)));
    CHECK_THAT(diagnostics.text(), Contains("partitioned M1"));
  }
}
