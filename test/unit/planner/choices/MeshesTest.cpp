// Meshes as text, coarser meshes, and plans that are no worse on a finer one.
#include "compiler/planner/choices/Meshes.h"
#include "compiler/cluster/Presets.h"
#include "compiler/planner/search/Planner.h"
#include "test/unit/planner/RandomStep.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

TEST_CASE("axes that follow each other are joined") {
  std::vector<std::string> names;
  for (const CoarserMesh &coarser : coarserMeshes(*Mesh::parse("a=2,b=3,c=4")))
    names.push_back(coarser.mesh.str());
  CHECK(names == std::vector<std::string>{"a+b+c=24", "a=2,b+c=12", "a+b=6,c=4"});
  CHECK(coarserMeshes(*Mesh::parse("a=2,b=3,c=4"))[2].parts ==
        std::vector<std::vector<int>>{{0, 1}, {2}});
  CHECK(coarserMeshes(*Mesh::parse("a=8")).empty());
}

// The seconds of the plan on a mesh; nothing if none fits.
static std::optional<double> secondsOn(const StepModel &model, const char *mesh,
                                       const Budget &budget, int rounds) {
  PlannerOptions options;
  options.mesh = *Mesh::parse(mesh);
  options.ranks = options.mesh->ranks();
  options.budget = budget;
  options.choices.rounds = rounds;
  Result<PlanReport> plan = planStep(model, *cluster::findCluster("h100-node"), options);
  if (!plan)
    return std::nullopt;
  CHECK(plan->mesh.str() == mesh);
  CHECK(plan->boundSeconds <= plan->seconds * (1 + 1e-9));
  return plan->seconds;
}

// Of all pairs of these meshes in which the second is coarser.
static void checkMonotone(const StepModel &model, const Budget &budget, int rounds) {
  std::map<std::string, std::optional<double>> seconds;
  for (const char *mesh : {"a=8", "a=2,b=4", "a=4,b=2", "a=2,b=2,c=2"})
    seconds[mesh] = secondsOn(model, mesh, budget, rounds);
  auto isNoWorse = [&](const char *fine, const char *coarse) {
    if (!seconds[coarse])
      return true;
    return seconds[fine] && *seconds[fine] <= *seconds[coarse] * (1 + 1e-6);
  };
  for (const char *two : {"a=2,b=4", "a=4,b=2"}) {
    CHECK(isNoWorse(two, "a=8"));
    CHECK(isNoWorse("a=2,b=2,c=2", two));
  }
}

TEST_CASE("a finer mesh is never worse") {
  StepModel model = trainingModel(512, 1024, 4096);
  for (const Budget &budget : {Budget::unlimited(), Budget(40 << 20)})
    checkMonotone(model, budget, 12);
}

TEST_CASE("a finer mesh is never worse even if few choices are listed") {
  std::mt19937 random(11);
  for (int k = 0; k < 4; ++k)
    checkMonotone(randomStep(2, 2, random), Budget::unlimited(), 0);
}

// All meshes of this many ranks with up to `axes` axes of at least two ranks.
static std::vector<std::string> meshesOf(int64_t ranks, size_t axes, char name = 'a') {
  std::vector<std::string> all = {std::string(1, name) + "=" + std::to_string(ranks)};
  for (int64_t first = 2; axes > 1 && first <= ranks / 2; ++first)
    if (ranks % first == 0)
      for (const std::string &rest : meshesOf(ranks / first, axes - 1, static_cast<char>(name + 1)))
        all.push_back(std::string(1, name) + "=" + std::to_string(first) + "," + rest);
  return all;
}

TEST_CASE("no factorisation of 64 ranks is worse than a coarser one", "[.sweep]") {
  StepModel model = trainingModel(512, 1024, 4096);
  std::map<std::vector<int64_t>, double> seconds; // by the sizes of the axes
  auto sizesOf = [](const Mesh &mesh) {
    std::vector<int64_t> sizes;
    for (const MeshAxis &axis : mesh.axes)
      sizes.push_back(axis.size);
    return sizes;
  };
  const std::vector<std::string> meshes = meshesOf(64, 3);
  REQUIRE(meshes.size() == 16);
  for (const std::string &mesh : meshes) {
    std::optional<double> found = secondsOn(model, mesh.c_str(), Budget::unlimited(), 2);
    REQUIRE(found);
    seconds[sizesOf(*Mesh::parse(mesh))] = *found;
  }
  for (const std::string &mesh : meshes)
    for (const CoarserMesh &coarser : coarserMeshes(*Mesh::parse(mesh)))
      CHECK(seconds[sizesOf(*Mesh::parse(mesh))] <= seconds[sizesOf(coarser.mesh)] * (1 + 1e-6));
}
