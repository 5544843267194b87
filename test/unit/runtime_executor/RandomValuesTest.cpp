// Random first values: they do not depend on the ranks and have the requested width.
#include "runtime/executor/TensorLoader.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace cleave;
using namespace cleave::executor;

namespace {

// Two ranks on one axis; a tensor whose second dim is split or not.
plan::Plan planOf(std::vector<int64_t> shape, bool isSplit, plan::RandomValues::Distribution kind,
                  double scale) {
  plan::Plan plan;
  plan.add_mesh()->set_size(2);
  plan::Tensor *tensor = plan.add_tensors();
  tensor->set_name("w"), tensor->set_dtype(plan::F32), tensor->set_role(plan::PARAMETER);
  for (int64_t size : shape)
    tensor->add_shape(size), tensor->add_sharding();
  if (isSplit)
    tensor->mutable_sharding(1)->add_axes(0);
  tensor->mutable_source()->mutable_random()->set_distribution(kind);
  tensor->mutable_source()->mutable_random()->set_scale(scale);
  return plan;
}

std::vector<float> drawn(const plan::Plan &plan, uint32_t rank, size_t count, uint64_t seed = 0) {
  std::vector<float> values(count, -1);
  Status status = TensorLoader(plan, "", seed).load(plan.tensors(0), rank, values.data());
  INFO(status.message());
  REQUIRE(status.isOk());
  return values;
}

TEST_CASE("the ranks' blocks are the blocks of one rank's random tensor") {
  std::vector<int64_t> shape = {3, 5, 2};
  std::vector<float> whole = drawn(planOf(shape, false, plan::RandomValues::NORMAL, 1), 0, 30);
  plan::Plan split = planOf(shape, true, plan::RandomValues::NORMAL, 1);
  for (uint32_t rank = 0; rank < 2; ++rank) {
    std::vector<float> block = drawn(split, rank, 18); // 3 x 3 x 2, the last one padded
    for (size_t i = 0; i < 3; ++i)
      for (size_t j = 0; j < 3; ++j)
        for (size_t k = 0; k < 2; ++k) {
          size_t column = rank * 3 + j;
          CHECK(block[(i * 3 + j) * 2 + k] == (column < 5 ? whole[(i * 5 + column) * 2 + k] : 0));
        }
  }
}

TEST_CASE("a large tensor is drawn in pieces, and has no other values than its blocks") {
  const std::vector<int64_t> shape = {301, 6, 100}; // several pieces, the last one shorter
  const std::vector<float> whole =
      drawn(planOf(shape, false, plan::RandomValues::NORMAL, 1), 0, 301 * 600);
  const plan::Plan split = planOf(shape, true, plan::RandomValues::NORMAL, 1);
  for (uint32_t rank = 0; rank < 2; ++rank) {
    const std::vector<float> block = drawn(split, rank, 301 * 300);
    for (size_t i = 0; i < 301; ++i)
      REQUIRE(std::equal(&block[i * 300], &block[i * 300] + 300, &whole[i * 600 + rank * 300]));
  }
}

TEST_CASE("normal and uniform values have the expected mean and width") {
  constexpr size_t kCount = 100000;
  for (auto kind : {plan::RandomValues::NORMAL, plan::RandomValues::UNIFORM}) {
    std::vector<float> values = drawn(planOf({100, 1000}, false, kind, 0.02), 0, kCount);
    double sum = 0, squares = 0, largest = 0;
    for (float value : values) {
      sum += value;
      squares += double(value) * value;
      largest = std::max(largest, std::abs(double(value)));
    }
    double width = kind == plan::RandomValues::NORMAL ? 0.02 : 0.02 / std::sqrt(3.0);
    CHECK(std::abs(sum / kCount) < 5 * width / std::sqrt(double(kCount)));
    CHECK(std::sqrt(squares / kCount) == Approx(width).epsilon(0.02));
    CHECK((largest <= 0.02) == (kind == plan::RandomValues::UNIFORM));
  }
}

TEST_CASE("values depend on the seed and on the tensor's name") {
  plan::Plan plan = planOf({4, 4}, false, plan::RandomValues::NORMAL, 1);
  std::vector<float> values = drawn(plan, 0, 16);
  CHECK(drawn(plan, 1, 16) == values);
  CHECK(drawn(plan, 0, 16, 1) != values);
  plan.mutable_tensors(0)->set_name("v");
  CHECK(drawn(plan, 0, 16) != values);
}

TEST_CASE("a random scalar is filled") {
  plan::Plan plan = planOf({}, false, plan::RandomValues::UNIFORM, 1);
  float value = drawn(plan, 0, 1)[0];
  CHECK(std::abs(value) < 1);
  CHECK(value != 0);
}

} // namespace
