// Parts of recipes: their grammar, the mesh that they ask for, and what axes do under them.
#include "compiler/planner/choices/Recipe.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using Splits = AxisRole::Splits;

namespace {

Recipe recipe(const std::string &text) {
  Result<std::optional<Recipe>> found = Recipe::parse(text);
  INFO(text << (found.isOk() ? "" : found.status().message()));
  REQUIRE(found.isOk());
  REQUIRE(found->has_value());
  return **found;
}

std::string mesh(const std::string &text, int64_t ranks = 64, int64_t nodeRanks = 8) {
  return recipe(text).defaultMesh(ranks, nodeRanks)->str();
}

// The roles of the axes as text, such as `samples fsdp, weights`.
std::string roles(const std::string &text, const std::string &axes) {
  const Mesh mesh = *Mesh::parse(axes);
  std::string found;
  for (int axis = 0; axis < static_cast<int>(mesh.axes.size()); ++axis) {
    const AxisRole role = recipe(text).roleOf(mesh, axis);
    const char *const storages[] = {"dp", "zero1", "zero2", "zero3", "fsdp"};
    found += found.empty() ? "" : ", ";
    found += role.splits == Splits::Weights     ? "weights"
             : role.splits == Splits::Sequences ? "sequences "
                                                : "samples ";
    if (role.splits != Splits::Weights)
      found += storages[static_cast<size_t>(role.storage)];
  }
  return found;
}

std::string problem(const std::string &text, const std::string &axes) {
  return recipe(text).check(*Mesh::parse(axes)).message();
}

} // namespace

TEST_CASE("the mesh of a recipe has an axis per part, with the given sizes") {
  CHECK(mesh("dp") == "dp=64");
  CHECK(mesh("megatron") == "tp=64");
  CHECK(mesh("tp:8") == "dp=8,tp=8");
  CHECK(mesh("megatron+zero1") == "dp=8,tp=8");
  CHECK(mesh("fsdp+tp:4") == "dp=16,tp=4");
  CHECK(mesh("tp:4+fsdp") == "dp=16,tp=4"); // in any order
  CHECK(mesh("hsdp") == "replicate=8,shard=8");
  CHECK(mesh("hsdp+tp:2") == "replicate=8,shard=4,tp=2");
  CHECK(mesh("hsdp:16+tp:2") == "replicate=2,shard=16,tp=2");
  CHECK(mesh("fsdp+cp:4+tp:2") == "dp=8,cp=4,tp=2");
  CHECK(mesh("cp+tp:2") == "cp=32,tp=2");
  CHECK(mesh("cp:2+tp:2") == "dp=16,cp=2,tp=2");
  CHECK(mesh("sp") == "tp=64");
  CHECK(mesh("dp+megatron+sp:2") == "dp=32,tp=2");
  CHECK(mesh("megatron+zero1", 4, 4) == "dp=1,tp=4");
  CHECK_FALSE(Recipe().defaultMesh(4, 4).has_value());
}

TEST_CASE("each part has an axis, by its name or else the last one that is left") {
  CHECK(roles("zero1+tp", "dp=2,tp=2") == "samples zero1, weights");
  CHECK(roles("zero1+tp", "tp=2,dp=2") == "weights, samples zero1");
  CHECK(roles("fsdp+tp", "a=2,b=2") == "samples fsdp, weights");
  CHECK(roles("megatron", "a=2,b=2") == "samples dp, weights");
  CHECK(roles("fsdp+cp+tp", "dp=2,cp=2,tp=2") == "samples fsdp, sequences fsdp, weights");
  CHECK(roles("cp", "a=2,b=2") == "samples dp, sequences dp");
  CHECK(roles("hsdp+tp", "replicate=2,shard=2,tp=2") == "samples dp, samples fsdp, weights");
  CHECK(roles("zero3", "a=2,b=2") == "samples zero3, samples zero3");
}

TEST_CASE("texts that are not recipes, and parts that contradict each other") {
  for (const char *text : {"", "zero4", "dp+zero4", "rules.json", "dp+"}) {
    INFO(text);
    Result<std::optional<Recipe>> found = Recipe::parse(text);
    REQUIRE(found.isOk());
    CHECK_FALSE(found->has_value());
  }
  CHECK(Recipe::parse("dp+fsdp").status().message() ==
        "the pins dp+fsdp contradict each other: expected at most one part for samples");
  CHECK(Recipe::parse("tp+megatron").status().message() ==
        "the pins tp+megatron contradict each other: expected at most one part for weights");
  CHECK(Recipe::parse("cp:2+cp:2").status().message() ==
        "the pins cp:2+cp:2 contradict each other: expected at most one part for sequences");
  for (const char *text : {"tp:0", "tp:-2", "tp:x", "tp:", "tp:2x"}) {
    INFO(text);
    CHECK(Recipe::parse(text).status().message() ==
          "the size of a part of the pin " + std::string(text) +
              " is malformed: expected a positive number, such as tp:8, found " + text);
  }
}

TEST_CASE("a mesh has the axes and sizes that the recipe names") {
  CHECK(problem("fsdp+tp:2", "dp=4,tp=2").empty());
  CHECK(problem("fsdp:4+tp:2", "dp=4,tp=2").empty());
  CHECK(problem("fsdp+tp:2", "dp=2,tp=4") ==
        "the pin fsdp+tp:2 gives the axis tp 2 ranks, but the mesh dp=2,tp=4 4: make --pin and "
        "--mesh agree");
  CHECK(problem("fsdp:2+tp", "dp=4,tp=2") ==
        "the pin fsdp:2+tp splits samples over 2 ranks, but the mesh dp=4,tp=2 over 4: make --pin "
        "and --mesh agree");
  CHECK(problem("cp+tp", "tp=4") ==
        "the pin cp+tp needs an axis cp, but the mesh tp=4 has none left: give another --mesh");
}
