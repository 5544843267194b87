// Rank 0 collects the sharded outputs of several ranks.
#include "test/unit/small_plans/PlanBuilder.h"
#include "test/unit/small_plans/RunRanks.h"

#include "runtime/data/ArrayFile.h"
#include "runtime/executor/OutputCollector.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <unistd.h>

using namespace cleave;
using namespace cleave::executor;

TEST_CASE(
    "outputs sharded on both dims come together, without padding and beyond-the-end samples") {
  PlanBuilder builder({2, 2});
  int x = builder.tensor("x", plan::INPUT, {3, 5}, {{0}, {1}});
  int y = builder.tensor("y", plan::OUTPUT, {3, 5}, {{0}, {1}});
  uint32_t bx = builder.buffer("x", plan::INPUT, {2, 3}, x);
  uint32_t by = builder.buffer("y", plan::OUTPUT, {2, 3}, y);
  builder.load(bx);
  plan::Copy *copy = builder.add("copy")->mutable_copy();
  copy->set_from(bx), copy->set_to(by);
  builder.store(by);
  const plan::Plan &plan = builder.finish();
  FormulaData data(plan, [](size_t, int64_t element, int64_t step, int64_t) {
    return float(100 * step + element);
  });
  ExecutorOptions options;
  options.keepOutputs = true;
  std::string path = "outputs-test." + std::to_string(::getpid()) + ".npz";
  Status status = runRanks(plan, &data, options, [&](Executor &executor, comm::World &world) {
    auto group = world.connect({0, 1, 2, 3});
    CLEAVE_TRY(group.status());
    OutputCollector collector(plan, **group);
    for (int64_t step = 0; step < 2; ++step) {
      CLEAVE_TRY(executor.step(step));
      CLEAVE_TRY(collector.add(executor.storedOutputs()));
    }
    return world.rank() == 0 ? collector.write(path, 5, 3) : Status::ok();
  });
  INFO(status.message());
  REQUIRE(status);
  auto file = data::ArrayFile::open(path);
  std::remove(path.c_str());
  REQUIRE(file);
  const data::ArrayView *array = (*file)->find("y");
  REQUIRE(array);
  CHECK(array->shape == std::vector<int64_t>{5, 5});
  for (int i = 0; i < 25; ++i)
    CHECK(array->at<float>(i) == float(i < 15 ? i : 100 + i - 15));
}
