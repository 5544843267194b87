// FakeStep: a step without IR, for tests of the search on one rank. Recomputed ops are plain data,
// and a program takes the peak of its stores (setPlainStores), or what a test makes of it.
#pragma once

#include "compiler/planner/search/PlannerOptions.h"
#include "compiler/planner/search/Step.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace cleave::test {

// Bytes of a step's buffers when most of them are live, with each value whole.
int64_t peakOf(const planner::StepModel &model);

// State that all copies of a step share.
struct FakePrograms {
  // From the peak of the stores to the bytes of the program; empty: they are equal.
  std::function<int64_t(int64_t)> bytes;
  std::function<int64_t(int64_t)> bytesIn; // from the budget instead, if it is not empty
  Status failure;                          // of realise(), if it is one
  int read = 0;                            // programs whose memory was asked for
  int copies = 0;                          // copies that were made
};

class FakeStep final : public planner::Step {
public:
  // Keeps a reference to `programs`.
  FakeStep(planner::StepModel model, FakePrograms &programs)
      : model_(std::move(model)), programs_(programs) {}

  const planner::StepModel &model() const override { return model_; }
  // Recomputes each op at most once, before its first reader. Values that are kept in
  // other spaces have no buffers in device memory.
  Result<std::unique_ptr<planner::Step>> realise(const planner::RematPolicy &policy) const override;
  Result<planner::ProgramMemory> memory(const planner::Decisions &decisions,
                                        const cluster::Cluster &shared,
                                        const planner::Budget &budget) const override;

private:
  planner::StepModel model_;
  FakePrograms &programs_;
};

// A step whose backward part reads two results of each of nine layers (DeepStep.h).
planner::StepModel nineLayers();
// Bytes of one of these results.
inline constexpr int64_t kActivation = 4 * 64 * 16;

// Options for plans of a step on one rank within a budget in bytes.
planner::PlannerOptions onOneRank(int64_t budget);

} // namespace cleave::test
