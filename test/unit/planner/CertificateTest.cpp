// The printed bound against the best plan of the full enumeration, where networks list few choices.
#include "compiler/cluster/Presets.h"
#include "compiler/planner/search/Planner.h"
#include "compiler/planner/search/Refine.h"
#include "test/unit/planner/RandomStep.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

constexpr double kRounding = 1 + 1e-8;
constexpr ChoiceLimits kAll = {.perOp = SIZE_MAX, .perArgument = SIZE_MAX};
constexpr ChoiceLimits kFour = {.perOp = 4, .perArgument = 4};
constexpr ChoiceLimits kFourForEver = {.perOp = 4, .perArgument = 4, .rounds = 0};

// What a number of random steps had in them.
struct Counts {
  int fitting = 0;  // a plan was found with all choices
  int binding = 0;  // of them: the fastest plan does not fit
  int falseCut = 0; // of them: the bound without rests exceeds the cost of that plan
  int unlisted = 0; // of them: some choices remained unlisted to the end
};

// One random step on one mesh and cluster, in three of four cases with less memory than the fastest
// plan takes.
class Trial {
public:
  Trial(unsigned seed, bool isLarge) {
    std::mt19937 random(seed);
    auto pick = [&]<typename T>(std::initializer_list<T> among) {
      return among.begin()[random() % among.size()];
    };
    const bool hasThreeAxes = seed % (isLarge ? 2 : 20) == 0;
    const char *mesh = hasThreeAxes ? pick({"a=2,b=2,c=2", "a=3,b=2,c=2", "a=2,b=2,c=4"})
                                    : pick({"a=2,b=2", "a=4,b=2", "a=2,b=3", "a=8,b=4"});
    options_.mesh = *Mesh::parse(mesh);
    options_.ranks = options_.mesh->ranks();
    options_.budget = int64_t(1) << 50;
    cluster_ = *cluster::findCluster(pick({"h100-node", "rtx3090-node"}));
    shared_ = *cluster::forRanks(cluster_, options_.ranks);
    const int dims = isLarge ? 3 : 2, layers = isLarge && !hasThreeAxes ? pick({1, 2}) : 1;
    model_ = randomStep(layers, dims, random);
    costs_.emplace(model_, shared_, *options_.mesh);
    best_ = solve(kAll);
    const double share = hasThreeAxes && !isLarge ? 1 : pick({1.0, 0.9, 0.7, 0.5});
    if (share == 1)
      return;
    isBinding_ = true;
    options_.budget =
        static_cast<int64_t>(share * static_cast<double>(best_.solution.peaks[0].bytes));
    best_ = solve(kAll);
  }

  void check(Counts &counts) {
    INFO(model_.ops.size() << " ops on " << options_.mesh->str() << ", budget "
                           << options_.budget.bytes());
    REQUIRE(best_.others == 0);
    const Refined few = solve(kFourForEver);
    if (!best_.solution.isFound()) {
      CHECK_FALSE(few.solution.isFound());
      return;
    }
    ++counts.fitting;
    counts.binding += isBinding_;
    CHECK(few.solution.status != solver::SolveStatus::Infeasible);
    checkBound(few.solution.lowerBound);
    if (few.solution.isFound()) {
      CHECK(few.solution.cost * kRounding >= best_.solution.lowerBound);
      for (const auto &[node, rest] : few.problem.rests)
        CHECK(few.solution.choices[node] != rest.choice);
    }
    // The choices listed, and nothing in the place of the others.
    Result<solver::Solution> cut = solver::solve(few.problem.network, options_.solve);
    REQUIRE(cut);
    counts.falseCut += cut->lowerBound > best_.solution.cost * kRounding;
    checkPlan(counts);
  }

private:
  Refined solve(const ChoiceLimits &limits) {
    Result<Refined> refined = solveRefining(*costs_, {}, options_.budget, limits, options_.solve);
    REQUIRE(refined);
    return std::move(*refined);
  }

  void checkBound(double bound) const { CHECK(bound <= best_.solution.cost * kRounding); }

  void checkPlan(Counts &counts) {
    options_.choices = kFour;
    Result<PlanReport> plan = planStep(model_, cluster_, options_);
    if (!plan) { // the least demanding choices may remain unlisted
      CHECK_THAT(plan.status().message(), Catch::StartsWith("no plan was found that fits"));
      return;
    }
    checkBound(plan->boundSeconds);
    CHECK(plan->seconds * kRounding >= best_.solution.lowerBound);
    counts.unlisted += plan->unlistedChoices > 0;
    const auto remark = std::find_if(plan->remarks.begin(), plan->remarks.end(),
                                     [](const PlanRemark &r) { return r.kind == "bound"; });
    REQUIRE(remark != plan->remarks.end());
    CHECK((remark->text.find("remained unlisted") != std::string::npos) ==
          (plan->unlistedChoices > 0));
  }

  StepModel model_;
  cluster::Cluster cluster_, shared_;
  PlannerOptions options_;
  std::optional<Costs> costs_;
  Refined best_; // with all choices
  bool isBinding_ = false;
};

Counts checkMany(unsigned first, unsigned count, bool isLarge) {
  Counts counts;
  for (unsigned seed = first; seed < first + count; ++seed) {
    INFO("seed " << seed);
    Trial(seed, isLarge).check(counts);
  }
  return counts;
}

} // namespace

TEST_CASE("no bound exceeds the best plan of the full enumeration, whatever is listed") {
  const Counts counts = checkMany(1, 60, false);
  CHECK(counts.binding > 10);
  CHECK(counts.unlisted > 10);
  CHECK(counts.falseCut > 10); // the trials can tell
}

// A test of its own (CMakeLists.txt), since it takes longer than the fast suite may.
TEST_CASE("the same for 500 random steps", "[.certificate]") {
  const Counts counts = checkMany(1, 500, false);
  CHECK(counts.fitting > 300);
  CHECK(counts.binding > 100);
  CHECK(counts.unlisted > 100);
  CHECK(counts.falseCut > 100);
}

// Takes minutes; run by hand: unit-planner "[sweep]".
TEST_CASE("the same for larger steps", "[.sweep]") {
  const Counts counts = checkMany(10000, 200, true);
  CHECK(counts.binding > 20);
  CHECK(counts.falseCut > 50);
}
