// The bound on plans with recomputation against plans whose policies and layouts are enumerated:
// policies are realised in the step, the layouts of the realised step are solved exactly, and the
// memory is that of the program.
#include "compiler/cluster/Presets.h"
#include "compiler/planner/network/ReadSolution.h"
#include "compiler/planner/remat/JointBound.h"
#include "compiler/planner/search/Planner.h"
#include "dialects/graph/Step.h"
#include "passes/driver/Compile.h"
#include "passes/driver/ModuleStep.h"
#include "passes/driver/PlannedProgram.h"
#include "passes/remat/Realise.h"
#include "test/unit/driver/Models.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <iostream>
#include <random>
#include <set>

using namespace cleave;
using namespace cleave::planner;

namespace {

StepModel modelOf(mlir::ModuleOp module) {
  Result<StepModel> model = driver::readModel(module);
  REQUIRE(model);
  return std::move(*model);
}

// The options of a model on `ranks`, or in stages of `ranks` with two micro-batches per stage.
driver::CompileOptions optionsIn(const ModelFile &file, const ModelCase &model, int64_t ranks,
                                 int64_t stages) {
  driver::CompileOptions options = optionsOf(file.path(), model, {ranks * stages});
  options.stages = stages;
  options.accumulate = stages > 1 ? 2 * stages : 1;
  return options;
}

// A plan of the enumeration.
struct Best {
  double seconds = 0;
  int64_t bytes = 0;
};

class Enumeration {
public:
  // With several stages, enumerates plans of the first one.
  Enumeration(const ModelCase &model, int64_t ranks, const std::string &mesh, int64_t stages = 1)
      : file_(model), compilation_(optionsIn(file_, model, ranks, stages)),
        mesh_(*Mesh::parse(mesh)) {
    REQUIRE(driver::compileTo(compilation_, "primitive").isOk());
    shared_ = *cluster::forRanks(*cluster::findCluster("h100-node"), ranks);
    model_ = modelOf(compilation_.module());
  }

  // Adds the plans with this policy: the fastest one, and some in less and less memory.
  void add(RematPolicy policy) {
    normalise(model_, policy);
    mlir::OwningOpRef<mlir::ModuleOp> module = compilation_.module().clone();
    remat::realise(graph::stepOf(*module), model_, policy);
    const StepModel model = modelOf(*module);
    Costs costs(model, shared_, mesh_);
    Result<PlanProblem> problem = buildProblem(costs, {}, Budget::unlimited());
    REQUIRE(problem);
    if (mesh_.ranks() > 1 && !tie(model, *problem))
      return;
    for (int round = 0; round < kRounds; ++round) {
      Result<solver::Solution> solution = solver::solve(problem->network, defaultLimits());
      REQUIRE(solution);
      if (!solution->isFound())
        return;
      problem->network.spaces[0].budget = solution->peaks[0].bytes * 3 / 4;
      const Decisions decisions = readSolution(costs, *problem, solution->choices);
      Result<ProgramMemory> memory =
          driver::memoryOf(*module, model, decisions, shared_, Budget::unlimited());
      REQUIRE(memory);
      found_.push_back({secondsOf(costs, decisions), memory->arena});
    }
  }

  // Per plan: no plan in as many bytes is faster than the bound for them. Returns how often the
  // bound was larger than that without a limit.
  int check() {
    const double unlimited = boundIn(Budget::unlimited());
    int binding = 0;
    std::set<int64_t> limits;
    for (const Best &limit : found_) {
      if (!limits.insert(limit.bytes).second)
        continue;
      const double bound = boundIn(limit.bytes);
      if (std::getenv("CLEAVE_SHOW"))
        std::cout << limit.bytes << " bytes: " << limit.seconds << " s, bound " << bound << "\n";
      binding += bound > unlimited * (1 + 1e-6);
      for (const Best &plan : found_)
        if (plan.bytes <= limit.bytes)
          CHECK(bound <= plan.seconds * (1 + 1e-8));
    }
    return binding;
  }

  // Seconds of any plan within the budget.
  double boundIn(const Budget &budget) { return boundIn(budget, model_); }
  // The bound if no values of other micro-batches waited.
  double boundAlone(const Budget &budget) {
    StepModel alone = model_;
    alone.waiting = 1;
    return boundIn(budget, alone);
  }

  double boundIn(const Budget &budget, const StepModel &model) {
    const StepModel roomy = withRoomForRecomputation(model);
    Costs costs(roomy, shared_, mesh_);
    Result<Joint> joint =
        boundJointly(costs, {}, PinnedRemat(roomy.ops.size()), budget, {}, {}, defaultLimits());
    REQUIRE(joint);
    return joint->lowerBound;
  }

  // Bytes of the smallest plan.
  int64_t least() const {
    auto isLess = [](const Best &a, const Best &b) { return a.bytes < b.bytes; };
    return std::min_element(found_.begin(), found_.end(), isLess)->bytes;
  }

  size_t plans() const { return found_.size(); }
  const StepModel &model() const { return model_; }

private:
  static constexpr int kRounds = 4; // plans per policy, at most

  // Forbids that recomputed ops have other layouts than all ops with their name and kind, one of
  // which is the original. False if the space of an op changed, or not all of its choices are
  // listed.
  static bool tie(const StepModel &model, PlanProblem &problem) {
    if (!problem.rests.empty())
      return false;
    for (int i = 0; i < static_cast<int>(model.ops.size()); ++i)
      for (int k = 0; k < i && model.ops[i].isRecomputed; ++k) {
        const Op &op = model.ops[k], &recomputed = model.ops[i];
        if (op.isRecomputed || op.name != recomputed.name || op.kind != recomputed.kind)
          continue;
        std::vector<double> costs;
        for (const OpChoice &a : problem.choicesOf(k))
          for (const OpChoice &b : problem.choicesOf(i))
            costs.push_back(isTied(a, b) ? 0 : solver::kForbidden);
        if (std::find(costs.begin(), costs.end(), 0) == costs.end())
          return false;
        problem.network.edges.push_back({k, i, std::move(costs)});
      }
    return true;
  }

  static bool isTied(const OpChoice &first, const OpChoice &second) {
    if (first.factors != second.factors || first.partial != second.partial)
      return false;
    return std::all_of(second.results.begin(), second.results.end(), [&](const Sharding &layout) {
      return std::find(first.results.begin(), first.results.end(), layout) != first.results.end();
    });
  }

  ModelFile file_;
  driver::Compilation compilation_;
  Mesh mesh_;
  cluster::Cluster shared_;
  StepModel model_;
  std::vector<Best> found_;
};

// A random policy: recomputes all ops with one probability, some of them from kept results.
RematPolicy randomPolicy(const StepModel &model, std::mt19937 &random) {
  RematPolicy policy = keepAll(model);
  const unsigned share = 1 + random() % 4;
  for (size_t i = 0; i < policy.recomputed.size(); ++i) {
    policy.recomputed[i] = random() % 4 < share;
    if (auto kept = sufficientResults(model, static_cast<int>(i)); kept && random() % 2)
      policy.kept[static_cast<int>(i)] = *kept;
  }
  return policy;
}

void checkMany(size_t bundled, int64_t batch, int64_t ranks, const std::string &mesh,
               int policies) {
  ModelCase model = bundledCases()[bundled];
  model.symbols["batch"] = batch;
  INFO(model.name << " on " << mesh);
  Enumeration all(model, ranks, mesh);
  std::mt19937 random(static_cast<unsigned>(bundled + batch));
  all.add(keepAll(all.model()));
  all.add(fullRecompute(all.model()));
  all.add(selectiveRecompute(all.model()));
  for (int i = 0; i < policies; ++i)
    all.add(randomPolicy(all.model(), random));
  CHECK(all.plans() > 4);
  CHECK(all.check() > 0); // memory raises the bound, so that it could be too high
}

} // namespace

TEST_CASE("no plan with recomputation is faster than the bound on plans in its memory") {
  checkMany(0, 4096, 1, "dp=1", 10); // of a perceptron
  checkMany(0, 4096, 4, "dp=2,tp=2", 6);
  checkMany(0, 512, 4, "dp=4", 6);
  checkMany(1, 64, 4, "dp=2,tp=2", 0);
  checkMany(1, 64, 1, "dp=1", 2); // of a GPT
}

TEST_CASE("the bound counts what waits in other micro-batches in flight") {
  Enumeration all(bundledCases()[1], 1, "dp=1", 4);
  CHECK(all.model().waiting == 4);
  all.add(keepAll(all.model()));
  all.add(fullRecompute(all.model()));
  all.add(selectiveRecompute(all.model()));
  CHECK(all.check() > 0);
  CHECK(all.boundAlone(all.least()) < all.boundIn(all.least()));
}

TEST_CASE("blocks that products read prove that nothing fits") {
  ModelCase model = bundledCases()[0];
  model.symbols["batch"] = 4096;
  Enumeration all(model, 4, "dp=4");
  all.add(fullRecompute(all.model()));
  CHECK(all.boundIn(all.least()) < solver::kForbidden);
  CHECK(all.boundIn(all.least() * 3 / 10) == solver::kForbidden);
}
