// Epochs: the samples of every step, and places in the data.
#include "runtime/data/Epochs.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace cleave::data;

// The samples of a step; those of padding negative.
static std::vector<int64_t> samplesOf(const Epochs &epochs, int64_t step) {
  std::vector<int64_t> samples;
  for (int64_t i = 0; i < epochs.perStep(); ++i) {
    TakenSample taken = epochs.sampleAt(step, i);
    int64_t number = taken.epoch * 100 + taken.index;
    samples.push_back(taken.isPadding ? -1 - number : number);
  }
  return samples;
}

TEST_CASE("an epoch that ends inside of a step goes on, is cut, or is padded") {
  Epochs wrap(5, 2, LastBatch::Wrap), drop(5, 2, LastBatch::Drop), pad(5, 2, LastBatch::Pad);
  CHECK(samplesOf(wrap, 2) == std::vector<int64_t>{4, 100});
  CHECK(samplesOf(wrap, 3) == std::vector<int64_t>{101, 102});
  CHECK(samplesOf(drop, 2) == std::vector<int64_t>{100, 101});
  CHECK(samplesOf(pad, 2) == std::vector<int64_t>{4, -1});
  CHECK(samplesOf(pad, 3) == std::vector<int64_t>{100, 101});
  CHECK(wrap.stepsPerEpoch() == 3);
  CHECK(drop.stepsPerEpoch() == 2);
  CHECK(pad.stepsPerEpoch() == 3);
  CHECK(wrap.epochsAt(1) == 0.4);
}

TEST_CASE("fewer samples than a step takes are repeated or padded") {
  CHECK(samplesOf(Epochs(2, 5, LastBatch::Wrap), 0) == std::vector<int64_t>{0, 1, 100, 101, 200});
  CHECK(samplesOf(Epochs(2, 5, LastBatch::Pad), 1) ==
        std::vector<int64_t>{100, 101, -101, -102, -101});
}

TEST_CASE("a number of epochs ends where the last sample is taken") {
  for (LastBatch lastBatch : {LastBatch::Wrap, LastBatch::Drop, LastBatch::Pad})
    for (int64_t samples : {4, 5, 7})
      for (int64_t number : {1, 2, 3}) {
        Epochs epochs(samples, 2, lastBatch);
        int64_t end = epochs.endOf(number);
        CHECK(epochs.epochsAt(end) >= number);
        CHECK(epochs.epochsAt(end - 1) < number);
      }
}

TEST_CASE("a run that goes on at a place takes what would have been next, whatever its batch") {
  for (LastBatch lastBatch : {LastBatch::Wrap, LastBatch::Drop, LastBatch::Pad})
    for (int64_t step = 0; step < 9; ++step) {
      Epochs through(7, 2, lastBatch), resumed(7, 2, lastBatch);
      resumed.begin(step, through.positionAt(step));
      for (int64_t later = step; later < step + 9; ++later)
        CHECK(samplesOf(resumed, later) == samplesOf(through, later));
      CHECK(resumed.endOf(9) == through.endOf(9));
      Epochs wider(7, 3, lastBatch); // under a plan with another batch
      wider.begin(step, through.positionAt(step));
      TakenSample next = wider.sampleAt(step, 0);
      bool isLeftOut = lastBatch == LastBatch::Drop && through.positionAt(step).sample > 4;
      CHECK((isLeftOut || DataPosition{next.epoch, next.index} == through.positionAt(step)));
    }
}

TEST_CASE("no more epochs than there were end at once") {
  for (LastBatch lastBatch : {LastBatch::Wrap, LastBatch::Drop, LastBatch::Pad}) {
    Epochs epochs(4, 2, lastBatch);
    epochs.begin(10, {3, 2});
    CHECK(epochs.endOf(3) == 10);
    CHECK(epochs.endOf(4) == 11);
  }
}
