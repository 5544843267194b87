// The planner obeys the account of the program: what does not fit there is planned differently, and
// the size of the smallest program is what messages state.
#include "compiler/cluster/Presets.h"
#include "compiler/planner/search/Planner.h"
#include "test/unit/graph_text/DeepStep.h"
#include "test/unit/planner/Facts.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

constexpr int64_t kMiB = 1 << 20;

// A step whose arguments take 48 MiB on one rank; its programs take `factor` times the arguments
// that a rank stores.
struct Case {
  explicit Case(double factor) : factor(factor) {
    options.ranks = 4;
    options.memoryOf = [this](const Decisions &decisions) -> Result<ProgramMemory> {
      ++programs;
      return ProgramMemory{bytesOf(decisions), bytesOf(decisions)};
    };
  }

  int64_t bytesOf(const Decisions &decisions) const {
    double bytes = 0;
    for (size_t i = 0; i < model.arguments.size(); ++i)
      bytes += static_cast<double>(localBytes(model.values[model.arguments[i].value],
                                              decisions.arguments[i].storage, decisions.mesh));
    return static_cast<int64_t>(factor * bytes);
  }

  Result<PlanReport> plan() { return planStep(model, *cluster::findCluster("h100-node"), options); }

  StepModel model = trainingModel(512, 1024, 2048);
  double factor;
  TrialOptions options;
  int programs = 0; // that were read
};

} // namespace

TEST_CASE("a plan that fits without a budget is the plan") {
  Case step(1);
  Result<PlanReport> free = step.plan();
  REQUIRE(free.isOk());
  CHECK(free->peakBytes == step.bytesOf(*free));
  step.options.budget = free->peakBytes;
  Result<PlanReport> same = step.plan();
  REQUIRE(same.isOk());
  CHECK(same->ops == free->ops);
  CHECK(same->arguments == free->arguments);
  CHECK(same->boundSeconds == free->boundSeconds);
}

TEST_CASE("a program that is larger than its network is planned again until it fits") {
  for (double factor : {1.0, 2.0, 3.0}) {
    Case step(factor);
    step.options.mesh = Mesh{{{"dp", 4}}};
    Result<PlanReport> free = step.plan();
    REQUIRE(free.isOk());
    step.options.budget = free->peakBytes * 19 / 20;
    Result<PlanReport> tight = step.plan();
    INFO("programs of " << factor << " times the arguments, " << free->peakBytes
                        << " bytes: " << (tight.isOk() ? "" : tight.status().message()));
    REQUIRE(tight.isOk());
    CHECK(step.options.budget.holds(tight->peakBytes));
    CHECK(tight->peakBytes == step.bytesOf(*tight));
    CHECK(tight->budget == step.options.budget);
    CHECK(tight->seconds >= free->boundSeconds);
    CHECK(tight->boundSeconds <= tight->seconds);
  }
}

TEST_CASE("where nothing fits the message names the smallest program") {
  Case step(1);
  step.options.memoryOf = [](const Decisions &) -> Result<ProgramMemory> {
    return ProgramMemory{100 * kMiB, 100 * kMiB};
  };
  step.options.budget = 60 * kMiB;
  Result<PlanReport> plan = step.plan();
  REQUIRE(!plan.isOk());
  CHECK(plan.status().kind() == StatusKind::Infeasible);
  CHECK_THAT(
      plan.status().message(),
      Catch::Contains("the smallest found needs 100 MiB (--memory 102400KiB), 40.0 MiB more"));
}

TEST_CASE("a program that cannot be read ends the planning") {
  Case step(1);
  step.options.memoryOf = [](const Decisions &) -> Result<ProgramMemory> {
    return Status::defect("no program");
  };
  CHECK_THAT(step.plan().status().message(), Catch::Contains("no program"));
}

TEST_CASE("a search that only wants to fit ends where no plan can, and says so") {
  Case step(1);
  const cluster::Cluster shared = *cluster::forRanks(*cluster::findCluster("h100-node"), 4);
  Costs costs(step.model, shared, Mesh{{{"dp", 4}}});
  FitOptions options;
  options.memoryOf = [&](const Decisions &decisions) -> Result<ProgramMemory> {
    return ProgramMemory{step.bytesOf(decisions), step.bytesOf(decisions)};
  };
  options.budget = kMiB; // a quarter of the arguments takes 12 MiB
  const Result<Fitted> cut = solveToFit(costs, Pins(), options);
  REQUIRE(cut);
  CHECK_FALSE(cut->isFound());
  CHECK(cut->isCut);
  options.whenTooLarge = WhenTooLarge::Explain;
  const Result<Fitted> explained = solveToFit(costs, Pins(), options);
  REQUIRE(explained);
  CHECK_FALSE(explained->isFound());
  CHECK_FALSE(explained->isCut);
  REQUIRE(!explained->refined.solution.infeasibility.smallestBudget.empty());
  CHECK(explained->refined.solution.infeasibility.smallestBudget[0] >= 12 * kMiB);
}

TEST_CASE("networks may count a sixteenth more than programs") {
  Case step(1);
  const cluster::Cluster shared = *cluster::forRanks(*cluster::findCluster("h100-node"), 4);
  Costs costs(step.model, shared, Mesh{{{"dp", 4}}});
  FitOptions options;
  options.budget = kMiB;
  options.whenTooLarge = WhenTooLarge::Explain;
  const int64_t least =
      solveToFit(costs, Pins(), options)->refined.solution.infeasibility.smallestBudget.at(0);
  options.whenTooLarge = WhenTooLarge::Search;
  for (double share : {1.05, 1.08}) { // what the smallest network counts more
    const auto budget = static_cast<int64_t>(static_cast<double>(least) / share);
    int programs = 0; // but for the first all fit
    options.budget = budget;
    options.memoryOf = [&](const Decisions &) -> Result<ProgramMemory> {
      const int64_t bytes = ++programs == 1 ? 2 * least : budget;
      return ProgramMemory{bytes, bytes};
    };
    const Result<Fitted> fitted = solveToFit(costs, Pins(), options);
    REQUIRE(fitted);
    CHECK(fitted->isFound() == (share < 1 + 1.0 / 16));
  }
}

TEST_CASE("programs that stay too large are planned within six smaller budgets of the network") {
  const StepModel model = modelOf(deepStep(9, 64, 64)); // layers are split one after the other
  const cluster::Cluster shared = *cluster::forRanks(*cluster::findCluster("h100-node"), 4);
  Costs costs(model, shared, Mesh{{{"dp", 4}}});
  int programs = 0;
  FitOptions options;
  options.memoryOf = [&](const Decisions &) -> Result<ProgramMemory> {
    const int64_t bytes = options.budget.bytes() + 1;
    return (++programs, ProgramMemory{bytes, bytes});
  };
  options.budget = int64_t(1) << 20;
  REQUIRE(solveToFit(costs, Pins(), options));
  CHECK(programs == 2 + 6); // without a limit, within the budget, and in the rounds
}
