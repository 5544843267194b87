// The times by which cleave-calibrate measures GPUs, over the recorder, on which every operation
// takes a millisecond.
#include "compiler/cluster/device/TimedDevice.h"
#include "compiler/cluster/device/MeasureKernels.h"
#include "runtime/comm/local/LocalWorld.h"
#include "runtime/comm/staged/StagedWorld.h"
#include "test/unit/runtime_device_cuda/Recorder.h"
#include "test/unit/runtime_device_cuda/RecordingDriver.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

using namespace cleave;
using namespace cleave::cluster;
using cleave::test::Recorder;

namespace {

constexpr int64_t kElements = 4096; // of the kernels' arrays
constexpr double kSeconds = 1e-3;   // of one operation
// Three rounds of one execution, and a recording of twenty, which take 20 ms and are replayed.
constexpr int kExecutions = 3 + 20;

// The measured kernels in the one size that the test uses.
plan::Plan kernels() {
  plan::Plan plan = measureKernels();
  plan::Program &program = *plan.add_programs();
  *program.add_kernels() = additionKernel(kElements);
  *program.add_kernels() = arithmeticKernel(kElements);
  *program.add_kernels() = emptyKernel();
  return plan;
}

using Measure = std::function<void(TimedDevice &, Recorder &)>;

// Measures on all ranks; returns what was wrong. `measure` runs on threads other than the test's.
std::string run(int ranks, const Measure &measure) {
  const plan::Plan plan = kernels();
  auto worlds = comm::makeLocalWorlds(ranks);
  std::vector<std::string> faults(size_t(ranks), "");
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      Recorder recorder(plan);
      Recorder::current() = &recorder;
      {
        auto device = std::move(*device::makeCudaDevice(0, test::recordingLibraries()));
        auto devices = std::move(*comm::makeStagedWorld(*worlds[size_t(rank)], *device, 1 << 20));
        TimedDevice timed(*device, *worlds[size_t(rank)], *devices);
        if (Status begun = timed.begin(); !begun)
          recorder.fault(begun.message());
        else
          measure(timed, recorder);
      }
      recorder.checkLeaks();
      for (const std::string &fault : recorder.faults())
        faults[size_t(rank)] += fault + "\n";
      Recorder::current() = nullptr;
    });
  for (std::thread &thread : threads)
    thread.join();
  std::string all;
  for (const std::string &text : faults)
    all += text;
  return all;
}

// A fault unless the time is `seconds`, up to rounding.
void expect(Recorder &recorder, const Result<double> &found, double seconds, const char *what) {
  if (!found || std::abs(*found - seconds) > 1e-6 * seconds)
    recorder.fault(concat(what, ": found ", found ? concat(*found) : found.status().message(),
                          ", expected ", seconds));
}

} // namespace

TEST_CASE("calibration: the time of one execution, from rounds of many") {
  CHECK(run(1, [](TimedDevice &device, Recorder &recorder) {
          expect(recorder, device.emptyKernel(), kSeconds, "an empty kernel");
          if (int launches = recorder.takeCalls()["launchKernel"]; launches != kExecutions)
            recorder.fault(concat("found ", launches, " launches, expected ", kExecutions));
          expect(recorder, device.addition(12 * kElements), kSeconds, "an addition");
          // The kernel has whole blocks; other sizes are in proportion.
          expect(recorder, device.addition(12 * kElements + 6 * 1024), 1.125 * kSeconds, "more");
          expect(recorder, device.arithmetic(2.0 * kFmasPerElement * kElements), kSeconds,
                 "arithmetic");
          expect(recorder, device.upload(1 << 20), kSeconds, "an upload");
        }) == "");
}

TEST_CASE("calibration: products of every type, tf32 in tensor cores") {
  CHECK(run(1, [](TimedDevice &device, Recorder &recorder) {
          for (const char *type : {"f32", "tf32", "f16", "bf16"}) {
            recorder.takeCalls();
            expect(recorder, device.product(type, 256), kSeconds, type);
            auto calls = recorder.takeCalls();
            const bool isTf32 = std::string(type) == "tf32";
            if (calls[isTf32 ? "matmul in tf32" : "matmul"] != kExecutions)
              recorder.fault(concat("not ", kExecutions, " products of ", type));
          }
        }) == "");
}

TEST_CASE("calibration: collectives of some ranks, with one time for all") {
  std::mutex mutex;
  std::map<std::pair<CollectiveKind, int>, std::vector<double>> times; // by kind and ranks
  CHECK(run(3, [&](TimedDevice &device, Recorder &recorder) {
          for (int ranks : {2, 3})
            for (CollectiveKind kind : linkKinds()) {
              auto found = device.collective(kind, ranks, 24 << 10);
              if (!found)
                return recorder.fault(found.status().message());
              std::lock_guard lock(mutex);
              times[{kind, ranks}].push_back(*found);
            }
        }) == "");
  CHECK(times.size() == 2 * linkKinds().size());
  for (const auto &[what, found] : times)
    CHECK((found.size() == 3 && found[0] >= kSeconds && found[1] == found[0] &&
           found[2] == found[0]));
}
