// The options of a plan: which meshes they search, and who names the axes.
#include "compiler/planner/search/PlannerOptions.h"
#include "compiler/planner/choices/Meshes.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;

TEST_CASE("without a mesh all of one and two axes are tried") {
  PlannerOptions options;
  options.ranks = 8;
  std::vector<std::string> names;
  for (const Mesh &mesh : meshesToTry(options))
    names.push_back(mesh.str());
  CHECK(names == std::vector<std::string>{"x=8", "x=4,y=2", "x=2,y=4"});
}

TEST_CASE("a mesh that is given, or one that pins have, is the only one") {
  PlannerOptions options;
  options.ranks = 8;
  options.pins = *Pins::parse("fsdp+tp:2");
  REQUIRE(meshesToTry(options).size() == 1);
  CHECK(meshesToTry(options)[0].ranks() == 8);
  CHECK_FALSE(namesByUse(options));
  options.mesh = *Mesh::parse("a=2,b=4");
  REQUIRE(meshesToTry(options).size() == 1);
  CHECK(meshesToTry(options)[0].str() == "a=2,b=4");
}

TEST_CASE("a mesh of the search's own has axes that are named by what the plan splits") {
  PlannerOptions options;
  options.ranks = 4;
  const Mesh mesh = *Mesh::parse("x=4");
  CHECK(onMesh(options, mesh).isOwnMesh);
  CHECK(onMesh(onMesh(options, mesh), mesh).isOwnMesh);
  options.mesh = mesh; // which the user gave
  CHECK_FALSE(onMesh(options, mesh).isOwnMesh);
}
