// Coordinates, groups and blocks on a 2 x 3 mesh.
#include "runtime/artifact/Mesh.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::artifact;

static plan::Plan twoByThree() {
  plan::Plan plan;
  plan::MeshAxis *dp = plan.add_mesh(), *tp = plan.add_mesh();
  dp->set_name("dp"), dp->set_size(2);
  tp->set_name("tp"), tp->set_size(3);
  return plan;
}

TEST_CASE("a plan keeps the mesh") {
  const Mesh mesh = meshOf(twoByThree());
  CHECK(mesh.str() == "dp=2,tp=3");
  plan::Plan plan = twoByThree();
  setMesh(Mesh{{{"a", 4}}}, plan);
  CHECK(meshOf(plan).str() == "a=4");
}

TEST_CASE("the first mesh axis is major in the rank") {
  plan::Plan plan = twoByThree();
  CHECK(rankCount(plan) == 6);
  CHECK(coordinatesOf(plan, 4) == std::vector<uint32_t>{1, 1});
  CHECK(coordinatesOf(plan, 2) == std::vector<uint32_t>{0, 2});
}

TEST_CASE("a group is ordered by its axes, the first of them major") {
  plan::Plan plan = twoByThree();
  const uint32_t dp[] = {0}, tp[] = {1}, both[] = {0, 1}, turned[] = {1, 0};
  CHECK(groupOf(plan, 4, dp) == std::vector<uint32_t>{1, 4});
  CHECK(groupOf(plan, 4, tp) == std::vector<uint32_t>{3, 4, 5});
  CHECK(groupOf(plan, 4, both) == std::vector<uint32_t>{0, 1, 2, 3, 4, 5});
  CHECK(groupOf(plan, 4, turned) == std::vector<uint32_t>{0, 3, 1, 4, 2, 5});
  CHECK(groupOf(plan, 4, {}) == std::vector<uint32_t>{4});
}

TEST_CASE("uneven blocks are padded at the end") {
  plan::Plan plan = twoByThree();
  plan::Tensor tensor;
  tensor.add_shape(7), tensor.add_shape(5);
  tensor.add_sharding()->add_axes(1);
  tensor.add_sharding();
  RankBlock last = blockOf(plan, tensor, 5);
  CHECK(last.begin == std::vector<int64_t>{6, 0});
  CHECK(last.extent == std::vector<int64_t>{1, 5});
  CHECK(last.shape == std::vector<int64_t>{3, 5});
  CHECK(last.elements() == 15);
}

TEST_CASE("a rank beyond the end of a small dim has padding only") {
  plan::Plan plan = twoByThree();
  plan::Tensor tensor;
  tensor.add_shape(4);
  plan::DimSharding *dim = tensor.add_sharding();
  dim->add_axes(1), dim->add_axes(0);            // 6 parts of 1
  CHECK(blockOf(plan, tensor, 4).begin[0] == 3); // tp 1, dp 1 -> part 3
  RankBlock beyond = blockOf(plan, tensor, 5);   // tp 2, dp 1 -> part 5
  CHECK(beyond.extent[0] == 0);
  CHECK(beyond.shape[0] == 1);
}
