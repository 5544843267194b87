// A device over the recorder, for calls of its libraries.
#pragma once

#include "test/unit/runtime_device_cuda/Recorder.h"
#include "test/unit/runtime_device_cuda/RecordingDriver.h"

#include <memory>
#include <string>
#include <vector>

namespace cleave::test {

// A device, and memory that its operands lie in.
class Setting {
public:
  Setting() : recorder_(plan_) {
    Recorder::current() = &recorder_;
    device_ = std::move(*device::makeCudaDevice(0, recordingLibraries()));
  }
  ~Setting() {
    memory_.clear();
    device_.reset();
    Recorder::current() = nullptr;
  }
  void *memory(uint64_t bytes) {
    memory_.push_back(*device_->allocate(plan::DEVICE, bytes));
    return memory_.back().get();
  }
  device::Device &device() { return *device_; }
  Recorder &recorder() { return recorder_; }
  // How often libraries and driver were called like this since the last question.
  int calls(const std::string &name) { return recorder_.takeCalls()[name]; }
  // Runs the action, if there is one; the first fault or the reason for which there is none.
  std::string run(device::PreparedAction action) {
    if (!action)
      return action.status().message();
    Status status = (*action)->run();
    (*action).reset();
    return !recorder_.faults().empty() ? recorder_.faults()[0] : status.message();
  }

private:
  plan::Plan plan_;
  Recorder recorder_;
  std::unique_ptr<device::Device> device_;
  std::vector<std::shared_ptr<void>> memory_;
};

using Strides = std::vector<int64_t>;

inline void setOperand(plan::StridedOperand *operand, const Strides &strides) {
  operand->mutable_strides()->Add(strides.begin(), strides.end());
}

} // namespace cleave::test
