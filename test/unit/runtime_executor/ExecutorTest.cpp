// Whole steps of hand-built plans, with several ranks as threads.
#include "test/unit/small_plans/PlanBuilder.h"
#include "test/unit/small_plans/RunRanks.h"

#include "runtime/artifact/KernelSignature.h"
#include "runtime/artifact/Verify.h"
#include "runtime/executor/Trace.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <nlohmann/json.hpp>

using namespace cleave;
using namespace cleave::executor;
using Catch::Matchers::Contains;

namespace {

// y = x * w with the contracted dim on the mesh axis, y summed over the ranks and stored.
PlanBuilder shardedMatmul(uint32_t ranks, bool inQueues) {
  PlanBuilder builder({ranks});
  int x = builder.tensor("x", plan::INPUT, {4, 6}, {{}, {0}});
  int w = builder.tensor("w", plan::PARAMETER, {6, 3}, {{0}, {}});
  int y = builder.tensor("y", plan::OUTPUT, {4, 3}, {{}, {}});
  std::vector<float> weights(18);
  for (size_t i = 0; i < 18; ++i)
    weights[i] = float(i) - 9;
  builder.plan().mutable_tensors(w)->mutable_source()->set_inline_data(weights.data(), 72);
  int64_t part = (6 + ranks - 1) / ranks;
  uint32_t bx = builder.buffer("x", plan::INPUT, {4, part}, x);
  uint32_t bw = builder.buffer("w", plan::PARAMETER, {part, 3}, w);
  uint32_t partial = builder.buffer("partial", plan::ACTIVATION, {4, 3});
  uint32_t by = builder.buffer("y", plan::OUTPUT, {4, 3}, y);
  builder.load(bx);
  builder.matmul(bx, bw, partial, 4, 3, part);
  plan::Instruction *instruction = builder.add("sum");
  instruction->mutable_collective()->add_axes(0);
  instruction->mutable_collective()->add_send(partial);
  instruction->mutable_collective()->add_recv(by);
  builder.store(by);
  if (inQueues) {
    instruction->set_queue(1), instruction->add_waits(1);
    builder.program().mutable_segments(0)->mutable_instructions(3)->add_waits(2);
  }
  return builder;
}

float valueOf(size_t, int64_t element, int64_t step, int64_t) { return float(element + step); }

std::vector<float> expectedProduct(int64_t step) {
  std::vector<float> y(12);
  for (int64_t m = 0; m < 4; ++m)
    for (int64_t n = 0; n < 3; ++n)
      for (int64_t k = 0; k < 6; ++k)
        y[size_t(m * 3 + n)] += valueOf(0, m * 6 + k, step, 0) * float(k * 3 + n - 9);
  return y;
}

} // namespace

TEST_CASE("a contraction split over ranks gives the whole product, evenly and unevenly") {
  for (uint32_t ranks : {1, 2, 3, 4})
    for (auto [inQueues, checked] : {std::pair{false, false}, {true, false}, {true, true}}) {
      INFO(ranks << " ranks, " << (inQueues ? "in queues" : "in one queue"));
      PlanBuilder builder = shardedMatmul(ranks, inQueues);
      const plan::Plan &plan = builder.finish();
      REQUIRE(artifact::verifyPlan(plan).message() == "");
      FormulaData data(plan, valueOf);
      ExecutorOptions options;
      options.keepOutputs = true, options.checked = checked;
      std::mutex mutex;
      Status status = runRanks(plan, &data, options, [&](Executor &executor, comm::World &) {
        for (int64_t step = 0; step < 3; ++step) {
          CLEAVE_TRY(executor.step(step));
          std::vector<float> y(12);
          const std::vector<char> &block = executor.storedOutputs().at(0).block;
          std::copy(block.begin(), block.end(), reinterpret_cast<char *>(y.data()));
          std::lock_guard lock(mutex);
          CHECK(y == expectedProduct(step));
        }
        return Status::ok();
      });
      CHECK(status.message() == "");
    }
}

TEST_CASE("allocated arena bytes are exactly the planned ones") {
  PlanBuilder builder = shardedMatmul(2, false);
  FormulaData data(builder.finish(), valueOf);
  CHECK(runRanks(builder.plan(), &data, {}, [&](Executor &executor, comm::World &) {
    MemoryNumbers memory = executor.memory();
    return memory.planned == memory.allocated &&
                   memory.planned == builder.program().arenas(0).bytes()
               ? Status::ok()
               : Status::defect("bytes differ");
  }));
}

TEST_CASE("the executor notes its position, which ends at the last instruction of a step") {
  PlanBuilder builder = shardedMatmul(1, false);
  const plan::Plan &plan = builder.finish();
  FormulaData data(plan, valueOf);
  std::atomic<uint64_t> position{0};
  ExecutorOptions options;
  options.position = &position;
  const plan::Program &program = plan.programs(0);
  int last = program.schedule_size() - 1;
  int instructions = program.segments(int(program.schedule(last).segment())).instructions_size();
  CHECK(runRanks(plan, &data, options, [&](Executor &executor, comm::World &) {
    CHECK(position == 0);
    CLEAVE_TRY(executor.step(0));
    CHECK(position == positionOf(size_t(last), size_t(instructions - 1)));
    return Status::ok();
  }));
}

TEST_CASE("a plan without data is rejected with the input's name") {
  PlanBuilder builder = shardedMatmul(1, false);
  Status status = runRanks(builder.finish(), nullptr, {},
                           [](Executor &, comm::World &) { return Status::ok(); });
  CHECK(status.exitCode() == 1);
  CHECK_THAT(status.message(), Contains("an input 'x'") && Contains("--data"));
}

TEST_CASE("descriptions of inputs have their vocabulary if the plan has it") {
  PlanBuilder builder({1});
  int tokens = builder.tensor("tokens", plan::INPUT, {8, 16}, {{}, {}}, plan::I64);
  builder.tensor("image", plan::INPUT, {8, 3}, {{}, {}});
  builder.plan().mutable_tensors(tokens)->set_vocabulary(50257);
  auto inputs = inputsOf(builder.plan());
  REQUIRE(inputs.size() == 2);
  CHECK(inputs[0].vocabulary == 50257);
  CHECK(inputs[0].dtype == DType::I64);
  CHECK(inputs[0].shape == std::vector<int64_t>{8, 16});
  CHECK_FALSE(inputs[1].vocabulary);
}

// Three micro-batches, each of which stores all rows of the step, split over the ranks.
static PlanBuilder allRows(uint32_t ranks) {
  PlanBuilder builder({ranks});
  builder.tensor("x", plan::INPUT, {2, 3}, {{}, {}});
  int all = builder.tensor("x/step", plan::INPUT, {6, 3}, {{0}, {}});
  builder.plan().mutable_tensors(all)->set_all_of("x");
  int y = builder.tensor("y", plan::OUTPUT, {6, 3}, {{0}, {}});
  const int64_t rows = (6 + ranks - 1) / ranks;
  uint32_t from = builder.buffer("x/step", plan::INPUT, {rows, 3}, all),
           to = builder.buffer("y", plan::OUTPUT, {rows, 3}, y);
  builder.load(from);
  plan::Copy *copy = builder.add("copy")->mutable_copy();
  copy->set_from(from), copy->set_to(to);
  builder.store(to);
  for (uint32_t slot : {1, 2})
    builder.program().add_schedule()->set_slot(slot);
  return builder;
}

TEST_CASE("an input of all micro-batches has the rows of each, in every one of them") {
  for (uint32_t ranks : {1, 2, 4}) {
    INFO(ranks << " ranks");
    PlanBuilder builder = allRows(ranks);
    const plan::Plan &plan = builder.finish();
    REQUIRE(artifact::verifyPlan(plan).message() == "");
    CHECK(inputsOf(plan).size() == 1);
    FormulaData data(plan, [](size_t input, int64_t element, int64_t step, int64_t slot) {
      return float(input == 0 ? element + 10 * slot + 100 * step : -1);
    });
    ExecutorOptions options;
    options.keepOutputs = true;
    Status status = runRanks(plan, &data, options, [&](Executor &executor, comm::World &world) {
      const int64_t rows = (6 + ranks - 1) / ranks;
      for (int64_t step = 0; step < 2; ++step) {
        CLEAVE_TRY(executor.step(step));
        for (const auto &output : executor.storedOutputs()) {
          std::vector<float> found(size_t(rows * 3));
          std::memcpy(found.data(), output.block.data(), found.size() * sizeof(float));
          for (int64_t i = 0; i < rows * 3; ++i) {
            const int64_t row = world.rank() * rows + i / 3, slot = row / 2;
            const float wanted =
                row < 6 ? float(row % 2 * 3 + i % 3 + 10 * slot + 100 * step) : 0.F;
            if (found[size_t(i)] != wanted)
              return Status::defect("row ", row, " has ", found[size_t(i)], ", not ", wanted);
          }
        }
      }
      return Status::ok();
    });
    CHECK(status.message() == "");
  }
}

// y = x, by way of a buffer in another space behind a link that takes at least 10 ms per copy.
static PlanBuilder copyThrough(plan::Space space) {
  PlanBuilder builder({1});
  const int x = builder.tensor("x", plan::INPUT, {4, 6}, {{}, {}}),
            y = builder.tensor("y", plan::OUTPUT, {4, 6}, {{}, {}});
  const uint32_t from = builder.buffer("x", plan::INPUT, {4, 6}, x),
                 to = builder.buffer("y", plan::OUTPUT, {4, 6}, y),
                 away = builder.buffer("x", plan::ACTIVATION, {4, 6});
  plan::Arena &device = *builder.program().mutable_arenas(0);
  plan::Arena &other = *builder.program().add_arenas();
  other.set_space(space), other.set_latency_seconds(0.01), other.set_bytes_per_second(1e12);
  plan::Buffer &moved = *builder.program().mutable_buffers(int(away));
  device.set_bytes(moved.offset());
  device.set_peak_bytes(device.peak_bytes() - 128);
  moved.set_arena(1), moved.set_offset(0);
  other.set_bytes(moved.bytes()), other.set_peak_bytes(space == plan::FILE ? 4096 : 128);
  builder.load(from);
  for (auto [source, target] : {std::pair(from, away), std::pair(away, to)}) {
    plan::Copy *copy = builder.add("copy")->mutable_copy();
    copy->set_from(source), copy->set_to(target);
  }
  builder.store(to);
  return builder;
}

TEST_CASE("values pass through host memory and files, at the speed of the link and no faster") {
  for (plan::Space space : {plan::HOST, plan::FILE})
    for (bool isChecked : {false, true}) {
      INFO(plan::Space_Name(space) << (isChecked ? ", checked" : ""));
      PlanBuilder builder = copyThrough(space);
      const plan::Plan &plan = builder.finish();
      REQUIRE(artifact::verifyPlan(plan).message() == "");
      FormulaData data(plan, valueOf);
      ExecutorOptions options;
      options.keepOutputs = true;
      options.checked = isChecked;
      Status status = runRanks(plan, &data, options, [&](Executor &executor, comm::World &) {
        CHECK(executor.memory().planned == executor.memory().allocated);
        for (int64_t step = 0; step < 2; ++step) {
          const auto begin = std::chrono::steady_clock::now();
          CLEAVE_TRY(executor.step(step));
          const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
          CHECK(took.count() >= 0.02);
          std::vector<float> found(24);
          std::memcpy(found.data(), executor.storedOutputs().at(0).block.data(), 96);
          for (int64_t i = 0; i < 24; ++i)
            CHECK(found[size_t(i)] == valueOf(0, i, step, 0));
        }
        return Status::ok();
      });
      CHECK(status.message() == "");
    }
}

TEST_CASE("a job with another number of ranks than the plan is rejected with both numbers") {
  PlanBuilder builder = shardedMatmul(2, false);
  auto worlds = comm::makeLocalWorlds(1);
  Status status =
      Executor::create(builder.finish(), *worlds[0], device::makeCpuDevice(1), nullptr, {})
          .status();
  CHECK(status.exitCode() == 1);
  CHECK_THAT(status.message(), Contains("for 2 ranks, the job has 1"));
}

// Two slots run `micro`, which computes and reports sum += sum_64(x + 1) with generated kernels.
static PlanBuilder kernelsInSlots() {
  PlanBuilder builder({1});
  std::ifstream file(CLEAVE_TEST_KERNELS, std::ios::binary);
  plan::Module *module = builder.plan().add_modules();
  module->set_target("cpu");
  module->set_code(std::string(std::istreambuf_iterator<char>(file), {}));
  for (auto [name, extent] : {std::pair{"add_one", 64}, {"sum_64", 1}}) {
    plan::Kernel *kernel = builder.program().add_kernels();
    kernel->set_extent(extent);
    plan::KernelParameter *from = kernel->add_parameters(), *to = kernel->add_parameters();
    from->set_dtype(plan::F32), from->set_bytes(256);
    to->set_dtype(plan::F32), to->set_bytes(4 * uint64_t(extent)), to->set_written(true);
    kernel->set_symbol(artifact::symbolOf(name, *kernel, builder.plan().mesh()));
  }
  int x = builder.tensor("x", plan::INPUT, {8, 8}, {{}, {}});
  uint32_t bx = builder.buffer("x", plan::INPUT, {8, 8}, x);
  uint32_t more = builder.buffer("more", plan::ACTIVATION, {8, 8});
  uint32_t loss = builder.buffer("loss", plan::METRIC, {});
  builder.load(bx);
  for (auto [kernel, from, to] : {std::tuple{0u, bx, more}, {1u, more, loss}}) {
    plan::Launch *launch = builder.add("kernel")->mutable_launch();
    launch->set_kernel(kernel), launch->add_written(1);
    launch->add_buffers(from), launch->add_buffers(to);
  }
  builder.metric("loss", loss);
  builder.program().add_schedule()->set_slot(1);
  return builder;
}

TEST_CASE("a hyperparameter has the plan's value until it is set, and then that until the next") {
  PlanBuilder builder({2});
  int rate = builder.tensor("lr", plan::HYPERPARAMETER, {}, {}, plan::F64);
  builder.plan().mutable_tensors(rate)->mutable_source()->set_fill(0.5);
  builder.metric("rate", builder.buffer("lr", plan::HYPERPARAMETER, {}, rate, plan::F64));
  const plan::Plan &plan = builder.finish();
  REQUIRE(artifact::verifyPlan(plan).message() == "");
  REQUIRE(hyperparametersOf(plan).size() == 1);
  CHECK(hyperparametersOf(plan)[0].name == "lr");
  CHECK(hyperparametersOf(plan)[0].value == 0.5);
  std::mutex mutex;
  for (bool checked : {false, true}) {
    ExecutorOptions options;
    options.checked = checked;
    Status status = runRanks(plan, nullptr, options, [&](Executor &executor, comm::World &) {
      std::vector<double> rates;
      for (int64_t step = 0; step < 4; ++step) {
        if (step == 1 || step == 3)
          CLEAVE_TRY(executor.setHyperparameter("lr", double(step)));
        CLEAVE_TRY(executor.step(step));
        rates.push_back(executor.metrics().at(0).value);
      }
      std::lock_guard lock(mutex);
      CHECK(rates == std::vector<double>{0.5, 1, 1, 3});
      CHECK(executor.setHyperparameter("beta", 1).kind() == StatusKind::Defect);
      return Status::ok();
    });
    CHECK(status.message() == "");
  }
}

TEST_CASE("a step that is undone leaves no trace in states and parameters") {
  PlanBuilder builder({2});
  const std::vector<float> first{1, 2, 3};
  for (auto [name, role] : {std::pair{"w", plan::PARAMETER}, {"s", plan::STATE}}) {
    int tensor = builder.tensor(name, role, {3}, {{}});
    builder.plan().mutable_tensors(tensor)->mutable_source()->set_inline_data(first.data(), 12);
    uint32_t buffer = builder.buffer(name, role, {3}, tensor);
    plan::Collective *sum = builder.add("double")->mutable_collective(); // both ranks add theirs
    sum->add_axes(0), sum->add_send(buffer), sum->add_recv(buffer);
  }
  auto valuesOf = [](const Executor &executor) {
    std::vector<std::vector<float>> values;
    for (const checkpoint::Slice &slice : executor.slices()) {
      const float *data = static_cast<const float *>(slice.data);
      values.emplace_back(data, data + 3);
    }
    return values;
  };
  ExecutorOptions options;
  options.canUndo = true;
  std::mutex mutex;
  Status status =
      runRanks(builder.finish(), nullptr, options, [&](Executor &executor, comm::World &) {
        for (int64_t step = 0; step < 3; ++step) {
          CLEAVE_TRY(executor.step(step));
          std::vector<std::vector<float>> after = valuesOf(executor);
          if (step == 1)
            CLEAVE_TRY(executor.undoStep());
          std::lock_guard lock(mutex);
          float factor = step == 0 ? 2 : 4; // step 1 is undone
          CHECK(after == std::vector<std::vector<float>>(2, {factor, 2 * factor, 3 * factor}));
          CHECK(executor.memoryRanges().back().bytes == 24);
        }
        return Status::ok();
      });
  CHECK(status.message() == "");
}

TEST_CASE("kernels run in every slot and a metric is the mean over them") {
  PlanBuilder builder = kernelsInSlots();
  const plan::Plan &plan = builder.finish();
  REQUIRE(artifact::verifyPlan(plan).message() == "");
  CHECK(slotsOf(plan) == 2);
  FormulaData data(
      plan, [](size_t, int64_t, int64_t step, int64_t slot) { return float(10 * step + slot); });
  Status status = runRanks(plan, &data, {}, [&](Executor &executor, comm::World &) {
    for (int64_t step = 0; step < 2; ++step) {
      CLEAVE_TRY(executor.step(step));
      REQUIRE(executor.metrics().size() == 1);
      CHECK(executor.metrics()[0].name == "loss");
      CHECK(executor.metrics()[0].value == 64 * (10 * double(step) + 0.5 + 1));
    }
    return Status::ok();
  });
  CHECK(status.message() == "");
}

TEST_CASE("a profile keeps the last steps with measured and predicted times") {
  PlanBuilder builder = kernelsInSlots();
  for (plan::Instruction &each : *builder.program().mutable_segments(0)->mutable_instructions())
    each.set_seconds(0.001);
  FormulaData data(builder.finish(), valueOf);
  ExecutorOptions options;
  options.profiledSteps = 2;
  std::string events;
  REQUIRE(runRanks(builder.plan(), &data, options, [&](Executor &executor, comm::World &) {
    for (int64_t step = 0; step < 5; ++step)
      CLEAVE_TRY(executor.step(step));
    events = traceEvents(builder.plan(), 0, *executor.profile());
    CHECK_THAT(executor.profile()->summary(), Contains("kernel add_one"));
    return Status::ok();
  }));
  nlohmann::json trace = nlohmann::json::parse("[" + events + "]");
  int measured = 0, predicted = 0;
  for (const auto &event : trace) {
    if (event["ph"] != "X")
      continue;
    CHECK(event["args"]["step"] >= 3);
    CHECK(event["args"]["predicted_us"] == 1000);
    ++(event["tid"] == 0 ? measured : predicted);
  }
  CHECK(measured == 2 * 2 * 4); // steps, slots, instructions
  CHECK(predicted == measured);
}

TEST_CASE("the coordinates buffer has the rank's mesh coordinates") {
  PlanBuilder builder({2, 2});
  int out = builder.tensor("where", plan::OUTPUT, {2}, {{}}, plan::I64);
  uint32_t where = builder.buffer("where", plan::COORDINATES, {2}, -1, plan::I64);
  uint32_t copy = builder.buffer("copy", plan::OUTPUT, {2}, out, plan::I64);
  plan::Copy *instruction = builder.add("copy")->mutable_copy();
  instruction->set_from(where), instruction->set_to(copy);
  builder.store(copy);
  REQUIRE(artifact::verifyPlan(builder.finish()).message() == "");
  ExecutorOptions options;
  options.keepOutputs = true;
  Status status =
      runRanks(builder.plan(), nullptr, options, [](Executor &executor, comm::World &world) {
        CLEAVE_TRY(executor.step(0));
        const int64_t *at =
            reinterpret_cast<const int64_t *>(executor.storedOutputs()[0].block.data());
        return at[0] == world.rank() / 2 && at[1] == world.rank() % 2 ? Status::ok()
                                                                      : Status::defect("elsewhere");
      });
  CHECK(status.message() == "");
}

TEST_CASE("slices of persistent tensors are owned by one rank per block") {
  PlanBuilder builder = shardedMatmul(2, false);
  FormulaData data(builder.finish(), valueOf);
  Status status = runRanks(builder.plan(), &data, {}, [](Executor &executor, comm::World &world) {
    auto slices = executor.slices();
    if (slices.size() != 1 || slices[0].name != "w" || !slices[0].owned)
      return Status::defect("expected one owned slice of w");
    if (slices[0].offset != std::vector<int64_t>{world.rank() * 3, 0} ||
        slices[0].blockShape != std::vector<int64_t>{3, 3})
      return Status::defect("another block");
    return static_cast<const float *>(slices[0].data)[0] == float(world.rank() * 9 - 9)
               ? Status::ok()
               : Status::defect("other values");
  });
  CHECK(status.message() == "");
}
