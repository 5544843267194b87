// Whole training steps over the recorder: plans of models for GPUs, as cleave-compile writes them,
// run by every rank's executor; each call of driver and libraries is checked.
#include "runtime/artifact/Artifact.h"
#include "runtime/artifact/Mesh.h"
#include "runtime/comm/local/LocalWorld.h"
#include "runtime/executor/Executor.h"
#include "test/unit/runtime_device_cuda/Recorder.h"
#include "test/unit/runtime_device_cuda/RecordingDriver.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>
#include <unistd.h>

using namespace cleave;
using cleave::test::Recorder;
namespace fs = std::filesystem;

namespace {

// A folder that is removed at the end.
struct Folder {
  Folder() : path(fs::temp_directory_path() / concat("cleave-step-test-", ::getpid())) {
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  fs::path path;
};

// Runs a tool of this build, or of the folder CLEAVE_BIN of the environment.
void runTool(const std::string &command) {
  const char *folder = std::getenv("CLEAVE_BIN");
  std::string call = concat(folder ? folder : CLEAVE_BIN, '/', command, " > /dev/null 2>&1");
  INFO(call);
  REQUIRE(std::system(call.c_str()) == 0);
}

// A plan of the model's training for GPUs.
plan::Plan compile(const std::string &model, const std::string &options) {
  Folder folder;
  std::string path = CLEAVE_MODELS "/" + model, plan = folder.path / "a.plan";
  if (!fs::exists(path)) {
    path = folder.path / "a.onnx";
    runTool("cleave-zoo " + model +
            " --layers 2 --hidden 64 --heads 4 --kv-heads 2 --ffn 128 --vocab 128 -o " + path);
  }
  runTool("cleave-compile " + path + " --train --loss softmax-cross-entropy:logits " +
          "--cluster h100-node " + options + " -o " + plan);
  Result<plan::Plan> read = artifact::readPlan(plan);
  REQUIRE(read.status().message() == "");
  return *read;
}

// Inputs that are 0.
class ZeroData : public data::DataSource {
public:
  explicit ZeroData(const plan::Plan &plan) : inputs_(executor::inputsOf(plan)) {}
  int64_t samples() const override { return 1000; }
  int64_t samplesPerMicroBatch() const override { return 1; }
  Status fill(size_t input, int64_t, int64_t, const std::vector<int64_t> &,
              const std::vector<int64_t> &shape, void *destination) const override {
    int64_t bytes = byteSize(inputs_[input].dtype);
    for (int64_t size : shape)
      bytes *= size;
    std::memset(destination, 0, size_t(bytes));
    return Status::ok();
  }

private:
  std::vector<data::InputDescription> inputs_;
};

constexpr int64_t kSteps = 4; // one without recording, one recording per set, one replay

// What was wrong on one rank, a line each. `calls` are those of the last step.
std::string runRank(const plan::Plan &plan, comm::World &world, std::map<std::string, int> &calls) {
  Recorder recorder(plan);
  Recorder::current() = &recorder;
  ZeroData data(plan);
  std::string text;
  {
    auto device = device::makeCudaDevice(0, test::recordingLibraries());
    auto executor = executor::Executor::create(plan, world, std::move(*device), &data, {.seed = 1});
    Status status = executor.status();
    for (int64_t step = 0; step < kSteps && status; ++step) {
      recorder.takeCalls();
      status = (*executor)->setHyperparameter("lr", 1e-3 / double(step + 1));
      if (status)
        status = (*executor)->start(step);
      // The first of two steps in flight; the last one ends with the executor.
      const bool runsAhead = (*executor)->runsAhead();
      if (status && (step > 0 || !runsAhead)) {
        status = (*executor)->finish();
        // A step that runs ahead is enqueued before the end of the one before.
        const double seconds = (*executor)->hostSeconds().value_or(-1);
        if (status && (step <= 1 || !runsAhead ? seconds <= 0 : seconds < 0))
          text += "no time of the host\n";
      }
      calls = recorder.takeCalls();
    }
    text += status ? "" : status.message() + "\n";
  }
  recorder.checkLeaks();
  for (const std::string &fault : recorder.faults())
    text += fault + "\n";
  Recorder::current() = nullptr;
  return text;
}

// `graphLaunch 1, streamSynchronize 3`.
std::string textOf(const std::map<std::string, int> &calls) {
  std::string text;
  for (const auto &[name, count] : calls)
    text += concat(text.empty() ? "" : ", ", name, ' ', count);
  return text;
}

int earlyLoadsOf(const plan::Plan &plan) {
  int count = 0;
  for (const plan::Segment &segment : plan.programs(0).segments())
    for (const plan::Instruction &instruction : segment.instructions())
      count += instruction.load_input().early();
  return count;
}

struct Outcome {
  std::string faults;
  std::map<std::string, int> calls; // of the last step of rank 0
};

Outcome runAll(const plan::Plan &plan) {
  int ranks = int(artifact::rankCount(plan));
  auto worlds = comm::makeLocalWorlds(ranks);
  std::vector<std::string> faults(size_t(ranks), "");
  std::vector<std::map<std::string, int>> calls(size_t(ranks), std::map<std::string, int>{});
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < size_t(ranks); ++rank)
    threads.emplace_back([&, rank] { faults[rank] = runRank(plan, *worlds[rank], calls[rank]); });
  for (std::thread &thread : threads)
    thread.join();
  Outcome outcome{"", calls[0]};
  for (const std::string &text : faults)
    outcome.faults += text;
  return outcome;
}

void check(const std::string &model, const std::string &options) {
  INFO(model << " " << options);
  plan::Plan plan = compile(model, options);
  Outcome outcome = runAll(plan);
  CHECK(outcome.faults == "");
  for (const char *call : {"memAlloc", "memHostAlloc", "eventCreate", "graphInstantiate"})
    CHECK(outcome.calls.count(call) == 0);
  if (artifact::rankCount(plan) > 1)
    return;
  // A copy is the learning rate. Early loads wait for the reads of the step before, and the step
  // for them.
  const int early = earlyLoadsOf(plan);
  std::map<std::string, int> expected{
      {"eventRecord", 1}, {"eventSynchronize", 1}, {"graphLaunch", 1}, {"memcpyAsync", 1 + early}};
  if (early)
    expected["eventRecord"] = 2, expected["streamWaitEvent"] = 2;
  CHECK(textOf(outcome.calls) == textOf(expected));
  CHECK((early > 0) == (executor::slotsOf(plan) == 1));
}

} // namespace

TEST_CASE("cuda: steps of whole models on one rank") {
  check("gpt.dynamo.onnx", "--set batch=8");
  check("gpt.dynamo.onnx", "--set batch=8 --dtype bf16 --accumulate 2");
  check("resnet.dynamo.onnx", "--set batch=8");
  check("vit.dynamo.onnx", "--set batch=8 --pin full-recompute");
  check("mixtral-8x7b", "--set batch=8,seq=16");
}

TEST_CASE("cuda: steps of whole models on four ranks, through the host") {
  ::setenv("CLEAVE_DEVICE_COMM", "staged", 1);
  check("gpt.dynamo.onnx", "--set batch=8 --ranks 4");
  check("gpt.dynamo.onnx", "--set batch=8 --ranks 4 --dtype bf16 --pin zero3,full-recompute");
  check("resnet.dynamo.onnx", "--set batch=8 --ranks 4 --dtype bf16 --pin dp,full-recompute");
  check("vit.dynamo.onnx", "--set batch=8 --ranks 4 --mesh dp=2,tp=2");
  check("mixtral-8x7b", "--set batch=8,seq=16 --ranks 4 --dtype bf16");
}

// Whether the instruction waits for nothing else: the whole step waits for early loads.
static bool waitsForEarlyLoadsOnly(const plan::Segment &segment,
                                   const plan::Instruction &instruction) {
  return std::ranges::all_of(instruction.waits(), [&](uint32_t index) {
    return segment.instructions(int(index)).load_input().early();
  });
}

TEST_CASE("recorder: a wait that is dropped from the step of a model is found") {
  plan::Plan plan = compile("gpt.dynamo.onnx", "--set batch=8");
  int found = 0, dropped = 0;
  for (plan::Segment &segment : *plan.mutable_programs(0)->mutable_segments())
    for (plan::Instruction &instruction : *segment.mutable_instructions())
      if (!waitsForEarlyLoadsOnly(segment, instruction)) {
        plan::Instruction kept = instruction;
        instruction.clear_waits();
        ++dropped;
        found += runAll(plan).faults.find("is not ordered after") != std::string::npos;
        instruction = kept;
      }
  CHECK(dropped > 0);
  CHECK(found == dropped);
}
