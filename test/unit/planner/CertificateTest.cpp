// The bound against the best plan of the full enumeration, where networks list few choices.
#include "compiler/cluster/Presets.h"
#include "compiler/planner/Planner.h"
#include "compiler/planner/Refine.h"
#include "test/unit/planner/RandomStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

constexpr ChoiceLimits kAll = {.perOp = SIZE_MAX, .perArgument = SIZE_MAX};

// One random step on one mesh, with less memory than the fastest plan takes in most cases.
struct Case {
  StepModel model;
  Mesh mesh;
  cluster::Cluster cluster;
  int64_t memory = int64_t(1) << 50;

  explicit Case(unsigned seed) {
    std::mt19937 random(seed);
    static const std::vector<const char *> meshes = {"a=2,b=2", "a=4,b=2",     "a=2,b=3",
                                                     "a=8,b=4", "a=2,b=2,c=2", "a=3,b=2,c=2"};
    static const std::vector<cluster::Cluster> clusters = {*cluster::findCluster("h100-node"),
                                                           *cluster::findCluster("rtx3090-node")};
    mesh = *parseMesh(meshes[random() % meshes.size()]);
    const bool isSmall = mesh.axes.size() > 2;
    model = randomStep(isSmall ? 1 : 1 + static_cast<int>(random() % 2), isSmall ? 2 : 3, random);
    cluster = *cluster::forRanks(clusters[random() % clusters.size()], mesh.ranks());
    const double share = std::vector<double>{0, 0.8, 0.5, 0.35}[random() % 4];
    if (share > 0)
      memory = static_cast<int64_t>(share * static_cast<double>(solve(kAll).solution.peaks[0].bytes));
  }

  Refined solve(const ChoiceLimits &limits) const {
    Costs costs(model, cluster, mesh);
    Result<Refined> refined = solveRefining(costs, {}, memory, limits, {});
    REQUIRE(refined);
    return std::move(*refined);
  }
};

} // namespace

TEST_CASE("time") {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    Case c(seed);
    auto a = c.solve(kAll);
    auto b = c.solve({.perOp = 4, .perArgument = 4, .rounds = 0});
    auto d = c.solve({.perOp = 4, .perArgument = 4});
    printf("%u %s ops %zu mem %g full %g %g (%d, %.3fs) listed4 bound %g cost %g others %zu; refined %g %g rounds %d others %zu %.3fs\n",
           seed, str(c.mesh).c_str(), c.model.ops.size(), double(c.memory), a.solution.lowerBound, a.solution.cost,
           int(a.solution.status), a.solution.seconds, b.solution.lowerBound, b.solution.cost, b.others, d.solution.lowerBound, d.solution.cost, d.rounds, d.others,
           d.solution.seconds);
  }
}
