// Runs all ranks of a plan as threads of this process.
#pragma once

#include "runtime/artifact/Mesh.h"
#include "runtime/comm/local/LocalWorld.h"
#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/executor/Executor.h"

#include <functional>
#include <thread>
#include <vector>

namespace cleave {

// Input `i` of the plan, whole micro-batch: value(i, element, step, slot).
class FormulaData : public data::DataSource {
public:
  using Value = std::function<float(size_t, int64_t, int64_t, int64_t)>;
  FormulaData(const plan::Plan &plan, Value value)
      : inputs_(executor::inputsOf(plan)), value_(std::move(value)) {}
  int64_t samples() const override { return 1000; }
  int64_t samplesPerMicroBatch() const override { return 1; }
  Status fill(size_t input, int64_t step, int64_t slot, const std::vector<int64_t> &offset,
              const std::vector<int64_t> &shape, void *destination) const override {
    const std::vector<int64_t> &whole = inputs_[input].shape; // two dims
    for (int64_t i = 0; i < shape[0]; ++i)
      for (int64_t j = 0; j < shape[1]; ++j) {
        int64_t row = offset[0] + i, column = offset[1] + j;
        bool inside = row < whole[0] && column < whole[1];
        static_cast<float *>(destination)[i * shape[1] + j] =
            inside ? value_(input, row * whole[1] + column, step, slot) : 0;
      }
    return Status::ok();
  }

private:
  std::vector<data::InputDescription> inputs_;
  Value value_;
};

// Calls body(executor, world) on every rank; returns the first failure by rank.
inline Status runRanks(const plan::Plan &plan, const data::DataSource *data,
                       const executor::ExecutorOptions &options,
                       const std::function<Status(executor::Executor &, comm::World &)> &body) {
  size_t ranks = artifact::rankCount(plan);
  auto worlds = comm::makeLocalWorlds(int(ranks));
  std::vector<Status> statuses(ranks);
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      auto made =
          executor::Executor::create(plan, *worlds[rank], device::makeCpuDevice(1), data, options);
      statuses[rank] = made ? body(**made, *worlds[rank]) : made.status();
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const Status &status : statuses)
    if (!status)
      return status;
  return Status::ok();
}

} // namespace cleave
