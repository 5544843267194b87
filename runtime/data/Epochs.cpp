// See Epochs.h.
#include "runtime/data/Epochs.h"

#include <algorithm>

namespace cleave::data {

const char *name(LastBatch lastBatch) {
  const char *names[] = {"wrap", "drop", "pad"};
  return names[static_cast<int>(lastBatch)];
}

void Epochs::begin(int64_t step, DataPosition position) {
  first_ = step;
  begin_ = {position.epoch + position.sample / samples_, position.sample % samples_};
}

int64_t Epochs::stepsFor(int64_t samples) const {
  return lastBatch_ == LastBatch::Drop ? samples / perStep_ : (samples + perStep_ - 1) / perStep_;
}

DataPosition Epochs::positionAt(int64_t step) const {
  int64_t steps = step - first_;
  if (lastBatch_ == LastBatch::Wrap) {
    int64_t sample = begin_.sample + steps * perStep_;
    return {begin_.epoch + sample / samples_, sample % samples_};
  }
  int64_t rest = stepsFor(samples_ - begin_.sample); // of the epoch in which the run begins
  if (steps < rest)
    return {begin_.epoch, begin_.sample + steps * perStep_};
  steps -= rest;
  return {begin_.epoch + 1 + steps / stepsPerEpoch(), steps % stepsPerEpoch() * perStep_};
}

TakenSample Epochs::sampleAt(int64_t step, int64_t number) const {
  DataPosition position = positionAt(step);
  int64_t index = position.sample + number;
  if (index < samples_)
    return {position.epoch, index, false};
  if (lastBatch_ == LastBatch::Pad)
    return {position.epoch, index % samples_, true};
  return {position.epoch + index / samples_, index % samples_, false};
}

double Epochs::epochsAt(int64_t step) const {
  DataPosition position = positionAt(step);
  return double(position.epoch) + double(position.sample) / double(samples_);
}

int64_t Epochs::endOf(int64_t epochs) const {
  if (lastBatch_ == LastBatch::Wrap) {
    int64_t left = (epochs - begin_.epoch) * samples_ - begin_.sample;
    return first_ + std::max<int64_t>(0, left + perStep_ - 1) / perStep_;
  }
  int64_t rest = stepsFor(samples_ - begin_.sample);
  if (epochs <= begin_.epoch)
    return first_;
  return first_ + rest + (epochs - begin_.epoch - 1) * stepsPerEpoch();
}

} // namespace cleave::data
