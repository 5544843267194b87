// The CUDA device and the executor over the recorder: hand-made steps, and seeded faults.
#include "runtime/comm/local/LocalWorld.h"
#include "runtime/executor/Executor.h"
#include "runtime/executor/Trace.h"
#include "test/unit/runtime_device_cuda/Recorder.h"
#include "test/unit/runtime_device_cuda/RecordingDriver.h"
#include "test/unit/small_plans/PlanBuilder.h"
#include "test/unit/small_plans/RunRanks.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <numeric>

using namespace cleave;
using cleave::test::Recorder;

namespace {

// The recorder of this thread while it lives.
struct Recording {
  explicit Recording(const plan::Plan &plan) : recorder(plan) { Recorder::current() = &recorder; }
  ~Recording() { Recorder::current() = nullptr; }
  Recorder recorder;
};

void waits(plan::Instruction *instruction, uint32_t queue, std::vector<uint32_t> others) {
  instruction->set_queue(queue);
  for (uint32_t other : others)
    instruction->add_waits(other);
}

plan::Instruction *last(PlanBuilder &builder) {
  plan::Segment *segment = builder.program().mutable_segments(0);
  return segment->mutable_instructions(segment->instructions_size() - 1);
}

// x is loaded, y = x w by the library, z = kernel(y), which is reported and stored.
PlanBuilder step() {
  PlanBuilder builder({1});
  builder.plan().set_device("cuda");
  plan::Module *module = builder.plan().add_modules();
  module->set_target("sm_80"), module->set_code(".version 8.0");
  plan::Kernel *kernel = builder.program().add_kernels();
  kernel->set_symbol("scale.0001");
  kernel->mutable_grid()->set_blocks(2), kernel->mutable_grid()->set_threads(256);
  for (bool written : {false, true}) {
    plan::KernelParameter *parameter = kernel->add_parameters();
    parameter->set_dtype(plan::F32), parameter->set_bytes(64), parameter->set_written(written);
  }
  int input = builder.tensor("x", plan::INPUT, {4, 4}, {{}, {}});
  int weight = builder.tensor("w", plan::PARAMETER, {4, 4}, {{}, {}});
  builder.plan().mutable_tensors(weight)->mutable_source()->set_fill(2);
  int output = builder.tensor("z", plan::OUTPUT, {4, 4}, {{}, {}});
  uint32_t x = builder.buffer("x", plan::INPUT, {4, 4}, input);
  uint32_t w = builder.buffer("w", plan::PARAMETER, {4, 4}, weight);
  uint32_t y = builder.buffer("y", plan::ACTIVATION, {4, 4});
  uint32_t z = builder.buffer("z", plan::OUTPUT, {4, 4}, output);
  builder.load(x);
  waits(last(builder), kTransferQueue, {});
  builder.matmul(x, w, y, 4, 4, 4);
  waits(last(builder), kComputeQueue, {0});
  plan::Launch *launch = builder.add("scale")->mutable_launch();
  launch->add_buffers(y), launch->add_buffers(z), launch->add_written(1);
  builder.metric("loss", z);
  waits(last(builder), kTransferQueue, {2});
  builder.store(z);
  waits(last(builder), kTransferQueue, {2});
  return builder;
}

// Runs steps of the plan over the recorder of this thread.
Status run(const plan::Plan &plan, int64_t steps, executor::ExecutorOptions options = {},
           const std::function<void(executor::Executor &)> &afterStep = {}) {
  FormulaData data(plan, [](size_t, int64_t element, int64_t step, int64_t) {
    return float(element + 100 * step);
  });
  auto worlds = comm::makeLocalWorlds(1);
  CLEAVE_TRY_ASSIGN(auto device, device::makeCudaDevice(0, test::recordingLibraries()));
  options.keepOutputs = true;
  CLEAVE_TRY_ASSIGN(auto executor, executor::Executor::create(plan, *worlds[0], std::move(device),
                                                              &data, options));
  for (int64_t step = 0; step < steps; ++step) {
    CLEAVE_TRY(executor->step(step));
    if (afterStep)
      afterStep(*executor);
  }
  return Status::ok();
}

std::string faultsOf(const plan::Plan &plan, executor::ExecutorOptions options = {}) {
  Recording recording(plan);
  Status status = run(plan, 6, options);
  recording.recorder.checkLeaks();
  std::string text = status.message();
  for (const std::string &fault : recording.recorder.faults())
    text += fault + "\n";
  return text;
}

} // namespace

TEST_CASE("cuda: a step has no fault, recorded, profiled, checked and with undo") {
  PlanBuilder builder = step();
  CHECK(faultsOf(builder.finish()) == "");
  CHECK(faultsOf(builder.finish(), {.profiledSteps = 2}) == "");
  CHECK(faultsOf(builder.finish(), {.canUndo = true}) == "");
}

TEST_CASE("cuda: a profile has the times between events beside the predicted ones") {
  PlanBuilder builder = step();
  builder.program().mutable_segments(0)->mutable_instructions(2)->set_seconds(0.004);
  const plan::Plan &plan = builder.finish();
  Recording recording(plan);
  std::string events, summary;
  REQUIRE(run(plan, 3, {.profiledSteps = 1}, [&](executor::Executor &executor) {
    events = executor::traceEvents(plan, 0, *executor.profile());
    summary = executor.profile()->summary();
  }));
  CHECK_THAT(summary, Catch::Matchers::Contains("kernel scale"));
  double measured = 0, predicted = 0; // microseconds of the kernel
  for (const auto &event : nlohmann::json::parse("[" + events + "]")) {
    if (event["ph"] != "X")
      continue;
    if (event["name"] == "scale")
      (event["tid"] == 0 ? measured : predicted) = event["dur"];
    if (event["cat"] == "load input") // overlaps with kernels: a track of its own
      CHECK(event["tid"] == 3);
  }
  CHECK(measured == Approx(1000).epsilon(1e-3));
  CHECK(predicted == Approx(4000));
}

TEST_CASE(
    "cuda: the memory check reads the GPU through copies and finds a kernel without results") {
  PlanBuilder builder = step();
  // The recorder's kernel writes nothing: z keeps its poison, which is no wrong access.
  CHECK(faultsOf(builder.finish(), {.checked = true}) == "");
}

TEST_CASE("cuda: each instruction can be waited for before the next one") {
  PlanBuilder builder = step();
  const plan::Plan &plan = builder.finish();
  CHECK(faultsOf(plan, {.waits = true}) == "");
  Recording recording(plan);
  int64_t steps = 0;
  REQUIRE(run(plan, 5, {.waits = true}, [&](executor::Executor &) {
    std::map<std::string, int> calls = recording.recorder.takeCalls();
    CHECK(calls["graphLaunch"] == 0);
    CHECK(calls["streamSynchronize"] >= plan.programs(0).segments(0).instructions_size());
    ++steps;
  }));
  CHECK(steps == 5);
}

TEST_CASE("cuda: a recorded step is one launch and allocates nothing") {
  PlanBuilder builder = step();
  const plan::Plan &plan = builder.finish();
  Recording recording(plan);
  int64_t steps = 0;
  REQUIRE(run(plan, 5, {}, [&](executor::Executor &) {
    std::map<std::string, int> calls = recording.recorder.takeCalls();
    if (++steps <= 3)
      return; // one step without recording, then one recording per set of staging blocks
    CHECK(calls == std::map<std::string, int>{{"graphLaunch", 1}, {"streamSynchronize", 3}});
  }));
  CHECK(steps == 5);
}

TEST_CASE("cuda: inputs reach the GPU, and values come back") {
  PlanBuilder builder({1});
  builder.plan().set_device("cuda");
  int input = builder.tensor("x", plan::INPUT, {2, 2}, {{}, {}});
  int output = builder.tensor("y", plan::OUTPUT, {2, 2}, {{}, {}});
  int weight = builder.tensor("w", plan::PARAMETER, {2, 2}, {{}, {}});
  builder.plan().mutable_tensors(weight)->mutable_source()->set_fill(5);
  uint32_t x = builder.buffer("x", plan::INPUT, {2, 2}, input);
  uint32_t y = builder.buffer("y", plan::OUTPUT, {2, 2}, output);
  builder.buffer("w", plan::PARAMETER, {2, 2}, weight);
  builder.load(x);
  plan::Copy *copy = builder.add("copy")->mutable_copy();
  copy->set_from(x), copy->set_to(y);
  builder.metric("first", y);
  builder.store(y);
  const plan::Plan &plan = builder.finish();
  Recording recording(plan);
  int64_t step = 0;
  Status status = run(plan, 5, {}, [&](executor::Executor &executor) {
    CHECK(executor.metrics()[0].value == 100.0 * double(step));
    REQUIRE(executor.storedOutputs().size() == 1);
    std::vector<float> stored(4), weights(4);
    std::memcpy(stored.data(), executor.storedOutputs()[0].block.data(), 16);
    float base = float(100 * step++);
    CHECK(stored == std::vector<float>{base, base + 1, base + 2, base + 3});
    std::vector<checkpoint::Slice> slices = executor.slices();
    REQUIRE(slices.size() == 1);
    REQUIRE(slices[0].read(weights.data()));
    CHECK(weights == std::vector<float>(4, 5));
  });
  CHECK(status.message() == "");
  CHECK(recording.recorder.faults() == std::vector<std::string>());
}

TEST_CASE("recorder: a dropped wait is found") {
  PlanBuilder builder = step();
  builder.program().mutable_segments(0)->mutable_instructions(1)->clear_waits();
  CHECK_THAT(faultsOf(builder.finish()), Catch::Matchers::Contains("is not ordered after"));
  builder = step();
  builder.program().mutable_segments(0)->mutable_instructions(4)->clear_waits();
  // The store follows the metric in its queue, and that waits for the kernel.
  CHECK(faultsOf(builder.finish()) == "");
  builder.program().mutable_segments(0)->mutable_instructions(3)->clear_waits();
  CHECK_THAT(faultsOf(builder.finish()), Catch::Matchers::Contains("is not ordered after"));
}

TEST_CASE("recorder: a kernel that accesses bytes behind its arena is found") {
  PlanBuilder builder = step();
  builder.program().mutable_kernels(0)->mutable_parameters(1)->set_bytes(65);
  CHECK_THAT(faultsOf(builder.finish()), Catch::Matchers::Contains("1 bytes behind the end"));
}

TEST_CASE("recorder: memory that is freed while a copy uses it is found") {
  plan::Plan plan;
  Recording recording(plan);
  auto device = device::makeCudaDevice(0, test::recordingLibraries());
  REQUIRE(device);
  auto from = (*device)->allocate(plan::DEVICE, 64), to = (*device)->allocate(plan::DEVICE, 64);
  auto copy = (*device)->copy(from->get(), to->get(), 64);
  REQUIRE((*copy)->run());
  CHECK(recording.recorder.faults().empty());
  from->reset();
  REQUIRE(recording.recorder.faults().size() == 1);
  CHECK_THAT(recording.recorder.faults()[0], Catch::Matchers::Contains("may still use"));
  REQUIRE((*copy)->run());
  CHECK_THAT(recording.recorder.faults()[1], Catch::Matchers::Contains("was freed"));
}

TEST_CASE("recorder: rules of a capture are checked") {
  plan::Plan plan;
  Recording recording(plan);
  auto device = device::makeCudaDevice(0, test::recordingLibraries());
  auto memory = (*device)->allocate(plan::DEVICE, 64);
  (*device)->prepareFor(kTransferQueue);
  auto fill = (*device)->fill(memory->get(), DType::F32, 16, 1);
  auto event = (*device)->createEvent(false);
  auto record = (*device)->record(*event), wait = (*device)->wait(*event);
  REQUIRE((*device)->beginRecording());
  REQUIRE((*fill)->run());
  CHECK_THAT(recording.recorder.faults().back(),
             Catch::Matchers::Contains("not part of the capture"));
  REQUIRE((*device)->synchronize());
  CHECK_THAT(recording.recorder.faults().back(), Catch::Matchers::Contains("during a capture"));
  REQUIRE((*wait)->run());
  CHECK_THAT(recording.recorder.faults().back(), Catch::Matchers::Contains("outside of it"));
  REQUIRE((*device)->endRecording());
  CHECK_THAT(recording.recorder.faults().back(), Catch::Matchers::Contains("is joined"));
}

TEST_CASE("recorder: what is never freed is found") {
  plan::Plan plan;
  Recording recording(plan);
  auto device = device::makeCudaDevice(0, test::recordingLibraries());
  auto memory = (*device)->allocate(plan::DEVICE, 64);
  recording.recorder.checkLeaks();
  std::vector<std::string> faults = recording.recorder.faults();
  CHECK(std::count(faults.begin(), faults.end(), "64 bytes are never freed") == 1);
  CHECK(std::count(faults.begin(), faults.end(), "a stream is never destroyed") == 3);
}

TEST_CASE("cuda: a GPU that does not exist, and plans for other devices, are user errors") {
  PlanBuilder builder = step();
  Recording recording(builder.finish());
  CHECK(device::makeCudaDevice(1, test::recordingLibraries()).status().exitCode() != 0);
  auto device = device::makeCudaDevice(0, test::recordingLibraries());
  plan::Plan cpu;
  cpu.set_device("cpu");
  CHECK_THAT((*device)->loadKernels(cpu).message(), Catch::Matchers::Contains("--device cpu"));
  plan::Plan newer = builder.finish();
  newer.mutable_modules(0)->set_target("sm_100");
  CHECK_THAT((*device)->loadKernels(newer).message(),
             Catch::Matchers::Contains("sm_100") && Catch::Matchers::Contains("sm_90"));
}

TEST_CASE("cuda: a driver that is missing is one line") {
  device::CudaLibraries libraries;
  libraries.driver = [] {
    return Result<const device::driver::DriverTable *>(Status::userError("no libcuda.so.1"));
  };
  CHECK(device::makeCudaDevice(0, libraries).status().message() == "no libcuda.so.1");
  CHECK(device::cudaDeviceCount(libraries).status().exitCode() == 1);
}

TEST_CASE("cuda: a driver that does not start is the user's to mend, and one without GPUs has 0") {
  static int answer;
  static device::driver::DriverTable table = test::recordingDriver();
  table.init = [](unsigned) { return answer; };
  device::CudaLibraries libraries;
  libraries.driver = [] { return Result<const device::driver::DriverTable *>(&table); };
  answer = 803; // a driver of another version than the kernel's
  CHECK(device::cudaDeviceCount(libraries).status().exitCode() == 1);
  answer = device::driver::kErrorNoDevice;
  CHECK(*device::cudaDeviceCount(libraries) == 0);
}
