// The functions of the verifier's rules (Verify.h), and the names of places in a plan in their
// messages. Private to this folder.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"

#include <string>

namespace cleave::artifact {

// One program of a plan and a rank that runs it.
struct ProgramView {
  const plan::Plan &plan;
  const plan::Program &program;
  uint32_t rank;

  // `rank 1, buffer 'w1'`
  std::string buffer(uint32_t index) const;
  // `rank 1, segment 'micro', instruction 7 (matmul 'mlp.fc1')`
  std::string instruction(int segment, int index) const;
};

// A limit for counts of elements and bytes: above every machine's memory, and small enough to be
// multiplied by the size of an element or a few sizes of a mesh.
constexpr int64_t kMostElements = int64_t(1) << 48;

// The buffer of an index that is in range, its name in quotes, and whether two buffers have common
// bytes.
const plan::Buffer &at(const ProgramView &view, uint32_t buffer);
std::string quoted(const ProgramView &view, uint32_t buffer);
bool shareBytes(const plan::Buffer &a, const plan::Buffer &b);
// The name of a role; of an unknown one its number.
std::string roleName(plan::Role role);
// Whether all sizes and their product are in [0, kMostElements].
Status verifySizes(const google::protobuf::RepeatedField<int64_t> &shape);
// Whether the number can be converted to the dtype: floats take all numbers, integers those in the
// range of 64 bits.
bool isStorable(double value, plan::DType dtype);

// Mesh, program table, tensors. The other rules rely on it.
Status verifyStructure(const plan::Plan &plan);
// The part of it on the ranks of programs. Needs a correct mesh.
Status verifyProgramTable(const plan::Plan &plan);
// The part of it on tensors. Needs a correct mesh.
Status verifyTensors(const plan::Plan &plan);
// Buffers and arenas of one program.
Status verifyPlacement(const ProgramView &view);
// The table of kernels.
Status verifyKernels(const ProgramView &view);
// Every instruction by itself. Needs verifyPlacement and verifyKernels.
Status verifyInstructions(const ProgramView &view);
// Those kinds of instructions that compute. Their buffers exist and are large enough.
Status verifyLaunch(const ProgramView &view, const plan::Launch &launch);
Status verifyMatmul(const ProgramView &view, const plan::Matmul &matmul);
Status verifyConvolution(const ProgramView &view, const plan::Convolution &convolution);
Status verifyAttention(const ProgramView &view, const plan::Attention &attention);
Status verifyGroupedMatmul(const ProgramView &view, const plan::GroupedMatmul &matmul);
// The dtypes of a product, by the buffers of both factors and of the product: the factors have one
// dtype, and the product the same or, of 16-bit floats, f32.
Status verifyProduct(const ProgramView &view, uint32_t first, uint32_t second, uint32_t product);
// Whether the buffer begins with an I64 scalar.
Status verifyScalar(const ProgramView &view, uint32_t buffer);

// Whether no two indices of a strided tensor have the same place; sizes as in reachOf.
bool areDistinct(const plan::StridedOperand &operand, std::span<const int64_t> sizes);
// The number of segments and instructions that the schedule runs.
Status verifySchedule(const ProgramView &view);
// The queues of one program. Needs verifyInstructions and verifySchedule.
Status verifyQueues(const ProgramView &view);
// The loads that may run during the step before (LoadInput.early). Needs verifyInstructions and
// verifySchedule.
Status verifyEarlyLoads(const ProgramView &view);
// The schedule in order. Needs verifyInstructions and verifySchedule.
Status verifyDataflow(const ProgramView &view);
// The memory that the programs of each rank share. Needs verifyPlacement on all programs.
Status verifyPrograms(const plan::Plan &plan);
// All ranks together. Needs verifyInstructions on all programs.
Status verifyCommunication(const plan::Plan &plan);

} // namespace cleave::artifact
