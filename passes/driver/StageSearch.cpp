// See StageSearch.h.
#include "passes/driver/StageSearch.h"

#include "passes/driver/CutStages.h"
#include "passes/driver/MicroBatches.h"
#include "passes/driver/Phases.h"
#include "passes/driver/Predict.h"
#include "passes/driver/Record.h"
#include "passes/driver/Stages.h"
#include "runtime/base/Units.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

namespace cleave::driver {

// --schedule auto.
static constexpr const char *kAuto = "auto";

bool leavesStagesOpen(const CompileOptions &options) {
  return options.autoStages ||
         (options.stages > 1 && (options.microBatch == "auto" || options.schedule == kAuto));
}

double pipelineBound(double seconds, int64_t stages, int64_t microBatches) {
  const double waiting = 1 - 1 / static_cast<double>(microBatches);
  return seconds / (1 - std::pow(waiting, static_cast<double>(stages)));
}

Result<double> makespanOf(Compilation &c) {
  CLEAVE_TRY_ASSIGN(const plan::Plan outline, predictedOutline(c));
  CLEAVE_TRY_ASSIGN(const StepSeconds seconds, secondsOfStep(outline));
  return seconds.step;
}

namespace {

// No further numbers are tried after so many in a row that were slower.
constexpr int kSlower = 2;
// The search begins with the most stages whose bound exceeds that of ranks that never wait by at
// most this factor.
constexpr double kFirstWait = 1.25;
// The schedules of --schedule auto: the first one for all numbers of stages, then the others for
// the best of them.
constexpr const char *kSchedules[] = {"1f1b", "interleaved", "zb-h1", "zb-v"};

// A number of stages or of micro-batches that was tried.
struct Tried {
  enum Kind { Planned, Bounded, Failed } kind = Failed;
  double seconds = std::numeric_limits<double>::infinity(); // of the plan, or its bound
  std::string outcome;
};

// Ends a series of rising or falling numbers.
class Patience {
public:
  // Whether further numbers may still be faster than `best` seconds.
  bool isLeft(const Tried &tried, double best) {
    if (tried.kind != Tried::Failed)
      slower_ = tried.seconds > best || tried.kind == Tried::Bounded ? slower_ + 1 : 0;
    return slower_ < kSlower;
  }

private:
  int slower_ = 0; // in a row
};

class Search {
public:
  Search(Compilation &c, Batches batches) : c_(c), batches_(std::move(batches)) {}

  Status run() {
    const std::vector<int64_t> all = counts();
    auto begin = std::partition_point(all.begin(), all.end(), [&](int64_t stages) {
      return stages == 1 || waitOf(stages) <= kFirstWait;
    });
    CLEAVE_TRY(trySeries({std::make_reverse_iterator(begin), all.rend()}));
    CLEAVE_TRY(trySeries({begin, all.end()}));
    if (!best_)
      return failure_;
    if (c_.options.schedule == kAuto && best_->options.stages > 1)
      CLEAVE_TRY(trySchedules());
    if (best_->options.stages > 1)
      CLEAVE_TRY(tryCut());
    if (!cut_.empty())
      best_->remarks.push_back({"stages", cut_});
    if (leavesStagesOpen(c_.options))
      best_->remarks.push_back({"stages", remark()});
    c_.take(std::move(*best_));
    return Status::ok();
  }

private:
  bool choosesBatches() const { return batches_.counts.size() > 1; }

  // By how much ranks that wait lengthen a step at least, with the most micro-batches.
  double waitOf(int64_t stages) const {
    const int64_t most = batches_.counts.back();
    return pipelineBound(static_cast<double>(stages), stages, most) / static_cast<double>(most);
  }

  Status trySeries(const std::vector<int64_t> &series) {
    Patience patience;
    for (int64_t stages : series) {
      CLEAVE_TRY_ASSIGN(const Tried tried, tryStages(stages));
      tried_[stages] = tried.outcome;
      if (leavesStagesOpen(c_.options))
        c_.tell(concat("--stages ", stages, ": ", tried.outcome));
      if (!patience.isLeft(tried, bestSeconds_))
        break;
    }
    return Status::ok();
  }

  // The numbers of stages.
  std::vector<int64_t> counts() const {
    if (!c_.options.autoStages)
      return {c_.options.stages};
    std::vector<int64_t> counts;
    for (int64_t stages = 1; stages <= c_.options.ranks; ++stages)
      if (checkStages(optionsFor(stages, batches_.count)))
        counts.push_back(stages);
    return counts;
  }

  CompileOptions optionsFor(int64_t stages, int64_t microBatches) const {
    CompileOptions options = inMicroBatches(c_.options, batches_, microBatches);
    options.autoStages = false;
    options.stages = stages;
    options.microBatch.clear();
    if (options.schedule == kAuto)
      options.schedule = kSchedules[0];
    if (stages == 1)
      options.schedule.clear();
    return options;
  }

  std::unique_ptr<Compilation> compilationFor(CompileOptions options) const {
    auto next = std::make_unique<Compilation>(std::move(options));
    next->onProgress = c_.onProgress;
    return next;
  }

  // Other schedules for the best numbers.
  Status trySchedules() {
    const CompileOptions best = best_->options;
    schedules_ = concat("; ", best.schedule, ": ", secondsText(bestSeconds_));
    for (const char *schedule : llvm::drop_begin(kSchedules)) {
      CompileOptions options = best;
      options.schedule = schedule;
      std::unique_ptr<Compilation> next = compilationFor(std::move(options));
      next->cutoffSeconds = bestSeconds_;
      const Status status = compileTo(*next, "program");
      CLEAVE_TRY_ASSIGN(const std::string outcome, keepIfFaster(std::move(next), status));
      schedules_ += concat("; ", schedule, ": ", outcome);
      c_.tell(concat("--schedule ", schedule, ": ", outcome));
    }
    return Status::ok();
  }

  // Cuts the model of the best plan again, by the seconds that its chunks take there. Once: further
  // cuts gain less, and each is planned anew.
  Status tryCut() {
    CLEAVE_TRY_ASSIGN(std::optional<std::vector<double>> seconds, secondsByPlan(*best_));
    if (!seconds)
      return Status::ok();
    std::unique_ptr<Compilation> next = compilationFor(best_->options);
    next->cut.opSeconds = std::move(*seconds);
    CLEAVE_TRY(compileTo(*next, "train"));
    if (next->cut.chunkOf == best_->cut.chunkOf)
      return Status::ok();
    next->cutoffSeconds = bestSeconds_;
    const double before = bestSeconds_;
    const Status status = continueTo(*next, "train", "program");
    CLEAVE_TRY_ASSIGN(const std::string outcome, keepIfFaster(std::move(next), status));
    cut_ = concat("cut again by the seconds of this plan: ", outcome, " instead of ",
                  secondsText(before));
    c_.tell(cut_);
    return Status::ok();
  }

  // Keeps what was compiled, with this status, if it is faster than the best. Returns what became
  // of it.
  Result<std::string> keepIfFaster(std::unique_ptr<Compilation> next, const Status &status) {
    const bool isTooLarge = status.kind() == StatusKind::Infeasible;
    if (next->beatenSeconds)
      return "at least " + secondsText(*next->beatenSeconds);
    if (isTooLarge || status.kind() == StatusKind::UserError)
      return std::string(isTooLarge ? "does not fit" : "not defined for these numbers");
    CLEAVE_TRY(status);
    CLEAVE_TRY_ASSIGN(const double seconds, makespanOf(*next));
    if (seconds < bestSeconds_) {
      best_ = std::move(next);
      bestSeconds_ = seconds;
    }
    return secondsText(seconds);
  }

  // The best number of micro-batches for a number of stages.
  Result<Tried> tryStages(int64_t stages) {
    Tried best;
    Patience patience;
    for (int64_t count : batches_.counts) {
      CLEAVE_TRY_ASSIGN(Tried tried, tryCounts(stages, count));
      if (choosesBatches() && tried.kind != Tried::Failed)
        tried.outcome += concat(" in ", count, count == 1 ? " micro-batch" : " micro-batches");
      const bool isBetter = best.kind == Tried::Planned
                                ? tried.kind == Tried::Planned && tried.seconds < best.seconds
                                : tried.kind <= best.kind;
      const double fastest = best.kind == Tried::Planned ? best.seconds : bestSeconds_;
      const bool isLeft = patience.isLeft(tried, fastest);
      if (isBetter)
        best = std::move(tried);
      if (!isLeft)
        break;
    }
    return best;
  }

  // Compiles for these numbers, and keeps the result if it is the best so far.
  Result<Tried> tryCounts(int64_t stages, int64_t microBatches) {
    const double bound = boundOf(stages, microBatches);
    if (bound >= bestSeconds_)
      return Tried{Tried::Bounded, bound, "at least " + secondsText(bound)};
    std::unique_ptr<Compilation> next = compilationFor(optionsFor(stages, microBatches));
    next->cutoffSeconds = bestSeconds_;
    const Status status = compileTo(*next, "program");
    if (next->beatenSeconds)
      return Tried{Tried::Bounded, *next->beatenSeconds,
                   "at least " + secondsText(*next->beatenSeconds)};
    if (!status)
      return failed(*next, status);
    CLEAVE_TRY_ASSIGN(const double seconds, makespanOf(*next));
    workSeconds_ = std::max(workSeconds_, workOf(*next));
    if (seconds < bestSeconds_) {
      best_ = std::move(next);
      bestSeconds_ = seconds;
    }
    return Tried{Tried::Planned, seconds, secondsText(seconds)};
  }

  // Keeps the reason why nothing fits. Other failures are errors in the user's options only
  // if no number of stages is possible.
  Result<Tried> failed(const Compilation &next, const Status &status) {
    const bool isTooLarge = status.kind() == StatusKind::Infeasible;
    if (!next.module() || (!isTooLarge && status.kind() != StatusKind::UserError))
      return status;
    const bool isSmaller = next.options.stages < failedStages_;
    const bool wasTooLarge = failure_.kind() == StatusKind::Infeasible;
    if (failure_.isOk() || (isTooLarge == wasTooLarge ? isSmaller : isTooLarge)) {
      failure_ = status;
      failedStages_ = next.options.stages;
    }
    const bool isCut =
        !next.times.empty() && *findPhase(next.times.back().phase) >= *findPhase("primitive");
    return Tried{.outcome = isTooLarge ? "does not fit"
                            : isCut    ? "is excluded by --pin"
                                       : "the model cannot be cut"};
  }

  // The seconds in which one device at its peak would compute the products of the step.
  static double workOf(Compilation &c) {
    plan::Plan recorded;
    addRecordedDecisions(c.module(), recorded);
    return recorded.predicted().peak_seconds();
  }

  // Whether stages have one chunk and full backward parts, of which pipelineBound() speaks.
  bool hasPlainSchedule() const {
    const std::string &schedule = c_.options.schedule;
    return schedule.empty() || schedule == kAuto || schedule == "1f1b" || schedule == "gpipe";
  }

  // The seconds of every plan with these numbers; 0 if the work is not known yet.
  double boundOf(int64_t stages, int64_t microBatches) const {
    if (!hasPlainSchedule())
      return workSeconds_ / static_cast<double>(c_.options.ranks);
    const double ofOne = workSeconds_ / static_cast<double>(microBatches);
    return pipelineBound(ofOne * static_cast<double>(stages) /
                             static_cast<double>(c_.options.ranks),
                         stages, microBatches);
  }

  std::string remark() const {
    const CompileOptions &chosen = best_->options;
    const int64_t ranks = chosen.ranks / chosen.stages;
    std::string sizes, tried;
    for (const auto &[stages, outcome] : tried_)
      tried += concat(tried.empty() ? "" : "; ", stages, ": ", outcome);
    for (const std::string &symbol : batches_.symbols)
      sizes += concat(sizes.empty() ? " of " : ", ", symbol, "=", chosen.symbols.at(symbol));
    return concat(chosen.stages, chosen.stages == 1 ? " stage of " : " stages of ", ranks,
                  ranks == 1 ? " rank" : " ranks", " in ", chosen.accumulate,
                  chosen.accumulate == 1 ? " micro-batch" : " micro-batches", sizes,
                  " chosen: ", tried, schedules_);
  }

  Compilation &c_;
  Batches batches_;
  std::unique_ptr<Compilation> best_;
  double bestSeconds_ = std::numeric_limits<double>::infinity();
  double workSeconds_ = 0;               // of the products of a step on one device at its peak
  std::map<int64_t, std::string> tried_; // outcomes by number of stages
  std::string schedules_;                // outcomes by schedule
  std::string cut_;                      // outcome of another cut
  Status failure_;                       // if nothing fits
  int64_t failedStages_ = 0;             // of that failure
};

} // namespace

// The batch, and the numbers of micro-batches to try.
static Result<Batches> batchesToTry(const CompileOptions &options) {
  if (options.microBatch != "auto")
    return Batches{{}, options.accumulate, {options.accumulate}};
  CLEAVE_TRY_ASSIGN(std::vector<std::string> symbols,
                    batchSymbols(options).withContext("--micro-batch"));
  return batchesOf(options, std::move(symbols));
}

// Whether the phases write more than the compilation after the phase `program` can.
static bool wantsEarlierPhases(const CompileOptions &options) {
  return !options.dumpPhases.empty() ||
         (!options.stopAfter.empty() && *findPhase(options.stopAfter) < *findPhase("program"));
}

Status chooseStages(Compilation &c) {
  CompileOptions asked = c.options;
  c.options.dumpPhases.clear();
  CLEAVE_TRY_ASSIGN(Batches batches, batchesToTry(c.options));
  CLEAVE_TRY(Search(c, std::move(batches)).run());
  c.options.dumpPhases = asked.dumpPhases;
  if (wantsEarlierPhases(asked)) { // the phases run again, for what they write
    c.units.clear();
    c.stagePeaks.clear();
    llvm::erase_if(c.remarks, [](const Remark &remark) { return remark.kind != "stages"; });
    c.times.clear();
  }
  return Status::ok();
}

} // namespace cleave::driver
