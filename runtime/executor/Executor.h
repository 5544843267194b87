// Loads and runs one rank's program. create() allocates and prepares everything; a step allocates
// nothing.
//
//   auto executor = Executor::create(plan, world, device::makeCpuDevice(threads), data, options);
//   for (int64_t step = 0; step < n; ++step)
//     (*executor)->step(step), read (*executor)->metrics();
//
// A step has two halves, start() and finish(). Where runsAhead(), the next step can be started in
// between, so that the device goes from one step to the next without waiting for the host.
//
// Each rank is a process, or a thread of one process (local worlds).
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/comm/Communicator.h"
#include "runtime/data/DataSource.h"
#include "runtime/device/Device.h"
#include "runtime/executor/ExecutionProfile.h"
#include "runtime/memory/MemoryReport.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cleave::executor {

// Options of Executor::create().
struct ExecutorOptions {
  std::string modelPath;    // used instead of the plan's model file unless empty
  uint64_t seed = 0;        // of random first values
  int profiledSteps = 0;    // number of last steps to keep in the profile; 0: no profile
  bool keepOutputs = false; // StoreOutput keeps its values for storedOutputs()
  // Detects kernels that access memory outside their buffers, or buffers that hold no valid value
  // (MemoryCheck.h): such reads yield NaN, such writes are defects, and accesses outside an arena
  // end the process by a signal. Results of correct plans do not change. Takes extra time and a
  // second copy of the arenas.
  bool checked = false;
  // Synchronizes after each instruction, so that a device's error names the instruction.
  bool waits = false;
  // The source of parameters and states, instead of the plan's sources; may be null.
  const checkpoint::Checkpoint *resume = nullptr;
  // The source of those parameters, model states and constants that it has, instead of the plan's
  // sources; may be null.
  const checkpoint::TensorStore *weights = nullptr;
  // The data of evaluate(), which outlive the executor: one micro-batch per step. Null: evaluate()
  // is not called. Else the plan has an evaluation (artifact::hasEvaluation()).
  const data::DataSource *evaluation = nullptr;
  // The optimizer's states begin as the plan says, also with `resume`.
  bool restartOptimizer = false;
  // Keeps a copy of parameters and states for undoStep(), which takes as much memory as they do,
  // and the time to copy them in every step.
  bool canUndo = false;
  // Of the communication between the devices.
  comm::Options communication = {};
  // The executor notes here where it is: the value of positionOf(). Null: nowhere.
  std::atomic<uint64_t> *position = nullptr;
};

// A place in a step as one number: the index of the schedule step, and that of the instruction in
// its segment. 0 stands for no place.
constexpr uint64_t positionOf(size_t scheduled, size_t instruction) {
  return uint64_t(scheduled) << 32 | uint64_t(instruction + 1);
}

// A number reported by every step: the mean over its micro-batches.
struct MetricValue {
  std::string name; // `loss`, `grad_norm`
  double value;
};

// This rank's block of an output, kept by StoreOutput in the last step.
struct StoredOutput {
  int tensor;              // index into Plan.tensors
  uint32_t slot;           // index of the micro-batch
  std::vector<char> block; // dense, row-major, padding included
};

// Memory of one rank, in bytes.
struct MemoryNumbers {
  uint64_t planned;   // sizes of the program's arenas in the plan
  uint64_t allocated; // memory allocated for the arenas
  uint64_t library;   // scratch memory of the device's libraries, not part of the arenas
};

// A number that a run may set before each step (role HYPERPARAMETER).
struct Hyperparameter {
  std::string name; // `lr`
  double value;     // unless it is set
};

// Those of the plan.
std::vector<Hyperparameter> hyperparametersOf(const plan::Plan &plan);
// The plan's INPUT tensors, for a DataSource.
std::vector<data::InputDescription> inputsOf(const plan::Plan &plan);
// The number of micro-batches of a step.
int64_t slotsOf(const plan::Plan &plan);

class Executor {
public:
  virtual ~Executor() = default;

  // The plan is verified (artifact/Verify.h); plan, world and data outlive the executor. `device`
  // runs this rank's instructions. `data` has the inputs in the order of inputsOf(); null if there
  // are none. The thread that calls create() must run the steps, too. User errors: the number of
  // ranks differs from the world's, weights or data are missing, memory does not suffice.
  static Result<std::unique_ptr<Executor>> create(const plan::Plan &plan, comm::World &world,
                                                  std::unique_ptr<device::Device> device,
                                                  const data::DataSource *data,
                                                  const ExecutorOptions &options);

  // Sets a hyperparameter, one of hyperparametersOf(), for the steps that are started from now on.
  // Status::lost (of the device) if that fails.
  virtual Status setHyperparameter(const std::string &name, double value) = 0;
  // Whether a second step can be started before the first one is finished. It cannot on hosts, if
  // steps are profiled, checked or waited for, if they can be undone, or if communication needs the
  // host.
  virtual bool runsAhead() const = 0;
  // Starts a step; `step` selects the data. On hosts the step is complete on return, elsewhere it
  // is enqueued after the step before. Two steps in flight have successive numbers. After a failure
  // no other step can be started; one in flight can be finished.
  virtual Status start(int64_t step) = 0;
  // Waits for the step that was started first and is not finished. metrics(), storedOutputs() and
  // hostSeconds() then describe this step. A failure leaves the executor unusable.
  virtual Status finish() = 0;
  // Starts and finishes a step.
  Status step(int64_t step) {
    CLEAVE_TRY(start(step));
    return finish();
  }
  // Evaluates parameters and states as they are on this micro-batch of options.evaluation, and
  // changes none of them. No step is in flight, here and in the functions below that read or write
  // parameters and states. A failure leaves the executor unusable.
  virtual Status evaluate(int64_t batch) = 0;
  // The metrics of the last evaluation, with the names in the plan (Program.Kind).
  virtual const std::vector<MetricValue> &evaluation() const = 0;
  // Gives parameters and states the values that they had before the last step. Requires
  // options.canUndo.
  virtual Status undoStep() = 0;
  // Seconds in which the device of the last step waited for the host: from the end of the step
  // before (the first time from the begin of the step) until all work of the step was enqueued; 0
  // if it was enqueued before that end. Nothing where the host is the device.
  virtual std::optional<double> hostSeconds() const = 0;
  // The metrics of the last step, in the order of their first report.
  virtual const std::vector<MetricValue> &metrics() const = 0;
  // The outputs of the last step; empty unless options.keepOutputs.
  virtual const std::vector<StoredOutput> &storedOutputs() const = 0;

  // This rank's blocks of parameters and states, for checkpoints.
  virtual std::vector<checkpoint::Slice> slices() const = 0;
  // Planned and allocated memory of this rank.
  virtual MemoryNumbers memory() const = 0;
  // The address ranges that the executor owns, by purpose.
  virtual std::vector<memory::KnownRange> memoryRanges() const = 0;
  // How the devices communicate: `shm`, `NCCL 2.28.3`, ….
  virtual std::string communication() const = 0;
  // Times of the last steps; null unless options.profiledSteps.
  virtual const ExecutionProfile *profile() const = 0;
};

} // namespace cleave::executor
