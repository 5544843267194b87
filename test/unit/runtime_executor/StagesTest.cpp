// A plan whose ranks run different programs, in two spaces of memory: through the verifier, the
// views of cleave-dump, the predicted timeline and the executor.
#include "compiler/schedule/Simulate.h"
#include "compiler/schedule/plan/PlanTimeline.h"
#include "runtime/artifact/Programs.h"
#include "runtime/artifact/Verify.h"
#include "runtime/executor/Trace.h"
#include "test/unit/small_plans/RunRanks.h"
#include "tools/cleave-dump/Views.h"

#include <catch2/catch.hpp>
#include <google/protobuf/text_format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <mutex>

using namespace cleave;
using Catch::Matchers::Contains;

namespace {

// Two micro-batches of two stages. Rank 0 computes h = x w, keeps it in host memory for a while,
// and sends it to rank 1. Rank 1 has the parameter v in host memory, copies it to the device, and
// computes z = h v.
const char *const kPlan = R"(
  device: "cpu" mesh { name: "stage" size: 2 }
  tensors { name: "x" dtype: F32 shape: [2, 3] role: INPUT sharding {} sharding {} }
  tensors { name: "w" dtype: F32 shape: [3, 3] role: PARAMETER sharding {} sharding {} source { fill: 2 } }
  tensors { name: "v" dtype: F32 shape: [3, 3] role: PARAMETER sharding {} sharding {} source { fill: 0.5 } }
  tensors { name: "z" dtype: F32 shape: [2, 3] role: OUTPUT sharding {} sharding {} }
  programs {
    name: "stage 0" ranks: 0
    arenas { space: DEVICE bytes: 152 peak_bytes: 192 } arenas { space: HOST bytes: 24 peak_bytes: 64 }
    buffers { name: "x" offset: 0 bytes: 24 dtype: F32 shape: [2, 3] role: INPUT first: 0 last: 1 tensor: 0 }
    buffers { name: "w" offset: 64 bytes: 36 dtype: F32 shape: [3, 3] role: PARAMETER first: 0 last: 4 tensor: 1 }
    buffers { name: "h" offset: 128 bytes: 24 dtype: F32 shape: [2, 3] role: ACTIVATION first: 1 last: 2 tensor: -1 }
    buffers { name: "kept" arena: 1 bytes: 24 dtype: F32 shape: [2, 3] role: ACTIVATION first: 2 last: 3 tensor: -1 }
    buffers { name: "back" offset: 0 bytes: 24 dtype: F32 shape: [2, 3] role: ACTIVATION first: 3 last: 4 tensor: -1 }
    segments {
      name: "forward"
      instructions { name: "x" load_input { buffer: 0 } }
      instructions { name: "h" seconds: 0.004 matmul { m: 2 n: 3 k: 3 lhs { buffer: 0 strides: [3, 1] }
                     rhs { buffer: 1 strides: [3, 1] } out { buffer: 2 strides: [3, 1] } } }
      instructions { name: "offload" seconds: 0.001 copy { from: 2 to: 3 } }
      instructions { name: "fetch" seconds: 0.001 copy { from: 3 to: 4 } }
      instructions { name: "send" seconds: 0.002 collective { kind: SEND axes: 0 peer: 1 send: 4 } }
    }
    schedule { slot: 0 } schedule { slot: 1 }
  }
  programs {
    name: "stage 1" ranks: 1
    arenas { space: DEVICE bytes: 152 peak_bytes: 192 } arenas { space: HOST bytes: 36 peak_bytes: 64 }
    buffers { name: "h" offset: 0 bytes: 24 dtype: F32 shape: [2, 3] role: ACTIVATION first: 0 last: 2 tensor: -1 }
    buffers { name: "v" arena: 1 bytes: 36 dtype: F32 shape: [3, 3] role: PARAMETER first: 0 last: 3 tensor: 2 }
    buffers { name: "resident" offset: 64 bytes: 36 dtype: F32 shape: [3, 3] role: ACTIVATION first: 1 last: 2 tensor: -1 }
    buffers { name: "z" offset: 128 bytes: 24 dtype: F32 shape: [2, 3] role: OUTPUT first: 2 last: 3 tensor: 3 }
    segments {
      name: "forward"
      instructions { name: "recv" seconds: 0.002 collective { kind: RECV axes: 0 peer: 0 recv: 0 } }
      instructions { name: "prefetch" seconds: 0.001 copy { from: 1 to: 2 } }
      instructions { name: "z" seconds: 0.004 matmul { m: 2 n: 3 k: 3 lhs { buffer: 0 strides: [3, 1] }
                     rhs { buffer: 2 strides: [3, 1] } out { buffer: 3 strides: [3, 1] } } }
      instructions { name: "z" store_output { buffer: 3 } }
    }
    schedule { slot: 0 } schedule { slot: 1 }
  }
)";

plan::Plan stages() {
  plan::Plan plan;
  REQUIRE(google::protobuf::TextFormat::ParseFromString(kPlan, &plan));
  return plan;
}

float inputOf(size_t, int64_t element, int64_t step, int64_t slot) {
  return float(element + 10 * slot + 100 * step);
}

// The elements of z = x w v: each is 0.5 * 2 * 3 = 3 times the sum of its row of x.
std::vector<float> expected(int64_t step, int64_t slot) {
  std::vector<float> z;
  for (int64_t row = 0; row < 2; ++row) {
    float sum = 0;
    for (int64_t column = 0; column < 3; ++column)
      sum += inputOf(0, 3 * row + column, step, slot);
    z.insert(z.end(), 3, 3 * sum);
  }
  return z;
}

std::vector<float> floatsOf(const std::vector<char> &block) {
  std::vector<float> values(block.size() / sizeof(float));
  std::memcpy(values.data(), block.data(), values.size() * sizeof(float));
  return values;
}

} // namespace

TEST_CASE("stages: different programs in two spaces are verified, and so is what they exchange") {
  plan::Plan plan = stages();
  CHECK(artifact::verifyPlan(plan).message() == "");
  plan.mutable_programs(1)->mutable_schedule()->RemoveLast();
  CHECK_THAT(artifact::verifyPlan(plan).message(), Contains("deadlock: rank 0"));
}

TEST_CASE("stages: cleave-dump shows each program and each space") {
  const plan::Plan plan = stages();
  CHECK_THAT(dump::summary(plan, "p"), Contains("the verifier found no defect"));
  const std::string memory = dump::memoryView(plan);
  for (const char *place : {"device memory of ranks 0", "host memory of ranks 0",
                            "device memory of ranks 1", "host memory of ranks 1"})
    CHECK_THAT(memory, Contains(place));
  CHECK_THAT(*dump::programView(plan, 0), Contains("offload") && !Contains("prefetch"));
  CHECK_THAT(*dump::programView(plan, 1), Contains("prefetch") && !Contains("offload"));
  const nlohmann::json json = nlohmann::json::parse(dump::json(plan));
  REQUIRE(json["programs"].size() == 2);
  CHECK(json["programs"][1]["name"] == "stage 1");
  CHECK(json["programs"][1]["ranks"] == nlohmann::json({1}));
  CHECK_THAT(dump::htmlView(plan, "p"), Contains("stage 0") && Contains("prefetch"));
  CHECK_THAT(*dump::traceView(plan), Contains("offload") && Contains("prefetch"));
}

TEST_CASE("stages: the second stage waits for the first one, and then both work at a time") {
  const schedule::PlanTimeline step = schedule::timelineOf(stages(), schedule::TimelineForm::Full);
  Result<schedule::Simulation> simulation = schedule::simulate(step.timeline);
  REQUIRE(simulation);
  // 8 ms to the end of the first message, 8 ms to that of the second, 5 ms of the second stage.
  CHECK(simulation->seconds == Approx(0.021));
  std::vector<schedule::SpaceKind> kinds;
  for (const schedule::Space &space : step.timeline.spaces)
    kinds.push_back(space.kind);
  CHECK(std::ranges::count(kinds, schedule::SpaceKind::Host) == 2);
  CHECK(std::ranges::count(kinds, schedule::SpaceKind::Device) == 2);
}

TEST_CASE("stages: ranks run their programs, in exactly the planned memory of both spaces") {
  const plan::Plan plan = stages();
  FormulaData data(plan, inputOf);
  executor::ExecutorOptions options;
  options.keepOutputs = true;
  options.profiledSteps = 1;
  options.checked = GENERATE(false, true);
  std::mutex mutex;
  std::vector<std::vector<float>> found;
  Status status = runRanks(
      plan, &data, options, [&](executor::Executor &executor, comm::World &world) -> Status {
        for (int64_t step : {0, 1})
          CLEAVE_TRY(executor.step(step));
        std::lock_guard lock(mutex);
        uint64_t bytes = 0;
        for (const plan::Arena &arena : artifact::stepOf(plan, uint32_t(world.rank())).arenas())
          bytes += arena.bytes();
        CHECK(executor.memory().planned == bytes);
        CHECK(executor.memory().allocated == bytes);
        CHECK(executor.memoryRanges().size() == 2);
        CHECK_THAT(executor::traceEvents(plan, uint32_t(world.rank()), *executor.profile()),
                   Contains(world.rank() == 0 ? "offload" : "prefetch"));
        for (const executor::StoredOutput &output : executor.storedOutputs())
          found.push_back(floatsOf(output.block));
        return Status::ok();
      });
  CHECK(status.message() == "");
  CHECK(found == std::vector{expected(1, 0), expected(1, 1)});
}
