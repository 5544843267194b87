// Builds small plans by hand: every buffer is always live and follows the previous one in memory.
#pragma once

#include "runtime/artifact/program.pb.h"

#include <string>
#include <vector>

namespace cleave {

class PlanBuilder {
public:
  explicit PlanBuilder(std::vector<uint32_t> mesh) {
    plan_.set_device("cpu");
    uint32_t ranks = 1;
    for (uint32_t size : mesh) {
      plan_.add_mesh()->set_size(size);
      ranks *= size;
    }
    for (uint32_t rank = 0; rank < ranks; ++rank)
      program().add_ranks(rank);
    program().add_arenas();
    program().add_segments()->set_name("micro");
    program().add_schedule();
  }

  plan::Plan &plan() { return plan_; }
  plan::Program &program() {
    return plan_.programs_size() ? *plan_.mutable_programs(0) : *plan_.add_programs();
  }

  // A tensor with one list of axes per dim; returns its index.
  int tensor(const std::string &name, plan::Role role, std::vector<int64_t> shape,
             std::vector<std::vector<uint32_t>> sharding, plan::DType dtype = plan::F32) {
    plan::Tensor *tensor = plan_.add_tensors();
    tensor->set_name(name), tensor->set_role(role), tensor->set_dtype(dtype);
    for (int64_t size : shape)
      tensor->add_shape(size);
    for (const auto &axes : sharding)
      for (plan::DimSharding *dim = tensor->add_sharding(); uint32_t axis : axes)
        dim->add_axes(axis);
    return plan_.tensors_size() - 1;
  }

  // A buffer of this rank's shape; returns its index.
  uint32_t buffer(const std::string &name, plan::Role role, std::vector<int64_t> shape,
                  int tensor = -1, plan::DType dtype = plan::F32) {
    plan::Buffer *buffer = program().add_buffers();
    plan::Arena &arena = *program().mutable_arenas(0);
    uint64_t bytes = dtype == plan::I64 || dtype == plan::F64 ? 8 : 4;
    for (int64_t size : shape) {
      buffer->add_shape(size);
      bytes *= uint64_t(size);
    }
    buffer->set_name(name), buffer->set_role(role), buffer->set_tensor(tensor);
    buffer->set_dtype(dtype), buffer->set_bytes(bytes);
    buffer->set_offset((arena.bytes() + 63) / 64 * 64);
    arena.set_bytes(buffer->offset() + bytes);
    arena.set_peak_bytes(arena.peak_bytes() + (bytes + 63) / 64 * 64);
    return uint32_t(program().buffers_size() - 1);
  }

  // The next instruction of the last segment.
  plan::Instruction *add(const std::string &name) {
    plan::Segment *segment = program().mutable_segments(program().segments_size() - 1);
    plan::Instruction *instruction = segment->add_instructions();
    instruction->set_name(name);
    return instruction;
  }

  // out = lhs * rhs, all dense.
  void matmul(uint32_t lhs, uint32_t rhs, uint32_t out, int64_t m, int64_t n, int64_t k) {
    plan::Matmul *matmul = add("matmul")->mutable_matmul();
    matmul->set_m(m), matmul->set_n(n), matmul->set_k(k);
    auto dense = [](plan::StridedOperand *operand, uint32_t buffer, int64_t columns) {
      operand->set_buffer(buffer);
      operand->add_strides(columns), operand->add_strides(1);
    };
    dense(matmul->mutable_lhs(), lhs, k);
    dense(matmul->mutable_rhs(), rhs, n);
    dense(matmul->mutable_out(), out, n);
  }

  void load(uint32_t buffer) { add("load")->mutable_load_input()->set_buffer(buffer); }
  void store(uint32_t buffer) { add("store")->mutable_store_output()->set_buffer(buffer); }
  void metric(const std::string &name, uint32_t buffer) {
    plan::Metric *metric = add(name)->mutable_metric();
    metric->set_name(name), metric->set_buffer(buffer);
  }

  // The finished plan, with lifetimes from the first to the last instruction.
  const plan::Plan &finish() {
    uint32_t count = 0;
    for (const plan::Segment &segment : program().segments())
      count += uint32_t(segment.instructions_size());
    for (plan::Buffer &buffer : *program().mutable_buffers())
      buffer.set_first(0), buffer.set_last(count ? count - 1 : 0);
    return plan_;
  }

private:
  plan::Plan plan_;
};

} // namespace cleave
