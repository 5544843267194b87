// One rank's program, loaded and run. Everything is allocated and prepared by create(); a step
// allocates nothing.
//
//   auto executor = Executor::create(plan, world, data, options);
//   for (int64_t step = 0; step < n; ++step)
//     (*executor)->step(step), read (*executor)->metrics();
//
// Works in one process per rank, or with every rank in a thread of one process (local worlds).
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/comm/Communicator.h"
#include "runtime/data/DataSource.h"
#include "runtime/executor/Profile.h"
#include "runtime/memory/MemoryReport.h"

#include <memory>
#include <string>
#include <vector>

namespace cleave::executor {

struct ExecutorOptions {
  int threads = 1;          // that share the work of this rank
  std::string modelPath;    // replaces the plan's model file unless empty
  uint64_t seed = 0;        // of values that are drawn
  int profiledSteps = 0;    // how many last steps are kept with times; 0: no times are taken
  bool keepOutputs = false; // StoreOutput keeps its values for storedOutputs()
  // Searches for kernels that step outside of their buffers or read what no longer holds a value
  // (MemoryCheck.h): such reads give NaN, such writes a defect, and what leaves an arena ends the
  // process by a signal. Results of correct plans stay as they are. Costs time, and a second copy of
  // the arenas.
  bool checked = false;
  // Where parameters and states come from instead of their sources; may be null.
  const checkpoint::Checkpoint *resume = nullptr;
};

// A number that every step reports; over several micro-batches, their mean.
struct MetricValue {
  std::string name; // `loss`, `grad_norm`
  double value;
};

// What StoreOutput kept in the last step: this rank's block of an output.
struct StoredOutput {
  int tensor;    // index into Plan.tensors
  uint32_t slot; // the micro-batch
  std::vector<char> block;
};

// Bytes of one rank.
struct MemoryNumbers {
  uint64_t planned;   // of the program's arenas
  uint64_t allocated; // for them
  uint64_t library;   // scratch memory of the device's libraries, besides
};

// The plan's INPUT tensors, as DataSource wants them; `slots` is how many micro-batches a step has.
std::vector<data::InputDescription> inputsOf(const plan::Plan &plan);
int64_t slotsOf(const plan::Plan &plan);

class Executor {
public:
  virtual ~Executor() = default;

  // The plan is verified (artifact/Verify.h), has as many ranks as the world, and outlives the
  // executor, as do world and data. `data` knows the inputs in the order of inputsOf(); null if
  // there are none. Must be called by the thread that will run the steps. Fails with the user's
  // errors (weights, memory) or defects.
  static Result<std::unique_ptr<Executor>> create(const plan::Plan &plan, comm::World &world,
                                                  const data::DataSource *data,
                                                  const ExecutorOptions &options);

  // Runs one step; `step` chooses the data. A failure leaves the executor unusable.
  virtual Status step(int64_t step) = 0;
  // Of the last step, in the order of their first report.
  virtual const std::vector<MetricValue> &metrics() const = 0;
  // Of the last step, if outputs are kept.
  virtual const std::vector<StoredOutput> &storedOutputs() const = 0;

  // This rank's blocks of parameters and states, for checkpoints.
  virtual std::vector<checkpoint::Slice> slices() const = 0;
  virtual MemoryNumbers memory() const = 0;
  // The memory that the executor owns, by purpose.
  virtual std::vector<memory::KnownRange> memoryRanges() const = 0;
  // Null unless options.profiledSteps.
  virtual const Profile *profile() const = 0;
};

} // namespace cleave::executor
