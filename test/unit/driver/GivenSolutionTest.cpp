// The cost network as a file, and decisions from files of solutions.
#include "passes/driver/GivenSolution.h"

#include "compiler/solver/Json.h"
#include "compiler/solver/Solver.h"
#include "passes/driver/Compile.h"
#include "passes/driver/Variants.h"
#include "runtime/base/RegularFile.h"
#include "test/unit/driver/Models.h"
#include "test/unit/driver/TextFile.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::driver;
using cleave::test::TextFile;

namespace {

// A perceptron on two ranks, after the phase `primitive`.
struct Perceptron {
  ModelFile file{bundledCases()[0]};
  Compilation c;
  planner::PlannerOptions options;

  Perceptron() : c(optionsOf(file.path(), bundledCases()[0], {2, "dp=2"})) {
    REQUIRE(compileTo(c, "primitive"));
    REQUIRE(loadCluster(c));
    options = *plannerOptions(c.options, *c.cluster);
  }
  Result<PlannedModule> planned(const std::string &solution) {
    TextFile solutionFile(solution);
    return planAsGiven(solutionFile.path(), c.module(), *c.cluster, options);
  }
};

} // namespace

TEST_CASE("the best solution of the network that is written is the planner's plan") {
  Perceptron step;
  TextFile file("");
  REQUIRE(writeProblem(file.path(), step.c.module(), *step.c.cluster, step.options));
  Result<solver::Problem> problem = solver::problemFromJson(*readRegularFile(file.path()));
  REQUIRE(problem);
  Result<solver::Solution> best = solver::solve(*problem);
  REQUIRE(best);
  Result<PlannedModule> given = step.planned(solver::toJson(*best));
  INFO((given ? "" : given.status().message()));
  REQUIRE(given);
  Result<PlannedModule> planned = Variants(step.c).search(step.c.options);
  REQUIRE(planned);
  CHECK(given->plan.mesh.str() == "dp=2");
  CHECK(given->plan.seconds == Approx(planned->plan.seconds));
}

TEST_CASE("a file that holds no solution of the network is the user's mistake") {
  Perceptron step;
  CHECK(step.planned("nothing").status().kind() == StatusKind::UserError);
  CHECK(step.planned("[0]").status().kind() == StatusKind::UserError);
  CHECK(
      planAsGiven("no such file", step.c.module(), *step.c.cluster, step.options).status().kind() ==
      StatusKind::UserError);
}
