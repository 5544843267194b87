// The plan that IR with decisions describes.
#include "passes/driver/PlanOfIr.h"

#include "test/unit/driver/TextFile.h"

#include <catch2/catch.hpp>

using namespace cleave;
using Catch::Matchers::Contains;
using cleave::test::TextFile;

// A step on two ranks whose second argument has this role.
static std::string stepWith(const std::string &role, const std::string &attributes) {
  return "module attributes {" + attributes + R"(} {
  func.func @step(%x: tensor<8x4xf32> {graph.name = "x", graph.role = "input", mesh.sharding = #mesh.sharding<[{dp}, {}]>},
                  %w: tensor<f64> {graph.name = "w", graph.role = ")" +
         role + R"(", graph.source = {fill = 1.0 : f64}})
      -> (tensor<8x4xf32> {graph.name = "y", graph.role = "output"}) {
    return %x : tensor<8x4xf32>
  }
})";
}

static Result<plan::Plan>
planOf(const std::string &role,
       const std::string &attributes = "mesh.mesh = #mesh.mesh<[dp = 2]>") {
  return driver::planOfIr(TextFile(stepWith(role, attributes)).path());
}

TEST_CASE("mesh, tensors and layouts of a planned step are those of its IR") {
  Result<plan::Plan> plan = planOf("parameter");
  REQUIRE(plan);
  REQUIRE(plan->mesh_size() == 1);
  CHECK(plan->mesh(0).name() == "dp");
  CHECK(plan->mesh(0).size() == 2);
  REQUIRE(plan->tensors_size() == 2);
  CHECK(plan->tensors(0).name() == "x");
  CHECK(plan->tensors(0).role() == plan::INPUT);
  REQUIRE(plan->tensors(0).sharding_size() == 2);
  CHECK(plan->tensors(0).sharding(0).axes_size() == 1);
  CHECK(plan->tensors(0).sharding(1).axes_size() == 0);
  CHECK_FALSE(plan->trains());
}

TEST_CASE("a tensor has the role of its argument") {
  const std::pair<const char *, plan::Role> roles[] = {{"parameter", plan::PARAMETER},
                                                       {"state", plan::STATE},
                                                       {"constant", plan::CONSTANT},
                                                       {"hyperparameter", plan::HYPERPARAMETER},
                                                       {"label", plan::INPUT}};
  for (auto [name, role] : roles) {
    Result<plan::Plan> plan = planOf(name);
    REQUIRE(plan);
    CHECK(plan->tensors(1).role() == role);
    CHECK(plan->tensors(1).is_label() == (std::string(name) == "label"));
  }
}

TEST_CASE("an unknown role and IR without a mesh are the user's mistakes") {
  CHECK_THAT(planOf("weight").status().message(),
             Contains("argument 'w' has the graph.role 'weight', expected input, label, received, "
                      "parameter, state, constant or hyperparameter"));
  CHECK_THAT(planOf("parameter", "").status().message(), Contains("found no mesh"));
}
