// The buffers that an instruction reads and writes, and the bytes of them, for the rules of the
// verifier and for the executor; and facts about single buffers and instructions.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/AttentionScratch.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cleave::artifact {

// One buffer accessed by an instruction.
struct Access {
  uint32_t buffer; // index into Program.buffers; not checked
  bool reads;
  bool writes;    // a launch may also read what it writes; `reads` is then false
  uint64_t bytes; // accessed from the beginning of the buffer; 0: its whole content
};

// All buffers that the instruction accesses, in the order of its fields. An index out of range
// yields an Access with that index and 0 bytes.
std::vector<Access> accessesOf(const plan::Program &program, const plan::Instruction &instruction);

// The number of elements that the operand's buffer must hold: the index of its last element, plus
// 1. `sizes` has one entry per stride. -1 if a stride or the offset is negative or the numbers of
// entries differ.
int64_t reachOf(const plan::StridedOperand &operand, std::span<const int64_t> sizes);

// A strided operand of an instruction, with its sizes.
struct StridedTensor {
  const char *name;
  const plan::StridedOperand *operand;
  std::vector<int64_t> sizes; // one per stride
  bool isWritten;
};

// The operands and results of an attention that are present, in the order of the message's fields.
std::vector<StridedTensor> attentionTensors(const plan::Attention &attention);

// The input, the weight and the output of a grouped product.
std::vector<StridedTensor> groupedTensors(const plan::GroupedMatmul &matmul);

// The sizes of an attention; `batch` is the product of its batch dims.
AttentionSizes sizesOf(const plan::Attention &attention);

// The buffers that a convolution reads and the one that it writes.
struct ConvolutionRoles {
  uint32_t reads[2];
  uint32_t written;
};
ConvolutionRoles rolesOf(const plan::Convolution &convolution);

// The number of elements of a dense shape; 2^56 on overflow.
int64_t elementCount(const google::protobuf::RepeatedField<int64_t> &shape);

// Whether all instructions of the program are in queue 0, so that they run one after the other.
bool hasOneQueue(const plan::Program &program);

// Whether the buffer's content survives the step: it holds a parameter, a state, a constant, a
// hyperparameter or the coordinates.
bool isPersistent(const plan::Buffer &buffer);

// Whether the tensor is a state of the optimizer: one of a parameter, or the counter of updates.
bool isOptimizerState(const plan::Tensor &tensor);
// Whether the tensor is a state of the model: a running statistic or a counter of batches. Other
// states are those of the optimizer, and counters that Cleave has added, which come from no file.
bool isModelState(const plan::Tensor &tensor);
// The name of the counter of updates among the states of every optimizer.
constexpr const char *kUpdateCounter = "step";

// The name of an instruction's kind in messages and traces: `launch`, `matmul`, `all-reduce`, ….
std::string kindName(const plan::Instruction &instruction);

// The same of a collective: `all-reduce`, `send`, ….
std::string kindName(const plan::Collective &collective);

} // namespace cleave::artifact
