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

// Loads x, copies it to y, and reports the first element of y and the learning rate `lr`.
PlanBuilder echo() {
  PlanBuilder builder({1});
  builder.plan().set_device("cuda");
  int input = builder.tensor("x", plan::INPUT, {2, 2}, {{}, {}});
  int output = builder.tensor("y", plan::OUTPUT, {2, 2}, {{}, {}});
  int weight = builder.tensor("w", plan::PARAMETER, {2, 2}, {{}, {}});
  int rate = builder.tensor("lr", plan::HYPERPARAMETER, {}, {}, plan::F64);
  builder.plan().mutable_tensors(weight)->mutable_source()->set_fill(5);
  builder.plan().mutable_tensors(rate)->mutable_source()->set_fill(0.5);
  uint32_t x = builder.buffer("x", plan::INPUT, {2, 2}, input);
  uint32_t y = builder.buffer("y", plan::OUTPUT, {2, 2}, output);
  builder.buffer("w", plan::PARAMETER, {2, 2}, weight);
  builder.load(x);
  plan::Copy *copy = builder.add("copy")->mutable_copy();
  copy->set_from(x), copy->set_to(y);
  builder.metric("first", y);
  builder.metric("rate", builder.buffer("lr", plan::HYPERPARAMETER, {}, rate, plan::F64));
  builder.store(y);
  return builder;
}

// The plan of echo(), in which x may be loaded during the step before.
PlanBuilder earlyEcho() {
  PlanBuilder builder = echo();
  auto *list = builder.program().mutable_segments(0)->mutable_instructions();
  list->at(0).set_queue(kTransferQueue), list->at(0).mutable_load_input()->set_early(true);
  list->at(1).add_waits(0);
  return builder;
}

// Calls body(executor) with an executor of the plan over the recorder of this thread.
Status withExecutor(const plan::Plan &plan, executor::ExecutorOptions options,
                    const std::function<Status(executor::Executor &)> &body) {
  FormulaData data(plan, [](size_t, int64_t element, int64_t step, int64_t) {
    return float(element + 100 * step);
  });
  auto worlds = comm::makeLocalWorlds(1);
  CLEAVE_TRY_ASSIGN(auto device, device::makeCudaDevice(0, test::recordingLibraries()));
  options.keepOutputs = true;
  CLEAVE_TRY_ASSIGN(auto executor, executor::Executor::create(plan, *worlds[0], std::move(device),
                                                              &data, options));
  return body(*executor);
}

// Runs steps of the plan, one after the other.
Status run(const plan::Plan &plan, int64_t steps, executor::ExecutorOptions options = {},
           const std::function<void(executor::Executor &)> &afterStep = {}) {
  return withExecutor(plan, options, [&](executor::Executor &executor) {
    for (int64_t step = 0; step < steps; ++step) {
      CLEAVE_TRY(executor.step(step));
      if (afterStep)
        afterStep(executor);
    }
    return Status::ok();
  });
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
    CHECK(calls == std::map<std::string, int>{
                       {"eventRecord", 1}, {"eventSynchronize", 1}, {"graphLaunch", 1}});
  }));
  CHECK(steps == 5);
}

TEST_CASE("cuda: a step is enqueued while the one before runs, and waits for nothing") {
  const std::map<std::string, int> starting = {{"eventRecord", 1}, {"graphLaunch", 1}},
                                   finishing = {{"eventSynchronize", 1}},
                                   // The copy waits for the reads before, the step for the copy.
      loading = {
          {"eventRecord", 2}, {"graphLaunch", 1}, {"memcpyAsync", 1}, {"streamWaitEvent", 2}};
  for (PlanBuilder builder : {step(), echo(), earlyEcho()}) {
    const plan::Plan &plan = builder.finish();
    const bool isEarly = plan.programs(0).segments(0).instructions(0).load_input().early();
    Recording recording(plan);
    Status status = withExecutor(plan, {}, [&](executor::Executor &executor) {
      CHECK(executor.runsAhead());
      CLEAVE_TRY(executor.start(0));
      for (int64_t step = 0; step < 6; ++step) {
        recording.recorder.takeCalls();
        CLEAVE_TRY(executor.start(step + 1));
        std::map<std::string, int> calls = recording.recorder.takeCalls();
        if (step >= 2) // else it is recorded
          CHECK(calls == (isEarly ? loading : starting));
        CLEAVE_TRY(executor.finish());
        CHECK(recording.recorder.takeCalls() == finishing);
        if (plan.programs(0).kernels_size() == 0) {
          CHECK(executor.metrics()[0].value == 100.0 * double(step));
          REQUIRE(executor.storedOutputs().size() == 1);
          float last = 0;
          std::memcpy(&last, executor.storedOutputs()[0].block.data() + 12, 4);
          CHECK(last == float(100 * step + 3));
        }
      }
      return Status::ok();
    });
    CHECK(status.message() == ""); // one step was in flight
    recording.recorder.checkLeaks();
    CHECK(recording.recorder.faults() == std::vector<std::string>());
  }
}

TEST_CASE("cuda: a step uses the hyperparameters that were set before it was started") {
  PlanBuilder builder = echo();
  const plan::Plan &plan = builder.finish();
  Recording recording(plan);
  auto rate = [](int64_t step) { return step < 3 ? 0.5 : 1.0 / double(step); };
  Status status = withExecutor(plan, {}, [&](executor::Executor &executor) {
    CLEAVE_TRY(executor.start(0));
    for (int64_t step = 0; step < 6; ++step) {
      recording.recorder.takeCalls();
      CLEAVE_TRY(executor.setHyperparameter("lr", -1)); // replaced before it is used
      CLEAVE_TRY(executor.setHyperparameter("lr", rate(step + 1)));
      CLEAVE_TRY(executor.start(step + 1));
      std::map<std::string, int> calls = recording.recorder.takeCalls();
      CHECK(calls["streamSynchronize"] == 0);
      if (step >= 2)
        CHECK(calls["memcpyAsync"] == 1);
      CLEAVE_TRY(executor.finish());
      CHECK(executor.metrics()[1].value == rate(step));
    }
    return executor.finish();
  });
  CHECK(status.message() == "");
  CHECK(recording.recorder.faults() == std::vector<std::string>());
}

TEST_CASE("cuda: at most two steps are in flight, one after the other") {
  PlanBuilder builder = echo();
  const plan::Plan &plan = builder.finish();
  Recording recording(plan);
  Status status = withExecutor(plan, {}, [](executor::Executor &executor) {
    CHECK_FALSE(executor.finish());
    CLEAVE_TRY(executor.start(3));
    CHECK_THAT(executor.start(5).message(), Catch::Matchers::Contains("step 3 is finished"));
    CLEAVE_TRY(executor.start(4));
    CHECK_THAT(executor.start(5).message(), Catch::Matchers::Contains("step 3 is finished"));
    CHECK_FALSE(executor.evaluate(0));
    return Status::ok();
  });
  CHECK(status.message() == "");
  for (executor::ExecutorOptions options : {executor::ExecutorOptions{.profiledSteps = 1},
                                            {.checked = true},
                                            {.waits = true},
                                            {.canUndo = true}}) {
    status = withExecutor(plan, options, [](executor::Executor &executor) {
      CHECK_FALSE(executor.runsAhead());
      CLEAVE_TRY(executor.start(0));
      CHECK_FALSE(executor.start(1));
      return executor.finish();
    });
    CHECK(status.message() == "");
  }
  CHECK(recording.recorder.faults() == std::vector<std::string>());
}

TEST_CASE("cuda: steps of early loads run one at a time, too, and as profiles and checks ask") {
  PlanBuilder builder = earlyEcho();
  CHECK(faultsOf(builder.finish()) == "");
  CHECK(faultsOf(builder.finish(), {.profiledSteps = 2}) == "");
  CHECK(faultsOf(builder.finish(), {.waits = true}) == "");
  CHECK(faultsOf(builder.finish(), {.canUndo = true}) == "");
}

TEST_CASE("recorder: a load that does not wait for the reads in a graph before is found") {
  plan::Plan plan;
  for (bool waits : {true, false}) {
    Recording recording(plan);
    auto device = device::makeCudaDevice(0, test::recordingLibraries());
    auto host = (*device)->allocate(plan::HOST, 64), x = (*device)->allocate(plan::DEVICE, 64),
         y = (*device)->allocate(plan::DEVICE, 64), z = (*device)->allocate(plan::DEVICE, 64);
    auto event = (*device)->createEvent(false);
    auto read = (*device)->copy(x->get(), y->get(), 64);
    auto mark = (*device)->recordOutside(*event);
    auto rest = (*device)->copy(y->get(), z->get(), 64);
    REQUIRE((*device)->beginRecording());
    REQUIRE((*read)->run());
    REQUIRE((*mark)->run());
    REQUIRE((*rest)->run());
    auto graph = (*device)->endRecording();
    (*device)->prepareFor(kTransferQueue);
    auto wait = (*device)->wait(*event);
    auto load = (*device)->upload(host->get(), x->get(), 64);
    auto tooEarly = (*device)->upload(host->get(), z->get(), 64);
    for (int step = 0; step < 2; ++step) {
      REQUIRE((*graph)->run());
      if (waits)
        REQUIRE((*wait)->run());
      REQUIRE((*load)->run());
      REQUIRE((*device)->synchronize());
    }
    CHECK(recording.recorder.faults().empty() == waits);
    REQUIRE((*graph)->run());
    REQUIRE((*wait)->run());
    const size_t faults = recording.recorder.faults().size();
    REQUIRE((*tooEarly)->run()); // the event is before the rest of the graph
    CHECK(recording.recorder.faults().size() == faults + 1);
  }
}

TEST_CASE("recorder: host memory that changes while a step in flight may read it is found") {
  plan::Plan plan;
  Recording recording(plan);
  auto device = device::makeCudaDevice(0, test::recordingLibraries());
  auto from = (*device)->allocate(plan::HOST, 64), to = (*device)->allocate(plan::DEVICE, 64);
  auto upload = (*device)->upload(from->get(), to->get(), 64);
  auto before = (*device)->createEvent(false), after = (*device)->createEvent(false);
  auto recordBefore = (*device)->record(*before), recordAfter = (*device)->record(*after);
  REQUIRE((*recordBefore)->run());
  REQUIRE((*upload)->run());
  REQUIRE((*recordAfter)->run());
  REQUIRE((*device)->await(*before));
  static_cast<char *>(from->get())[5] = 1; // the copy comes after the awaited event
  REQUIRE((*device)->await(*after));
  REQUIRE(recording.recorder.faults().size() == 1);
  CHECK_THAT(recording.recorder.faults()[0], Catch::Matchers::Contains("the host changes memory"));
  REQUIRE((*upload)->run());
  REQUIRE((*recordAfter)->run());
  REQUIRE((*device)->await(*after));
  static_cast<char *>(from->get())[5] = 2;
  REQUIRE((*device)->synchronize());
  CHECK(recording.recorder.faults().size() == 1);
}

TEST_CASE("cuda: inputs reach the GPU, and values come back") {
  PlanBuilder builder = echo();
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
  CHECK(std::count(faults.begin(), faults.end(), "a stream is never destroyed") == kQueues);
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
