// A valid plan for two ranks, in which each test of the verifier breaks one rule.
//
// Each rank multiplies its rows of `x` by `w`, and both sum their products: load x, y = x * w, z =
// all-reduce of y, barrier (an all-reduce of nothing; both in the queue that communicates), loss =
// kernel(z), report loss.
#pragma once

#include "runtime/artifact/KernelSignature.h"
#include "runtime/artifact/Programs.h"
#include "runtime/artifact/Verify.h"
#include "runtime/artifact/program.pb.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace cleave {

enum Buffers : uint32_t { X, W, Y, Z, Loss, Where };
enum Instructions { Load, Multiply, Sum, Barrier, Reduce, Report };

inline plan::Buffer *addBuffer(plan::Program &program, const char *name, plan::Role role,
                               uint64_t offset, std::vector<int64_t> shape, uint32_t first,
                               uint32_t last, int tensor) {
  plan::Buffer *buffer = program.add_buffers();
  buffer->set_name(name);
  buffer->set_role(role);
  buffer->set_offset(offset);
  buffer->set_dtype(role == plan::COORDINATES ? plan::I64 : plan::F32);
  uint64_t bytes = role == plan::COORDINATES ? 8 : 4;
  for (int64_t size : shape) {
    buffer->add_shape(size);
    bytes *= uint64_t(size);
  }
  buffer->set_bytes(bytes);
  buffer->set_first(first), buffer->set_last(last), buffer->set_tensor(tensor);
  return buffer;
}

inline plan::Instruction *addInstruction(plan::Program &program, const char *name) {
  plan::Instruction *instruction = program.mutable_segments(0)->add_instructions();
  instruction->set_name(name);
  return instruction;
}

inline void addTensors(plan::Plan &plan) {
  plan::Tensor *x = plan.add_tensors(), *w = plan.add_tensors();
  x->set_name("x"), x->set_dtype(plan::F32), x->set_role(plan::INPUT);
  x->add_shape(8), x->add_shape(16);
  x->add_sharding()->add_axes(0);
  x->add_sharding();
  w->set_name("w"), w->set_dtype(plan::F32), w->set_role(plan::PARAMETER);
  w->add_shape(16), w->add_shape(16);
  w->add_sharding(), w->add_sharding();
  w->mutable_source()->set_fill(0.5);
  plan.mutable_source()->set_path("/models/valid.onnx");
}

inline void setStrides(plan::StridedOperand *operand, uint32_t buffer, int64_t rows,
                       int64_t columns) {
  operand->set_buffer(buffer);
  operand->add_strides(rows), operand->add_strides(columns);
}

inline void addInstructions(plan::Program &program) {
  program.add_segments()->set_name("micro");
  addInstruction(program, "x")->mutable_load_input()->set_buffer(X);
  plan::Matmul *matmul = addInstruction(program, "product")->mutable_matmul();
  matmul->set_m(4), matmul->set_n(16), matmul->set_k(16);
  setStrides(matmul->mutable_lhs(), X, 16, 1);
  setStrides(matmul->mutable_rhs(), W, 16, 1);
  setStrides(matmul->mutable_out(), Y, 16, 1);
  plan::Instruction *sum = addInstruction(program, "sum");
  sum->set_queue(1), sum->add_waits(Multiply);
  sum->mutable_collective()->add_axes(0);
  sum->mutable_collective()->add_send(Y), sum->mutable_collective()->add_recv(Z);
  plan::Instruction *barrier = addInstruction(program, "barrier");
  barrier->set_queue(1), barrier->mutable_collective()->add_axes(0);
  plan::Instruction *loss = addInstruction(program, "loss");
  loss->add_waits(Barrier);
  plan::Launch *launch = loss->mutable_launch();
  launch->add_buffers(Z), launch->add_buffers(Loss), launch->add_written(1);
  plan::Metric *metric = addInstruction(program, "loss")->mutable_metric();
  metric->set_buffer(Loss), metric->set_name("loss");
}

// Gives the kernel of the plan the symbol of its signature.
inline void rename(plan::Plan &plan, int program = 0) {
  plan::Kernel &kernel = *plan.mutable_programs(program)->mutable_kernels(0);
  kernel.set_symbol(artifact::symbolOf("sum", kernel, plan.mesh()));
}

// Two ranks, one program. Buffers: x 256 bytes, w 1024, y 256, z 256, loss in the memory of y,
// coordinates.
inline plan::Plan validPlan() {
  plan::Plan plan;
  plan::MeshAxis *dp = plan.add_mesh();
  dp->set_name("dp"), dp->set_size(2);
  plan.set_device("cpu");
  plan.add_modules()->set_target("cpu"), plan.mutable_modules(0)->set_code("elf");
  addTensors(plan);
  plan::Program &program = *plan.add_programs();
  program.set_name("step"), artifact::setRanks(program, 2);
  plan::Arena *arena = program.add_arenas();
  arena->set_bytes(1856), arena->set_peak_bytes(1024 + 64 + 256 + 256);
  plan::Kernel *kernel = program.add_kernels();
  kernel->set_extent(1);
  plan::KernelParameter *from = kernel->add_parameters(), *to = kernel->add_parameters();
  from->set_dtype(plan::F32), from->set_bytes(256);
  to->set_dtype(plan::F32), to->set_bytes(4), to->set_written(true);
  rename(plan);
  addBuffer(program, "x", plan::INPUT, 0, {4, 16}, Load, Multiply, 0);
  addBuffer(program, "w", plan::PARAMETER, 256, {16, 16}, 0, Report, 1);
  addBuffer(program, "y", plan::ACTIVATION, 1280, {4, 16}, Multiply, Barrier, -1);
  addBuffer(program, "z", plan::ACTIVATION, 1536, {4, 16}, Sum, Reduce, -1);
  addBuffer(program, "loss", plan::METRIC, 1280, {}, Reduce, Report, -1);
  addBuffer(program, "where", plan::COORDINATES, 1792, {1}, 0, Report, -1);
  addInstructions(program);
  program.add_schedule();
  return plan;
}

inline plan::Buffer &buffer(plan::Plan &plan, Buffers which) {
  return *plan.mutable_programs(0)->mutable_buffers(int(which));
}

inline plan::Instruction &instruction(plan::Plan &plan, int which, int program = 0) {
  return *plan.mutable_programs(program)->mutable_segments(0)->mutable_instructions(which);
}

// The valid plan for GPUs.
inline plan::Plan gpuPlan() {
  plan::Plan plan = validPlan();
  plan.set_device("cuda"), plan.mutable_modules(0)->set_target("sm_90");
  plan::Kernel &kernel = *plan.mutable_programs(0)->mutable_kernels(0);
  kernel.set_extent(0);
  kernel.mutable_grid()->set_blocks(1), kernel.mutable_grid()->set_threads(64);
  rename(plan);
  plan.mutable_programs(0)->mutable_arenas(0)->set_peak_bytes(1024 + 3 * 256);
  return plan;
}

// The valid plan with a separate program for rank 1, for rules about several ranks.
inline plan::Plan twoPrograms() {
  plan::Plan plan = validPlan();
  plan::Program &second = *plan.add_programs();
  second = plan.programs(0);
  plan.mutable_programs(0)->mutable_ranks()->RemoveLast();
  second.clear_ranks(), second.add_ranks(1);
  return plan;
}

// Both ranks first send y and then receive into z; if `reversed`, rank 1 first receives.
inline plan::Plan exchange(bool reversed) {
  plan::Plan plan = twoPrograms();
  for (int rank = 0; rank < 2; ++rank) {
    bool receivesFirst = reversed && rank == 1;
    plan::Collective send, recv;
    send.set_kind(plan::Collective::SEND), send.add_axes(0), send.add_send(Y);
    recv.set_kind(plan::Collective::RECV), recv.add_axes(0), recv.add_recv(Z);
    send.set_peer(uint32_t(1 - rank)), recv.set_peer(uint32_t(1 - rank));
    *instruction(plan, Sum, rank).mutable_collective() = receivesFirst ? recv : send;
    *instruction(plan, Barrier, rank).mutable_collective() = receivesFirst ? send : recv;
  }
  return plan;
}

// The message of the first violated rule, which must be a defect; empty for a valid plan.
inline std::string brokenRule(const plan::Plan &plan) {
  Status status = artifact::verifyPlan(plan);
  if (!status)
    CHECK(status.exitCode() == 4);
  return status.message();
}

} // namespace cleave
