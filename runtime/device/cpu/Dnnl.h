// Common parts of the files that use oneDNN: engine, dtypes, and an action that executes
// primitives.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/cpu/Scratch.h"

#include <dnnl.hpp>
#include <unordered_map>

namespace cleave::device {

// oneDNN's CPU engine, shared by the process.
dnnl::engine &cpuEngine();

// The oneDNN type of a dtype that its matmul and convolution support; undef for others.
dnnl::memory::data_type dnnlType(DType dtype);

// Executes oneDNN primitives one after the other.
class DnnlAction : public Action {
public:
  // Appends a primitive with its arguments.
  void add(dnnl::primitive primitive, std::unordered_map<int, dnnl::memory> arguments);
  // Memory of this layout in the shared scratch memory, valid during the whole action.
  dnnl::memory inScratch(const dnnl::memory::desc &layout);
  // To be called after the last primitive: reserves the scratch memory.
  void reserve(Scratch &scratch);
  Status run() override;

private:
  std::vector<std::pair<dnnl::primitive, std::unordered_map<int, dnnl::memory>>> steps_;
  std::vector<std::pair<uint64_t, dnnl::memory>> inScratch_; // offset and memory
  uint64_t scratchBytes_ = 0;
};

} // namespace cleave::device
