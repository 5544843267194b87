// Follows indices from gathers and losses back to the step's arguments.
#include "compiler/analysis/Vocabulary.h"

#include "llvm/ADT/BitVector.h"

#include <map>

using namespace mlir;

namespace cleave::analysis {

// Matches `x < 0 ? x + count : x`; returns x, or null.
static Value unwrapped(Value index, int64_t count) {
  auto select = index.getDefiningOp<graph::SelectOp>();
  auto sum = select ? select.getOnTrue().getDefiningOp<graph::AddOp>() : nullptr;
  auto compare = select ? select.getCondition().getDefiningOp<graph::CompareOp>() : nullptr;
  if (!sum || !compare || sum.getLhs() != select.getOnFalse() ||
      compare.getLhs() != select.getOnFalse())
    return {};
  auto isSplat = [](Value value, double wanted) { // through broadcasts
    while (auto broadcast = value.getDefiningOp<graph::BroadcastOp>())
      value = broadcast.getOperand();
    return graph::splatValue(value) == wanted;
  };
  bool wraps = compare.getPredicate() == graph::Predicate::LT && isSplat(compare.getRhs(), 0) &&
               isSplat(sum.getRhs(), static_cast<double>(count));
  return wraps ? select.getOnFalse() : Value();
}

// Matches `x != ignored ? x : class`, the classes of labels of which some do not count; returns x,
// and sets `ignored`. Null for other values.
static Value classesOf(Value index, std::optional<int64_t> &ignored) {
  auto select = index.getDefiningOp<graph::SelectOp>();
  auto compare = select ? select.getCondition().getDefiningOp<graph::CompareOp>() : nullptr;
  if (!compare || compare.getPredicate() != graph::Predicate::NE ||
      compare.getLhs() != select.getOnTrue() || !graph::splatValue(select.getOnFalse()))
    return {};
  std::optional<double> label = graph::splatValue(compare.getRhs());
  if (!label)
    return {};
  ignored = static_cast<int64_t>(*label);
  return compare.getLhs();
}

namespace {
// The value that indices are copied from.
struct Source {
  Value value;
  bool isWhole = true;            // without slices in between
  graph::SliceOp slice;           // the only op other than casts in between, if that is a slice
  bool wraps = false;             // negative indices count from the end
  std::optional<int64_t> ignored; // this index counts nowhere
};

// The integers that all uses of an argument permit: those in [lowest, count), and `ignored`.
struct Bounds {
  int64_t lowest, count;
  std::optional<int64_t> ignored;

  void intersect(const Bounds &other) {
    lowest = std::max(lowest, other.lowest), count = std::min(count, other.count);
    if (ignored != other.ignored)
      ignored.reset();
  }
};

// The inputs of which slices are used as indices, with the bounds of these slices.
class SliceBounds {
public:
  void add(unsigned argument, graph::SliceOp slice, int64_t count) {
    int64_t &most = most_[argument];
    most = std::max(most, count);
    if (!slice)
      return;
    unsigned dim = slice.getDim();
    std::optional<int64_t> size = graph::shapeOf(slice.getOperand())[dim].constant(),
                           taken = graph::shapeOf(slice.getResult())[dim].constant(),
                           start = slice.startSize().constant();
    if (!size || !taken || !start || *size > kMostTracked)
      return;
    llvm::BitVector &seen = seen_[{argument, dim}];
    seen.resize(*size);
    for (int64_t i = 0; i < *taken; ++i)
      seen.set(*start + i * static_cast<int64_t>(slice.getStride()));
  }

  // Calls visit(argument, largest bound) for every input whose elements are all in some slice.
  template <typename Visit> void forEachCovered(Visit visit) const {
    for (const auto &[where, seen] : seen_)
      if (seen.all())
        visit(where.first, most_.at(where.first));
  }

private:
  static constexpr int64_t kMostTracked = 1 << 20; // elements of a dim
  std::map<unsigned, int64_t> most_;
  std::map<std::pair<unsigned, unsigned>, llvm::BitVector> seen_; // by argument and dim
};
} // namespace

// Follows elementwise copies, casts, padding, wrapping at `count` and the masks of labels from
// `index` to their source.
static Source sourceOf(Value index, int64_t count) {
  Source source;
  while (Operation *op = index.getDefiningOp()) {
    auto slice = dyn_cast<graph::SliceOp>(op);
    bool isCast =
        isa<graph::CastOp>(op) && !isa<FloatType>(graph::elementTypeOf(op->getOperand(0)));
    bool moves = op->hasTrait<graph::UnaryCopy>() || isa<graph::PadOp>(op);
    Value before = isCast || moves ? op->getOperand(0) : unwrapped(index, count);
    source.wraps |= before && !isCast && !moves;
    if (!before)
      before = classesOf(index, source.ignored);
    if (!before)
      break;
    if (moves)
      source.slice = source.isWhole ? slice : graph::SliceOp();
    source.isWhole &= !slice;
    index = before;
  }
  source.value = index;
  return source;
}

void recordVocabularies(func::FuncOp step) {
  std::map<unsigned, Bounds> ofWhole; // by argument
  SliceBounds slices;
  auto record = [&](Value index, const Polynomial &size, bool isLabel,
                    std::optional<int64_t> ignored) {
    std::optional<int64_t> count = size.constant();
    if (!count)
      return;
    Source source = sourceOf(index, *count);
    auto argument = dyn_cast<BlockArgument>(source.value);
    if (!argument || !graph::isPerMicroBatch(step, argument.getArgNumber()))
      return;
    unsigned number = argument.getArgNumber();
    isLabel |= source.ignored.has_value();
    if (!source.isWhole && !isLabel)
      return slices.add(number, source.slice, *count);
    const Bounds bounds{source.wraps ? -*count : 0, *count, ignored ? ignored : source.ignored};
    auto [known, isNew] = ofWhole.emplace(number, bounds);
    if (!isNew)
      known->second.intersect(bounds);
  };
  for (Operation &op : step.getBody().front())
    if (auto gather = dyn_cast<graph::GatherOp>(op))
      record(gather.getIndices(), graph::shapeOf(gather.getOperand())[gather.getDim()],
             /*isLabel=*/false, std::nullopt);
    else if (auto scatter = dyn_cast<graph::ScatterOp>(op))
      record(scatter.getIndices(), graph::shapeOf(scatter.getResult())[scatter.getDim()],
             /*isLabel=*/false, std::nullopt);
    else if (auto loss = dyn_cast<graph::SoftmaxCrossEntropyOp>(op))
      record(loss.getLabels(), graph::shapeOf(loss.getLogits()).back(), /*isLabel=*/true,
             static_cast<int64_t>(loss.getIgnoreIndex()));
  slices.forEachCovered([&](unsigned number, int64_t count) {
    ofWhole.emplace(number, Bounds{0, count, std::nullopt});
  });
  Builder b(step);
  for (const auto &[number, bounds] : ofWhole) {
    step.setArgAttr(number, kVocabulary, b.getI64IntegerAttr(bounds.count));
    if (bounds.lowest != 0)
      step.setArgAttr(number, kLowest, b.getI64IntegerAttr(bounds.lowest));
    if (bounds.ignored)
      step.setArgAttr(number, kIgnored, b.getI64IntegerAttr(*bounds.ignored));
  }
}

} // namespace cleave::analysis
