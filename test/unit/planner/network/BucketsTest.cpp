// Reductions that are one call: which, and what they save.
#include "compiler/planner/network/Buckets.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

#include <map>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

// The buckets of the sums of gradients; -1: none.
static std::vector<int> bucketsOfSums(const StepModel &model, const Decisions &plan) {
  std::vector<int> buckets;
  for (size_t i = 0; i < model.ops.size(); ++i)
    if (model.ops[i].isAccumulate)
      buckets.push_back(plan.ops[i].buckets.empty() ? -1 : plan.ops[i].buckets[0]);
  return buckets;
}

TEST_CASE("reductions that only the update reads are one call, up to the size of a bucket") {
  const StepModel small = trainingModel(512, 64, 64);
  CHECK(bucketsOfSums(small, plannedBy(small, "dp", 4)) == std::vector<int>{0, 0});
  CHECK(bucketsOfSums(small, plannedBy(small, "dp", 1)) == std::vector<int>{-1, -1});
  const StepModel large = trainingModel(512, 2048, 4096); // 32 MiB each
  CHECK(bucketsOfSums(large, plannedBy(large, "dp", 4)) == std::vector<int>{-1, -1});
}

TEST_CASE("parts of a stage reduce by calls of their own") {
  StepModel model = trainingModel(512, 64, 64);
  int part = 0;
  for (Op &op : model.ops)
    if (op.isAccumulate)
      op.stagePart = ++part;
  CHECK(bucketsOfSums(model, plannedBy(model, "dp", 4)) == std::vector<int>{-1, -1});
}

TEST_CASE("a bucket saves what its members take one by one but not together") {
  StepModel model = trainingModel(512, 64, 64);
  PlanReport plan = plannedBy(model, "dp", 4);
  Costs costs(model, h100Node(), plan.mesh);
  const double joined = secondsOf(costs, plan);
  CHECK(plan.seconds == Approx(joined));
  CHECK(plan.boundSeconds <= plan.seconds);
  int members = 0;
  double bytes = 0, apart = 0;
  for (size_t i = 0; i < plan.ops.size(); ++i) {
    const OpChoice choice = choiceOf(model.ops[i], plan.ops[i]);
    for (size_t k = 0; k < plan.ops[i].buckets.size(); ++k)
      if (plan.ops[i].buckets[k] == 0) {
        auto step = costs.joinable(model.ops[i].results[k], choice.natural[k], choice.results[k]);
        REQUIRE(step);
        ++members;
        bytes += step->bytes;
        apart += step->seconds;
      }
    plan.ops[i].buckets.clear();
  }
  REQUIRE(members >= 2);
  CHECK(secondsOf(costs, plan) - joined == Approx(apart - costs.allReduce({0}, bytes)));
  CHECK(apart > costs.allReduce({0}, bytes));
}

TEST_CASE("the members of a bucket fit it, share their axes, and are made before any is read") {
  for (int64_t width : {64, 256, 1024}) {
    const StepModel model = trainingModel(512, width, 2 * width);
    for (const char *pins : {"dp", "zero1", "megatron"}) {
      PlanReport plan = plannedBy(model, pins, 4);
      Costs costs(model, h100Node(), plan.mesh);
      assignBuckets(costs, plan);
      std::map<int, double> bytes;
      std::map<int, int> firstRead, lastMade, members;
      std::map<int, std::vector<int>> axes;
      for (int i = 0; i < static_cast<int>(plan.ops.size()); ++i) {
        const OpChoice choice = choiceOf(model.ops[i], plan.ops[i]);
        for (size_t k = 0; k < plan.ops[i].buckets.size(); ++k) {
          const int bucket = plan.ops[i].buckets[k];
          if (bucket < 0)
            continue;
          const int value = model.ops[i].results[k];
          const auto step = costs.joinable(value, choice.natural[k], choice.results[k]);
          REQUIRE(step);
          bytes[bucket] += step->bytes;
          ++members[bucket];
          lastMade[bucket] = i;
          const int reader = firstReader(model, model.values[value]);
          firstRead[bucket] =
              firstRead.contains(bucket) ? std::min(firstRead[bucket], reader) : reader;
          CHECK(axes.try_emplace(bucket, step->axes).first->second == step->axes);
        }
      }
      for (const auto &[bucket, count] : members) {
        CHECK(count >= 2);
        CHECK(bytes[bucket] <= static_cast<double>(kBucketBytes));
        CHECK(lastMade[bucket] < firstRead[bucket]);
      }
      CHECK(savedByBuckets(costs, plan) >= 0);
      CHECK((savedByBuckets(costs, plan) > 0) == !members.empty());
    }
  }
}
