// The interface of a device that runs one rank's instructions.
//
// All addresses, shapes and strides of a plan are known before the first step. Every instruction is
// therefore prepared once into an Action, and a step only runs actions, without allocations,
// look-ups or decisions (on a GPU, a step's actions can be recorded into one graph). Communication
// is not part of the device.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/DType.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cleave::device {

// A prepared instruction. Valid as long as its device and the memory for which it was prepared.
class Action {
public:
  virtual ~Action() = default;
  // Executes the instruction, or enqueues it after the previous actions. Failures: Status::lost (of
  // the device) or a defect.
  virtual Status run() = 0;
};

// Does nothing: an instruction without work, such as a matmul without elements.
class NoAction : public Action {
public:
  Status run() override { return Status::ok(); }
};

// An action, or the reason why its instruction cannot be prepared.
using PreparedAction = Result<std::unique_ptr<Action>>;

// The addresses of the buffers of a Matmul's operands, without StridedOperand.offset.
struct MatmulOperands {
  DType dtype;    // of lhs and rhs
  DType outDtype; // the same, or F32 for products of 16-bit floats
  const void *lhs;
  const void *rhs;
  void *out;
};

// The addresses of a Convolution's tensors. Its kind determines which one is written.
struct ConvolutionOperands {
  DType dtype;       // of the two that are read
  DType resultDtype; // of the one that is written: the same, or F32 for products of 16-bit floats
  void *input;
  void *weight;
  void *output;
};

// The addresses of the buffers of an Attention's operands, without StridedOperand.offset; null for
// absent ones. All have the type `dtype`, but `lse`, which is f32, the mask, which is bool, and the
// i64 scalars `seed` and `offsets`.
struct AttentionOperands {
  DType dtype; // f32, bf16, f16
  void *query, *key, *value, *result, *lse, *bias, *mask, *grad, *queryGrad, *keyGrad, *valueGrad;
  const void *seed;
  std::vector<const void *> offsets;
  void *scratch;
};

// Prepares and runs one rank's instructions on one kind of hardware.
class Device {
public:
  virtual ~Device() = default;

  // `cpu`, `cuda:0`: for messages.
  virtual std::string name() const = 0;

  // Loads the plan's generated kernels. A user error if they were generated for another kind of
  // device.
  virtual Status loadKernels(const plan::Plan &plan) = 0;

  // Each prepares one instruction. `buffers` are the addresses of the launch's operands in order;
  // `bytes` and `count` (elements) are sizes; `value` is converted to the dtype.
  virtual PreparedAction launch(const plan::Kernel &kernel, std::vector<void *> buffers) = 0;
  virtual PreparedAction matmul(const plan::Matmul &matmul, const MatmulOperands &operands) = 0;
  virtual PreparedAction convolution(const plan::Convolution &convolution,
                                     const ConvolutionOperands &operands) = 0;
  virtual PreparedAction attention(const plan::Attention &attention,
                                   const AttentionOperands &operands) = 0;
  virtual PreparedAction copy(const void *from, void *to, uint64_t bytes) = 0;
  virtual PreparedAction fill(void *to, DType dtype, int64_t count, double value) = 0;

  // To be called once after the last instruction is prepared: allocates the scratch memory that the
  // device's libraries share.
  virtual Status finishPreparing() = 0;
  // Bytes of the scratch memory; not part of any arena.
  virtual uint64_t libraryBytes() const = 0;

  // Returns when all actions that were run are complete.
  virtual Status synchronize() = 0;
};

} // namespace cleave::device
