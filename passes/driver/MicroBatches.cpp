#include "passes/driver/MicroBatches.h"

#include "compiler/frontend/step/Import.h"
#include "dialects/graph/Step.h"
#include "dialects/graph/Types.h"
#include "passes/driver/StageSearch.h"
#include "passes/driver/Variants.h"
#include "runtime/base/Units.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <numeric>

using namespace mlir;

namespace cleave::driver {

// -- the batch ------------------------------------------------------------------------------------

// Whether the size is the first dim of an input, and no other dim of an input depends on it.
static bool isFirstDimOnly(func::FuncOp step, const std::string &symbol) {
  bool isFirst = false;
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    const graph::Shape shape = graph::shapeOf(step.getArgument(i));
    for (size_t d = 0; d < shape.size(); ++d) {
      if (!llvm::is_contained(shape[d].symbols(), symbol))
        continue;
      if (d > 0 || !(shape[d] == Polynomial::symbol(symbol)))
        return false;
      isFirst = true;
    }
  }
  return isFirst;
}

// The symbols that a name in --set stands for: itself, or those of the first dims of inputs that
// `batch` stands for where no input has a dim of that name.
static std::vector<std::string> meantBy(func::FuncOp step, const std::string &name) {
  std::vector<std::string> first;
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    const graph::Shape shape = graph::shapeOf(step.getArgument(i));
    for (const Polynomial &size : shape)
      if (llvm::is_contained(size.symbols(), name))
        return {name};
    if (graph::isPerMicroBatch(step, i) && !shape.empty() && shape[0].symbols().size() == 1)
      first.push_back(*shape[0].symbols().begin());
  }
  return name == frontend::kBatch ? first : std::vector{name};
}

// Whether the name stands for sizes of first dims of inputs, on which no other dim depends.
static bool isBatch(func::FuncOp step, const std::string &name) {
  const std::vector<std::string> symbols = meantBy(step, name);
  return !symbols.empty() && llvm::all_of(symbols, [&](const std::string &symbol) {
    return isFirstDimOnly(step, symbol);
  });
}

Result<std::vector<std::string>> batchSymbols(const CompileOptions &options) {
  std::vector<std::string> symbols;
  for (const auto &[symbol, size] : options.symbols) {
    CompileOptions open = options;
    open.symbols.erase(symbol);
    open.keepSymbols = true;
    open.dumpPhases.clear();
    Compilation c(std::move(open));
    if (compileTo(c, "import") && isBatch(graph::stepOf(c.module()), symbol))
      symbols.push_back(symbol);
  }
  if (symbols.empty())
    return Status::userError("found no size in --set that is the first dim of an input and no ",
                             "other one, expected that of the batch, such as --set batch=64; if ",
                             "the file fixes the batch, --accumulate N takes N of them per step");
  return symbols;
}

Batches batchesOf(const CompileOptions &options, std::vector<std::string> symbols) {
  Batches batches{std::move(symbols), options.accumulate, {}};
  int64_t common = 0;
  for (const std::string &symbol : batches.symbols)
    common = std::gcd(common, options.symbols.at(symbol) * options.accumulate);
  for (int64_t count = 1; count <= common; ++count)
    if (common % count == 0)
      batches.counts.push_back(count);
  return batches;
}

CompileOptions inMicroBatches(CompileOptions options, const Batches &batches, int64_t count) {
  for (const std::string &symbol : batches.symbols) {
    int64_t &size = options.symbols.at(symbol);
    size = size * options.accumulate / count;
  }
  options.accumulate = count;
  return options;
}

// -- the choice of a number -----------------------------------------------------------------------

namespace {

// Tries numbers of micro-batches.
class Chooser {
public:
  Chooser(Compilation &c, Batches batches) : c_(c), batches_(std::move(batches)) {}

  Status run() {
    for (int64_t count : batches_.counts) {
      CLEAVE_TRY_ASSIGN(bool mayImprove, tryCount(count));
      if (!mayImprove)
        break;
    }
    if (!best_ && smallest_) // none is known to fit: a search for the one that comes closest
      CLEAVE_TRY(plan(std::move(smallest_), smallestCount_));
    if (!best_)
      return failure_;
    best_->remarks.push_back({"micro-batch", remark()});
    c_.take(std::move(*best_));
    return Status::ok();
  }

private:
  // Returns whether larger counts may still be faster.
  Result<bool> tryCount(int64_t count) {
    CompileOptions options = inMicroBatches(c_.options, batches_, count);
    auto next = std::make_unique<Compilation>(std::move(options));
    next->onProgress = c_.onProgress;
    CLEAVE_TRY(compileTo(*next, "primitive"));
    Variants variants(*next);
    CLEAVE_TRY_ASSIGN(planner::QuickPlan quick, variants.quick(next->options));
    CLEAVE_TRY_ASSIGN(planner::Budget budget, variants.budget(next->options));
    if (best_ && quick.boundSeconds >= best_->report.seconds) {
      tell(count, "at least " + secondsText(quick.boundSeconds));
      return false;
    }
    if (quick.within(budget)) {
      CLEAVE_TRY(plan(std::move(next), count));
      return true;
    }
    tell(count, concat("none of the plans tried fits, the smallest takes ",
                       bytesText(quick.smallest().bytes)));
    if (!smallest_ || quick.smallest().bytes < smallestBytes_) {
      smallest_ = std::move(next);
      smallestBytes_ = quick.smallest().bytes;
      smallestCount_ = count;
    }
    return true;
  }

  // Runs the phase `planned`, and keeps the result if it is the best so far.
  Status plan(std::unique_ptr<Compilation> next, int64_t count) {
    Status status = continueTo(*next, "primitive", "planned");
    if (status.kind() == StatusKind::Infeasible) {
      tell(count, "does not fit");
      failure_ = status.withContext(concat("in ", count, " micro-batches"));
      return Status::ok();
    }
    CLEAVE_TRY(status);
    tell(count, secondsText(next->report.seconds));
    if (best_ && best_->report.seconds <= next->report.seconds)
      return Status::ok();
    best_ = std::move(next);
    bestCount_ = count;
    return Status::ok();
  }

  void tell(int64_t count, const std::string &outcome) {
    tried_ += concat(tried_.empty() ? "" : "; ", count, ": ", outcome);
    c_.tell(concat("--micro-batch ", count, ": ", outcome));
  }

  std::string remark() const {
    std::string sizes;
    for (const std::string &symbol : batches_.symbols)
      sizes += concat(sizes.empty() ? "" : ", ", symbol, "=", best_->options.symbols.at(symbol));
    return concat(bestCount_, bestCount_ == 1 ? " micro-batch" : " micro-batches", " of ", sizes,
                  " chosen: ", tried_);
  }

  Compilation &c_;
  Batches batches_;
  std::unique_ptr<Compilation> best_, smallest_;
  int64_t bestCount_ = 0, smallestCount_ = 0, smallestBytes_ = 0;
  std::string tried_;
  Status failure_; // of the last count that does not fit
};

} // namespace

// The number that the user gives; nothing for `auto`.
static Result<std::optional<int64_t>> parseCount(const std::string &text) {
  if (text == "auto")
    return std::optional<int64_t>();
  int64_t count = 0;
  if (llvm::StringRef(text).getAsInteger(10, count) || count < 1)
    return Status::userError("found '", text, "', expected auto or a number above 0");
  return std::optional(count);
}

// `1, 2, 4`
static std::string countsText(const std::vector<int64_t> &counts) {
  std::string text;
  for (int64_t count : counts)
    text += concat(text.empty() ? "" : ", ", count);
  return text;
}

static Status chooseCount(Compilation &c, const Batches &batches) {
  const CompileOptions asked = c.options;
  c.options.microBatch.clear();
  c.options.dumpPhases.clear();
  c.options.pareto.clear();
  c.options.whatIf = false;
  CLEAVE_TRY(Chooser(c, batches).run());
  c.options.microBatch = asked.microBatch;
  c.options.dumpPhases = asked.dumpPhases;
  c.options.pareto = asked.pareto;
  c.options.whatIf = asked.whatIf;
  if (!asked.dumpPhases.empty() || !asked.pareto.empty() || asked.whatIf) {
    c.units.clear(); // the phases run again, for what they write besides the plan
    c.remarks = {c.remarks.back()};
    c.times.clear();
  }
  return Status::ok();
}

Status cutBatch(Compilation &c) {
  CLEAVE_TRY_ASSIGN(std::optional<int64_t> count,
                    parseCount(c.options.microBatch).withContext("--micro-batch"));
  if (!c.options.train)
    return Status::userError("--micro-batch is given without --train: a step of inference has one");
  if (c.options.accumulate > 1)
    return Status::userError("--micro-batch and --accumulate both give the number of ",
                             "micro-batches: with the first one --set gives the whole batch, with ",
                             "the second one a micro-batch; leave one out");
  if (!count && c.options.leastRanks)
    return Status::userError("--micro-batch auto with --ranks least: the fewest ranks depend on ",
                             "the number of micro-batches; give one of both");
  if (leavesStagesOpen(c.options) && !count)
    return Status::ok();
  CLEAVE_TRY_ASSIGN(std::vector<std::string> symbols,
                    batchSymbols(c.options).withContext("--micro-batch"));
  const Batches batches = batchesOf(c.options, std::move(symbols));
  if (!count)
    return chooseCount(c, batches);
  if (!llvm::is_contained(batches.counts, *count))
    return Status::userError("--micro-batch ", *count, ": found ", batches.symbols[0], "=",
                             c.options.symbols.at(batches.symbols[0]), ", expected a batch that ",
                             "this number divides: one of ", countsText(batches.counts));
  c.options = inMicroBatches(c.options, batches, *count);
  return Status::ok();
}

} // namespace cleave::driver
