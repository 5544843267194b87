// Takes the times of DeviceTimes on a device of the runtime, between timed events.
#pragma once

#include "compiler/cluster/MeasureDevice.h"
#include "runtime/comm/DeviceWorld.h"

#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace cleave::cluster {

class TimedDevice final : public DeviceTimes {
public:
  // One rank's. All outlive it.
  TimedDevice(device::Device &device, comm::World &world, comm::DeviceWorld &devices)
      : device_(device), world_(world), devices_(devices) {}
  // Loads the kernels and connects the ranks; before all else.
  Status begin();

  Result<double> emptyKernel() override;
  Result<double> product(const std::string &elementType, int64_t size) override;
  Result<double> addition(int64_t bytes) override;
  Result<double> arithmetic(double flops) override;
  Result<double> upload(int64_t bytes) override;
  Result<double> collective(CollectiveKind kind, int ranks, int64_t bytes) override;
  int ranks() const override { return world_.size(); }

private:
  Result<void *> memory(plan::Space space, int index, int64_t bytes);
  Result<double> launch(const plan::Kernel &kernel, std::vector<void *> buffers);
  using Prepare = std::function<device::PreparedAction()>;
  Result<double> own(uint32_t queue, const Prepare &prepare);
  Result<double> seconds(device::Action &action, uint32_t queue, int repeats);
  Result<double> agreed(double own);

  device::Device &device_;
  comm::World &world_;
  comm::DeviceWorld &devices_;
  std::unique_ptr<comm::Communicator> everyone_;
  std::map<int, std::unique_ptr<comm::DeviceGroup>> groups_; // of the first ranks, by their number
  device::Event begin_ = 0, end_ = 0;
  struct Block {
    std::shared_ptr<void> data;
    int64_t bytes = 0;
  };
  std::map<std::pair<plan::Space, int>, Block> blocks_; // grown as needed
};

} // namespace cleave::cluster
