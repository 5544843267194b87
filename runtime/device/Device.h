// The interface of a device that runs one rank's instructions.
//
// All addresses, shapes and strides of a plan are known before the first step, so every instruction
// is prepared once into an Action, and a step only runs actions: nothing is allocated, looked up or
// decided then (on a GPU a step's actions can be recorded into one graph). Communication is not the
// device's matter.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/DType.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cleave::device {

// One prepared instruction. Valid as long as its device and the memory it was prepared for.
class Action {
public:
  virtual ~Action() = default;
  // Does it, or queues it behind the actions before; a failure is the device's (lost) or a defect.
  virtual Status run() = 0;
};

using PreparedAction = Result<std::unique_ptr<Action>>;

// Where the operands of a Matmul begin (their offsets not yet added).
struct MatmulOperands {
  DType dtype;
  const void *lhs;
  const void *rhs;
  void *out;
  const void *bias; // null: none
};

// Where the tensors of a Convolution are; which one is written follows from its kind.
struct ConvolutionOperands {
  DType dtype;
  void *input;
  void *weight;
  void *output;
};

class Device {
public:
  virtual ~Device() = default;

  // `cpu`, `cuda:0`: for messages.
  virtual std::string name() const = 0;

  // Makes the plan's generated kernels known. A user error when they were made for another kind of
  // device.
  virtual Status loadKernels(const plan::Plan &plan) = 0;

  // Each prepares one instruction. `buffers` are the launch's operands in order.
  virtual PreparedAction launch(const plan::Kernel &kernel, std::vector<void *> buffers) = 0;
  virtual PreparedAction matmul(const plan::Matmul &matmul, const MatmulOperands &operands) = 0;
  virtual PreparedAction convolution(const plan::Convolution &convolution,
                                     const ConvolutionOperands &operands) = 0;
  virtual PreparedAction copy(const void *from, void *to, uint64_t bytes) = 0;
  virtual PreparedAction fill(void *to, DType dtype, int64_t count, double value) = 0;

  // To be called once when everything is prepared: allocates what the device's libraries share as
  // scratch memory. Afterwards nothing more is prepared.
  virtual Status finishPreparing() = 0;
  // Bytes of that scratch memory; not part of any arena.
  virtual uint64_t libraryBytes() const = 0;

  // Returns when all actions that were run are done.
  virtual Status synchronize() = 0;
};

} // namespace cleave::device
