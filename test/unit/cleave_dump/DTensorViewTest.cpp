// --dtensor: placements of DTensors, and layouts that they cannot have.
#include "SmallPlan.h"

#include "tools/cleave-dump/Views.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace cleave;
using nlohmann::json;

// The small plan with mesh axes of these sizes, and the parameter h.0.w of `rows` rows in the
// layout [axes, _].
static plan::Plan planWith(const std::vector<uint32_t> &sizes, int64_t rows,
                           const std::vector<uint32_t> &axes) {
  plan::Plan plan = smallPlan();
  plan.clear_mesh();
  for (uint32_t size : sizes) {
    plan::MeshAxis &axis = *plan.add_mesh();
    axis.set_name(std::string(1, char('a' + plan.mesh_size() - 1))), axis.set_size(size);
  }
  plan::Tensor &tensor = *plan.mutable_tensors(1);
  tensor.set_shape(0, rows);
  tensor.mutable_sharding(0)->mutable_axes()->Assign(axes.begin(), axes.end());
  return plan;
}

static json placementsOf(const plan::Plan &plan) {
  return json::parse(dump::dtensorView(plan).text)["parameters"]["h.0.w"]["placements"];
}

TEST_CASE("a mesh axis has the placement of the dim that it splits") {
  const json view = json::parse(dump::dtensorView(smallPlan()).text);
  CHECK(view["mesh"] == json({{"dim_names", {"dp", "tp"}}, {"shape", {2, 2}}}));
  CHECK(view["inputs"]["x"]["placements"] == json({"Shard(0)", "Replicate()"}));
  CHECK(view["parameters"]["h.0.w"]["placements"] == json({"Replicate()", "Replicate()"}));
  CHECK(view["states"]["h.0.w.momentum"]["dtype"] == "float32");
  CHECK(view["not_expressible"].empty());
}

TEST_CASE("axes that split a dim in another order than that of the mesh are strided") {
  CHECK(placementsOf(planWith({2, 4}, 16, {0, 1})) == json({"Shard(0)", "Shard(0)"}));
  CHECK(placementsOf(planWith({2, 4}, 16, {1, 0})) ==
        json({"_StridedShard(0, split_factor=4)", "Shard(0)"}));
  CHECK(placementsOf(planWith({2, 2, 4}, 16, {2, 1, 0})) ==
        json({"_StridedShard(0, split_factor=8)", "_StridedShard(0, split_factor=4)", "Shard(0)"}));
  CHECK(placementsOf(planWith({1, 4}, 16, {1, 0})) == json({"Replicate()", "Shard(0)"}));
}

TEST_CASE("uneven blocks are expressible where both divide alike") {
  CHECK(placementsOf(planWith({4}, 5, {0})) == json({"Shard(0)"}));
  // 7 rows: blocks of 2, 2, 2, 1, as of 4 and 3 rows, each divided in two.
  CHECK(placementsOf(planWith({2, 2}, 7, {0, 1})) == json({"Shard(0)", "Shard(0)"}));
  // 5 rows: blocks of 2, 2, 1, 0; DTensor has 2, 1, 1, 1.
  for (const std::vector<uint32_t> &axes : {std::vector<uint32_t>{0, 1}, {1, 0}}) {
    const dump::Exported view = dump::dtensorView(planWith({2, 2}, 5, axes));
    const json read = json::parse(view.text);
    CHECK_FALSE(read["parameters"].contains("h.0.w"));
    REQUIRE(read["not_expressible"].size() == 1);
    CHECK(read["not_expressible"][0]["name"] == "h.0.w");
    REQUIRE(view.missing.size() == 1);
    CHECK_THAT(view.missing[0], Catch::Contains("h.0.w: [") && Catch::Contains("dim 0 has 5"));
  }
}

TEST_CASE("placements are of one stage, and a tensor names its stages") {
  plan::Plan plan = planWith({2, 2}, 16, {1});
  plan.mutable_mesh(0)->set_name("stage");
  const json view = json::parse(dump::dtensorView(plan).text)["parameters"]["h.0.w"];
  CHECK(view["placements"] == json({"Shard(0)"}));
  CHECK(view["stages"] == json({0, 1}));
  plan.mutable_programs(0)->clear_ranks();
  plan.mutable_programs(0)->add_ranks(3);
  CHECK(json::parse(dump::dtensorView(plan).text)["parameters"]["h.0.w"]["stages"] == json({1}));
}
