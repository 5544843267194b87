// The interface of a device: its memory, and the execution of one rank's instructions.
//
// All addresses, shapes and strides of a plan are known before the first step. Every instruction is
// therefore prepared once into an Action, and a step only runs actions, without allocations,
// look-ups or decisions. Actions run in queues. Those of one queue run in the order in which they
// were run(); events order the queues. A GPU enqueues them and can record a step's actions into one
// action. A CPU has a thread for the queue of copies between spaces, and executes all other
// actions at once. Communication is not part of the device.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/DType.h"
#include "runtime/base/Queue.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cleave::device {

// A mark in a queue, created by Device::createEvent().
using Event = uint32_t;

// A prepared instruction. Valid as long as its device and the memory for which it was prepared.
class Action {
public:
  virtual ~Action() = default;
  // Executes the instruction, or enqueues it after the previous actions of its queue. Failures:
  // Status::lost (of the device) or a defect. A failure of an action that was enqueued may be
  // returned by a later action or by synchronize().
  virtual Status run() = 0;
};

// Does nothing: an instruction without work, such as a matmul without elements.
class NoAction : public Action {
public:
  Status run() override { return Status::ok(); }
};

// An action, or the reason why its instruction cannot be prepared.
using PreparedAction = Result<std::unique_ptr<Action>>;

// Scratch memory that the plan gives to an instruction's library; null and 0: none.
struct Workspace {
  void *address = nullptr;
  uint64_t bytes = 0;
};

// The addresses of the buffers of a Matmul's operands, without StridedOperand.offset.
struct MatmulOperands {
  DType dtype;    // of lhs and rhs
  DType outDtype; // the same, or F32 for products of 16-bit floats
  const void *lhs;
  const void *rhs;
  void *out;
  const void *bias = nullptr; // of outDtype; null: none
  Workspace workspace = {};
};

// The addresses of a Convolution's tensors. Its kind determines which one is written.
struct ConvolutionOperands {
  DType dtype;       // of the two that are read
  DType resultDtype; // of the one that is written: the same, or F32 for products of 16-bit floats
  void *input;
  void *weight;
  void *output;
  Workspace workspace = {};
};

// The addresses of the buffers of an Attention's operands, without StridedOperand.offset; null for
// absent ones. All have the type `dtype`, but `lse`, which is f32, the mask, which is bool, and the
// i64 scalars `seed` and `offsets`.
struct AttentionOperands {
  DType dtype;             // f32, bf16, f16
  DType biasDtype = dtype; // this type or f32
  void *query, *key, *value, *result, *lse, *bias, *mask, *grad, *queryGrad, *keyGrad, *valueGrad;
  const void *seed;
  std::vector<const void *> offsets;
  void *scratch;
  Workspace workspace = {};
};

// The addresses of the buffers of a GroupedMatmul's operands, without StridedOperand.offset.
struct GroupedMatmulOperands {
  DType dtype;       // of the two factors
  DType resultDtype; // of the product: the same, or F32 for products of 16-bit floats
  DType endsDtype;   // I32 or I64
  void *input, *weight, *output;
  const void *ends;
  const void *firstRow = nullptr, *firstGroup = nullptr; // I64 scalars; null: 0
};

// One rank's device. Used by one thread.
class Device {
public:
  virtual ~Device() = default;

  // `cpu`, `cuda:0`: for messages.
  virtual std::string name() const = 0;
  // Equal on two ranks if and only if they share the hardware.
  virtual std::string identity() const = 0;
  // Whether this process addresses the device's memory and an action of queue 0 is complete when
  // run() returns. Otherwise only write(), read() and actions access memory in Space DEVICE.
  virtual bool isHost() const = 0;
  // Whether this process addresses the memory of a space.
  bool isInProcess(plan::Space space) const {
    return space == plan::HOST || (space == plan::DEVICE && isHost());
  }

  // -- memory ------------------------------------------------------------------------------------

  // Allocates memory in Space DEVICE, or in Space HOST, which this process addresses and the device
  // can access, or bytes of a file in Space FILE, which GPUs do not offer. Aligned to 256 bytes on
  // GPUs, in files to a page, to 64 bytes elsewhere. The memory must not outlive the device. A user
  // error if there is not enough.
  virtual Result<std::shared_ptr<void>> allocate(plan::Space space, uint64_t bytes) = 0;
  // Copies `bytes` from memory of this process to memory in any space, or back. All actions that
  // were run are complete before; the copy is complete on return.
  virtual Status write(void *to, const void *from, uint64_t bytes) = 0;
  virtual Status read(const void *from, void *to, uint64_t bytes) = 0;

  // -- actions -----------------------------------------------------------------------------------

  // Loads the plan's generated kernels. A user error if they were generated for another kind of
  // device.
  virtual Status loadKernels(const plan::Plan &plan) = 0;

  // The actions prepared from now on run in `queue`; initially 0.
  virtual void prepareFor(uint32_t queue) = 0;

  // Each prepares one instruction. `buffers` are the addresses of the launch's operands in order;
  // `bytes` and `count` (elements) are sizes; `value` is converted to the dtype.
  virtual PreparedAction launch(const plan::Kernel &kernel, std::vector<void *> buffers) = 0;
  virtual PreparedAction matmul(const plan::Matmul &matmul, const MatmulOperands &operands) = 0;
  virtual PreparedAction convolution(const plan::Convolution &convolution,
                                     const ConvolutionOperands &operands) = 0;
  virtual PreparedAction attention(const plan::Attention &attention,
                                   const AttentionOperands &operands) = 0;
  virtual PreparedAction groupedMatmul(const plan::GroupedMatmul &matmul,
                                       const GroupedMatmulOperands &operands) = 0;
  virtual PreparedAction copy(const void *from, void *to, uint64_t bytes) = 0;
  virtual PreparedAction fill(void *to, DType dtype, int64_t count, double value) = 0;
  // Copies from memory in Space HOST or FILE to memory in Space DEVICE, or back. On a CPU, the copy
  // takes `leastSeconds` or more, as over the link that it stands for.
  virtual PreparedAction upload(const void *from, void *to, uint64_t bytes,
                                double leastSeconds = 0) = 0;
  virtual PreparedAction download(const void *from, void *to, uint64_t bytes,
                                  double leastSeconds = 0) = 0;

  // To be called once after the last instruction is prepared: allocates the scratch memory that the
  // device's libraries share.
  virtual Status finishPreparing() = 0;
  // Bytes of the scratch memory; not part of any arena.
  virtual uint64_t libraryBytes() const = 0;

  // -- queues and events -------------------------------------------------------------------------

  // Creates an event; `isTimed` ones have a time for secondsBetween().
  virtual Result<Event> createEvent(bool isTimed) = 0;
  // Sets the event at the current end of the queue.
  virtual PreparedAction record(Event event) = 0;
  // Like record(), but each replay of a recording sets the event again, so that a wait outside of
  // the recording is for its last replay.
  virtual PreparedAction recordOutside(Event event) = 0;
  // Later actions of the queue begin after all that the queue of the event's last record() held at
  // that time. No effect if there was none.
  virtual PreparedAction wait(Event event) = 0;
  // Seconds between the last records of two timed events; all actions are complete.
  virtual Result<double> secondsBetween(Event begin, Event end) = 0;
  // The queue's handle in the device's own interface (a CUstream); null on CPUs.
  virtual void *handleOf(uint32_t queue) = 0;

  // Returns when all actions that were run are complete; those of one queue.
  virtual Status synchronize() = 0;
  virtual Status synchronize(uint32_t queue) = 0;
  // Returns when all actions that the queue of the event's last record() held at that time are
  // complete. Later actions may still run.
  virtual Status await(Event event) = 0;

  // -- recording ---------------------------------------------------------------------------------

  // Whether actions can be recorded.
  virtual bool canRecord() const = 0;
  // From now on, actions that are run are recorded instead of executed, until endRecording()
  // returns them as one action of queue 0. In between, other queues are first used after a wait()
  // for an event of queue 0, and queue 0 waits for them at the end.
  virtual Status beginRecording() = 0;
  virtual PreparedAction endRecording() = 0;
};

} // namespace cleave::device
