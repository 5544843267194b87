// The checkpoints of one run: when and where they are saved, and which one to resume from.
#pragma once

#include "runtime/base/Status.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/checkpoint/FolderLock.h"
#include "runtime/comm/Communicator.h"
#include "runtime/comm/PatientBarrier.h"
#include "tools/cleave-run/Options.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cleave::run {

class Saver {
public:
  // `extra` is saved with every checkpoint (Progress.extra). Without --save, saves nothing.
  // `options` outlives the saver.
  Saver(const Options &options, std::map<std::string, std::string> extra)
      : options_(options), extra_(std::move(extra)) {}

  // Adds an entry to `extra`.
  void add(const std::string &key, const std::string &value) { extra_[key] = value; }

  // Checks and, on rank 0, locks the folder for this run; `resumed` is the checkpoint that the run
  // continues, null if none. User errors: another job saves into the folder, it has the checkpoint
  // of another run, or it cannot be written.
  Status open(int rank, const checkpoint::Checkpoint *resumed);

  // Writes a checkpoint whose next step is `next`, unless it is saved already. `isFinite`: the
  // metrics of the step before are finite. Returns whether it has written one.
  // Collective; a rank that makes no progress is lost (PatientBarrier.h). User errors, the same on
  // all ranks, leave the folder as it was.
  Result<bool> save(int64_t next, bool isFinite, const std::vector<checkpoint::Slice> &slices,
                    comm::Communicator &world, comm::PatientBarrier &barrier);

  // Whether this number of --keep-best is better than that of every checkpoint before.
  bool isBest(double value) const;
  // Notes on rank 0 that the checkpoint whose next step is `next`, which is saved, is the best one.
  Status setBest(int64_t next, double value, int rank);

  // Whether this run has saved a checkpoint.
  bool hasSaved() const { return hasSaved_; }
  // Whether the last checkpoint is the one whose next step is `next`.
  bool hasSaved(int64_t next) const { return saved_ == next; }
  // The folder of the newest checkpoint that it has saved.
  std::string lastSaved() const { return checkpoint::pathOf(options_.save, saved_); }

  // The folder of the newest finite checkpoint that this run has saved or continues; empty if
  // there is none.
  const std::string &lastGood() const { return lastGood_; }

private:
  const Options &options_;
  std::map<std::string, std::string> extra_;
  std::unique_ptr<checkpoint::FolderLock> lock_; // of rank 0
  int64_t saved_ = -1; // next step of the last checkpoint, or of the resumed one
  bool hasSaved_ = false;
  std::string lastGood_;
  std::optional<double> best_; // of --keep-best
};

} // namespace cleave::run
