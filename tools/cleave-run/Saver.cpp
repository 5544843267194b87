// See Saver.h.
#include "tools/cleave-run/Saver.h"

#include "runtime/checkpoint/Best.h"
#include "tools/cleave-run/Evaluator.h"
#include "tools/cleave-run/Gather.h"

#include <chrono>
#include <cmath>
#include <cstdio>

namespace cleave::run {

// Time in which the lock of a job that has just died ends.
constexpr std::chrono::seconds kLockPatience{2};

Status Saver::open(int rank, const checkpoint::Checkpoint *resumed) {
  if (resumed)
    lastGood_ = resumed->path();
  if (options_.save.empty())
    return Status::ok();
  if (rank == 0) {
    CLEAVE_TRY_ASSIGN(lock_, checkpoint::FolderLock::acquire(options_.save, kLockPatience));
    if (!lock_->isHeld() && !options_.quiet)
      std::fprintf(stderr,
                   "cleave-run: warning: the file system of '%s' has no locks; make sure that no "
                   "other job saves there\n",
                   options_.save.c_str());
  }
  CLEAVE_TRY(checkpoint::checkSaveFolder(options_.save, lastGood_));
  if (resumed && checkpoint::isIn(*resumed, options_.save)) {
    saved_ = resumed->progress().step;
    std::optional<checkpoint::Best> best = checkpoint::bestIn(options_.save);
    if (best && best->metric == options_.keepBest && best->step <= saved_)
      best_ = best->value;
  }
  return Status::ok();
}

Result<bool> Saver::save(int64_t next, bool isFinite, const std::vector<checkpoint::Slice> &slices,
                         comm::Communicator &world, comm::PatientBarrier &barrier) {
  if (options_.save.empty() || saved_ == next)
    return false;
  checkpoint::SaveOptions where;
  where.directory = options_.save;
  where.rank = world.rank(), where.size = world.size();
  where.keep = options_.keep;
  where.refusesNotFinite = options_.onNan != OnNan::Continue;
  where.agree = [&](const Status &own) {
    CLEAVE_TRY(barrier.wait("saving"));
    return agree(world, own);
  };
  checkpoint::Progress progress{.step = next, .extra = extra_, .isFinite = isFinite};
  CLEAVE_TRY(checkpoint::save(where, slices, progress));
  saved_ = next;
  hasSaved_ = true;
  if (isFinite)
    lastGood_ = checkpoint::pathOf(options_.save, next);
  return true;
}

bool Saver::isBest(double value) const {
  if (options_.keepBest.empty() || !std::isfinite(value))
    return false;
  return !best_ || (isBetterBelow(options_.keepBest) ? value < *best_ : value > *best_);
}

Status Saver::setBest(int64_t next, double value, int rank) {
  best_ = value;
  return rank == 0 ? checkpoint::writeBest(options_.save, {next, options_.keepBest, value})
                   : Status::ok();
}

} // namespace cleave::run
