// Which samples each step takes, and where a run is in its data: epochs, and the batch at the end
// of an epoch that has too few samples.
#pragma once

#include <cstdint>

namespace cleave::data {

// What happens where an epoch ends inside of a step.
enum class LastBatch {
  Wrap, // the step goes on with the first samples of the next epoch
  Drop, // the rest of the epoch, too few samples for a step, is left out
  Pad,  // the step repeats samples of the epoch, with labels that the loss ignores
};

// `wrap`, `drop`, `pad`
const char *name(LastBatch lastBatch);

// A place in the data: `sample` samples of epoch `epoch` (from 0) are taken.
struct DataPosition {
  int64_t epoch = 0, sample = 0;

  bool operator==(const DataPosition &) const = default;
};

// One of the samples that a step takes.
struct TakenSample {
  int64_t epoch = 0;
  int64_t index = 0;      // in the order of the epoch
  bool isPadding = false; // repeats a sample of the epoch
};

class Epochs {
public:
  // An epoch has `samples` samples, a step takes `perStep`; both are at least 1. With Drop an epoch
  // has at least one whole step. Step 0 begins at the begin of epoch 0.
  Epochs(int64_t samples, int64_t perStep, LastBatch lastBatch)
      : samples_(samples), perStep_(perStep), lastBatch_(lastBatch) {}

  // Step `step` begins at `position`; what is asked for later is of this and later steps.
  void begin(int64_t step, DataPosition position);

  // The sample at place `number` (from 0) of a step.
  TakenSample sampleAt(int64_t step, int64_t number) const;
  // Where the step begins.
  DataPosition positionAt(int64_t step) const;
  // The epochs before the step, as a fraction.
  double epochsAt(int64_t step) const;
  // The first step that begins when `epochs` epochs are over.
  int64_t endOf(int64_t epochs) const;

  // The steps of an epoch; with Wrap the least number that takes every sample.
  int64_t stepsPerEpoch() const { return stepsFor(samples_); }
  int64_t samples() const { return samples_; }
  int64_t perStep() const { return perStep_; }
  LastBatch lastBatch() const { return lastBatch_; }

private:
  // The steps that take the last `samples` samples of an epoch.
  int64_t stepsFor(int64_t samples) const;

  int64_t samples_, perStep_;
  LastBatch lastBatch_;
  int64_t first_ = 0; // the step that begins at begin_
  DataPosition begin_;
};

} // namespace cleave::data
