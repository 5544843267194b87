// What the files that talk to oneDNN share: engine, stream, and an action that executes one
// primitive with its reorders.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/cpu/Scratch.h"

#include <dnnl.hpp>
#include <unordered_map>

namespace cleave::device {

// oneDNN's CPU engine; one for the process.
dnnl::engine &cpuEngine();

// The oneDNN type of a dtype that its matmul and convolution take; undef for others.
dnnl::memory::data_type dnnlType(DType dtype);

// Primitives that are executed one after the other. Built by add(), then given to the device.
class DnnlAction : public Action {
public:
  // Appends a primitive with its arguments.
  void add(dnnl::primitive primitive, std::unordered_map<int, dnnl::memory> arguments);
  // A memory of this layout inside the shared scratch memory, for the whole action.
  dnnl::memory inScratch(const dnnl::memory::desc &layout);
  // To be called last: reserves the scratch memory.
  void reserve(Scratch &scratch);
  Status run() override;

private:
  std::vector<std::pair<dnnl::primitive, std::unordered_map<int, dnnl::memory>>> steps_;
  std::vector<std::pair<uint64_t, dnnl::memory>> inScratch_; // offset, who lies there
  uint64_t scratchBytes_ = 0;
};

} // namespace cleave::device
