// The data of a run: where it begins in them, the step behind its last one, and what the user is
// told about epochs.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/comm/Communicator.h"
#include "runtime/data/DataSource.h"
#include "tools/cleave-run/DataFeed.h"
#include "tools/cleave-run/Generation.h"
#include "tools/cleave-run/Options.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cleave::run {

// The key of the place in the data in the Progress.extra of checkpoints.
constexpr const char *kDataKey = "data";

class RunData {
public:
  // Opens the data of the plan, unless it has no inputs, and moves to where `checkpoint` (null:
  // none) was, whose next step is `first`. User errors: data and plan do not fit, or --epochs
  // without samples. A plan for another batch goes on with the sample that would have been next.
  // `threads` decode images.
  Status open(const plan::Plan &plan, const Options &options,
              const checkpoint::Checkpoint *checkpoint, int64_t first, int threads);

  // The inputs of the steps; null if the plan has none.
  const data::DataSource *source() const {
    return feed_         ? static_cast<const data::DataSource *>(&feed_->source())
           : generation_ ? &generation_->source()
                         : source_.get();
  }

  // On rank 0: starts the data command, if there is one, which begins with step `first`.
  Status start(int64_t first) { return feed_ ? feed_->start(first) : Status::ok(); }
  // Collective: sees to it that source() has the step. False if a data command has ended before it
  // (DataFeed.h).
  Result<bool> prepare(int64_t step, comm::Communicator &everyone) {
    if (generation_)
      CLEAVE_TRY(generation_->prepare(step));
    return feed_ ? feed_->receive(step, everyone) : Result<bool>(true);
  }
  // The continuation of a prompt; null if there is none.
  Generation *generation() { return generation_.get(); }

  // The step behind the last one of a run that began with step `origin`: as --steps or --epochs
  // say, else after one epoch; after one step without samples.
  int64_t endOf(const Options &options, int64_t origin) const;

  // The samples of a step; 0 without samples.
  int64_t samplesPerStep() const {
    return source() ? source()->samplesPerMicroBatch() * slots_ : 0;
  }
  // Whether the number of samples is known.
  bool hasEpochs() const { return epochs_ != nullptr; }
  // The steps of an epoch, in the mean; 0 if the number of samples is not known.
  double stepsPerEpoch() const;
  // The epochs before a step, as a fraction; 0 if they are not known.
  double epochsAt(int64_t step) const { return epochs_ ? epochs_->epochsAt(step) : 0; }
  // The samples of `steps` steps from step `first` on, without padding.
  int64_t samplesIn(int64_t first, int64_t steps) const;
  // `samples` or `tokens`, and how many of them a step takes; 0 without samples.
  std::pair<std::string, int64_t> amount() const;

  // `data: 37 samples, 4.6 steps of 8 an epoch; …`; empty without samples.
  std::string summary() const;
  // What the user should know about the data; empty if there is nothing.
  const std::vector<std::string> &warnings() const { return warnings_; }
  const std::vector<std::string> &notes() const { return notes_; }

  // The value of kDataKey for a checkpoint whose next step is `step`; empty without samples.
  std::string stateAt(int64_t step) const;

private:
  void resume(const std::string &state, int64_t first);
  std::string order() const;

  std::unique_ptr<data::DataSource> source_; // of files
  std::unique_ptr<DataFeed> feed_;           // of a command
  std::unique_ptr<Generation> generation_;   // of a prompt
  int64_t slots_ = 1;                        // micro-batches per step
  data::Epochs *epochs_ = nullptr;           // of source_; null without samples
  int64_t unit_ = 1;                         // samples for the user per sample of epochs_
  bool trains_ = true;
  std::optional<uint64_t> shuffleSeed_;
  std::vector<std::string> warnings_, notes_;
};

} // namespace cleave::run
