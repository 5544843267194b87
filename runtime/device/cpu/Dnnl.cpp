// See Dnnl.h.
#include "runtime/device/cpu/Dnnl.h"

#include "runtime/device/cpu/Parts.h"

namespace cleave::device {

dnnl::engine &cpuEngine() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::memory::data_type dnnlType(DType dtype) {
  switch (dtype) {
  case DType::F32:
    return dnnl::memory::data_type::f32;
  case DType::BF16:
    return dnnl::memory::data_type::bf16;
  default:
    return dnnl::memory::data_type::undef;
  }
}

bool isDnnlType(DType dtype) { return dnnlType(dtype) != dnnl::memory::data_type::undef; }

void DnnlAction::add(dnnl::primitive primitive, std::unordered_map<int, dnnl::memory> arguments) {
  steps_.emplace_back(std::move(primitive), std::move(arguments));
}

dnnl::memory DnnlAction::inScratch(const dnnl::memory::desc &layout) {
  dnnl::memory memory(layout, cpuEngine(), nullptr);
  inScratch_.emplace_back(scratchBytes_, memory);
  scratchBytes_ += (layout.get_size() + 63) / 64 * 64;
  return memory;
}

void DnnlAction::reserve(Scratch &scratch) {
  if (scratchBytes_ == 0)
    return;
  scratch.reserve(scratchBytes_, [placed = inScratch_](void *begin) {
    for (auto &[offset, memory] : placed)
      memory.set_data_handle(static_cast<char *>(begin) + offset);
  });
}

Status DnnlAction::run() {
  static thread_local dnnl::stream stream(cpuEngine());
  try {
    for (auto &[primitive, arguments] : steps_)
      primitive.execute(stream, arguments);
    stream.wait();
  } catch (const dnnl::error &error) {
    return Status::defect("oneDNN failed: ", error.what());
  }
  return Status::ok();
}

} // namespace cleave::device
