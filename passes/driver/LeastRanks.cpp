#include "passes/driver/LeastRanks.h"

#include "runtime/base/Units.h"

#include <algorithm>

namespace cleave::driver {

namespace {

constexpr int64_t kMostRanks = 16384;

class RankSearch {
public:
  RankSearch(Variants &variants, CompileOptions options, int64_t nodeRanks)
      : variants_(variants), options_(std::move(options)), nodeRanks_(nodeRanks) {}

  Result<LeastRanks> run() {
    int64_t tooFew = 0;
    for (int64_t ranks = 1; ranks <= kMostRanks && !found_; ranks = next(ranks)) {
      options_.ranks = ranks;
      if (tooFew > 0 && !variants_.budget(options_))
        break; // more than the cluster has
      CLEAVE_TRY_ASSIGN(bool fits, tryRanks(ranks));
      tooFew = fits ? tooFew : ranks;
    }
    if (!found_)
      return failure_;
    while (found_->ranks - tooFew > nodeRanks_ && tooFew >= nodeRanks_) {
      const int64_t nodes = (tooFew + found_->ranks) / nodeRanks_ / 2;
      CLEAVE_TRY_ASSIGN(bool fits, tryRanks(nodes * nodeRanks_));
      tooFew = fits ? tooFew : nodes * nodeRanks_;
    }
    found_->remark = concat(found_->ranks, found_->ranks == 1 ? " rank" : " ranks",
                            ", the fewest on which a plan was found: ", tried_);
    return std::move(*found_);
  }

private:
  // The next larger number: doubled, but not beyond a part of a node.
  int64_t next(int64_t ranks) const {
    return ranks < nodeRanks_ ? std::min(2 * ranks, nodeRanks_) : 2 * ranks;
  }

  // Whether a plan fits. Where the smallest quick plan needs half as much again, none is searched.
  Result<bool> tryRanks(int64_t ranks) {
    options_.ranks = ranks;
    CLEAVE_TRY_ASSIGN(const bool fitsPins, variants_.pinsFitRanks(options_));
    if (!fitsPins) {
      tell(ranks, "the sizes of --pin do not divide it");
      failure_ = Status::infeasible("--ranks least: the sizes in --pin ", options_.pin,
                                    " divide no number of ranks that was tried");
      return false;
    }
    CLEAVE_TRY_ASSIGN(planner::Budget budget, variants_.budget(options_));
    CLEAVE_TRY_ASSIGN(planner::QuickPlan quick, variants_.quick(options_));
    const int64_t least = quick.smallest().bytes;
    if (budget.isLimited() && least > budget.bytes() + budget.bytes() / 2) {
      tell(ranks, "takes " + bytesText(static_cast<uint64_t>(least)));
      failure_ = Status::infeasible(
          "no plan was found that fits into ", bytesText(static_cast<uint64_t>(budget.bytes())),
          " per rank on up to ", ranks, " ranks; give more memory or a smaller batch");
      return false;
    }
    Result<PlannedModule> planned = variants_.search(options_);
    if (!planned && planned.status().kind() != StatusKind::Infeasible)
      return planned.status();
    if (!planned) {
      tell(ranks, "does not fit");
      failure_ = planned.status();
      return false;
    }
    tell(ranks, secondsText(planned->plan.seconds));
    found_ = LeastRanks{ranks, std::move(*planned), ""};
    return true;
  }

  void tell(int64_t ranks, const std::string &outcome) {
    tried_ += concat(tried_.empty() ? "" : "; ", ranks, ": ", outcome);
    variants_.tell(concat("--ranks ", ranks, ": ", outcome));
  }

  Variants &variants_;
  CompileOptions options_;
  int64_t nodeRanks_;
  std::optional<LeastRanks> found_;
  std::string tried_;
  Status failure_;
};

} // namespace

Result<LeastRanks> leastRanks(Variants &variants, CompileOptions options) {
  if (options.mesh)
    return Status::userError("--ranks least: --mesh ", options.mesh->str(),
                             " fixes the ranks; leave ", "one of both out");
  CLEAVE_TRY_ASSIGN(int64_t nodeRanks, variants.nodeRanks());
  return RankSearch(variants, std::move(options), nodeRanks).run();
}

} // namespace cleave::driver
