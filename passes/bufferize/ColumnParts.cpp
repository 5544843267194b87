// Chooses the dims to split and the number of parts, and rewrites the body of a group.
#include "passes/bufferize/ColumnParts.h"

#include "compiler/analysis/IterationSpace.h"
#include "dialects/graph/Build.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace cleave::bufferize {

namespace {

constexpr int64_t kColumnsPerBlock = 256;    // 16 bytes for each thread of a warp, in 16 bits
constexpr int64_t kBlocks = 1024;            // fill a GPU evenly
constexpr int64_t kFewestRows = 64;          // of a part
constexpr int64_t kElementsInHand = 1 << 19; // of the rows that all blocks have at a time
constexpr int64_t kFewestSweeps = 256;       // parts of rows that are swept, if these are long
constexpr int64_t kFewestSwept = 16;         // rows of a part that is swept
constexpr int64_t kLongColumn = 1 << 12;     // rows; fewer take one step

SmallVector<Operation *> opsOf(graph::FusionOp fusion) {
  SmallVector<Operation *> ops;
  for (Operation &op : fusion.getBody().front().without_terminator())
    ops.push_back(&op);
  return ops;
}

analysis::IterationSpace spaceOf(graph::FusionOp fusion) {
  return analysis::iterationSpaceOf(opsOf(fusion), fusion.getBody().front().getArguments());
}

// The position of the first of the factors among the dims of a value, if the value has all of them
// next to each other in this order; -1 if it has none; nothing if it has some of them only.
std::optional<int> placeOf(ArrayRef<int> dims, ArrayRef<int> factors) {
  const auto *first = llvm::find_if(dims, [&](int f) { return llvm::is_contained(factors, f); });
  if (first == dims.end())
    return -1;
  const size_t at = first - dims.begin();
  if (at + factors.size() > dims.size() || dims.slice(at, factors.size()) != factors)
    return std::nullopt;
  return static_cast<int>(at);
}

// The reductions of the group that no op of the group reads, and that reduce the first dim of their
// operand but not all dims.
SmallVector<graph::ReduceOp> columnReductions(graph::FusionOp fusion) {
  SmallVector<graph::ReduceOp> found;
  for (auto reduce : fusion.getBody().front().getOps<graph::ReduceOp>()) {
    const bool isResult =
        llvm::all_of(reduce->getUsers(), [](Operation *user) { return isa<graph::YieldOp>(user); });
    if (isResult && graph::rankOf(reduce.getResult()) > 0 &&
        llvm::is_contained(reduce.getDims(), 0) && !graph::splatValue(reduce.getOperand()))
      found.push_back(reduce);
  }
  return found;
}

// The largest divisor of `size` up to `wanted`, unless that is far less: then the next larger one.
int64_t nearDivisor(int64_t size, int64_t wanted) {
  int64_t below = 1, above = size;
  for (int64_t d = 1; d * d <= size; ++d) {
    if (size % d != 0)
      continue;
    for (int64_t divisor : {d, size / d})
      if (divisor <= wanted)
        below = std::max(below, divisor);
      else
        above = std::min(above, divisor);
  }
  return below * 4 >= wanted || above > wanted * 4 ? below : above;
}

class Splitter {
public:
  Splitter(graph::FusionOp fusion, const ColumnParts &parts)
      : fusion_(fusion), parts_(parts), space_(spaceOf(fusion)) {}

  // Whether every op of the body keeps its meaning with the dims split.
  bool isPossible() {
    auto has = [&](Value value) {
      return llvm::any_of(dimsOf(value),
                          [&](int f) { return llvm::is_contained(parts_.factors, f); });
    };
    for (const auto &[value, dims] : space_.dims)
      if (!placeOf(dims, parts_.factors))
        return false;
    if (llvm::any_of(fusion_.getBody().front().getTerminator()->getOperands(), graph::splatValue))
      return false;
    return llvm::all_of(opsOf(fusion_), [&](Operation *op) {
      if (auto reduce = dyn_cast<graph::ReduceOp>(op);
          reduce && graph::splatValue(reduce.getOperand()))
        return false;
      if (auto iota = dyn_cast<graph::IotaOp>(op))
        return !llvm::is_contained(parts_.factors,
                                   space_.factorOf(iota.getResult(), iota.getDim()));
      const bool isPlain =
          isa<graph::PointwiseInterface, graph::BroadcastOp, graph::ReduceOp, graph::ReshapeOp>(
              op) ||
          graph::splatValue(op->getResult(0));
      return isPlain || !has(op->getResult(0));
    });
  }

  SmallVector<int64_t> shapeOf(Value value) {
    SmallVector<int64_t> shape;
    const std::vector<int64_t> old = graph::staticShapeOf(value);
    const int at = place(value);
    for (int64_t dim = 0; dim < static_cast<int64_t>(old.size()); ++dim)
      if (dim == at)
        shape.append({parts_.parts, parts_.size / parts_.parts});
      else if (at < 0 || dim < at || dim >= at + count())
        shape.push_back(old[dim]);
    return shape;
  }

  PartialSums build() {
    OpBuilder b(fusion_);
    Location loc = fusion_.getLoc();
    Block &old = fusion_.getBody().front();
    SmallVector<Value> operands;
    auto body = std::make_unique<Block>();
    for (auto [argument, operand] : llvm::zip(old.getArguments(), fusion_.getOperands())) {
      auto type = typeOf(argument);
      operands.push_back(type == operand.getType()
                             ? operand
                             : graph::ReshapeOp::create(b, loc, type, operand).getResult());
      mapping_.map(argument, body->addArgument(type, argument.getLoc()));
    }
    OpBuilder inside(fusion_.getContext());
    inside.setInsertionPointToEnd(body.get());
    for (Operation &op : old.without_terminator())
      clone(inside, &op);
    SmallVector<Value> yielded;
    for (Value value : old.getTerminator()->getOperands())
      yielded.push_back(partial_.contains(value) ? partial_.lookup(value) : mapping_.lookup(value));
    graph::YieldOp::create(inside, loc, yielded);
    PartialSums sums;
    sums.first = graph::FusionOp::create(b, loc, ValueRange(yielded).getTypes(), operands);
    sums.first.getBody().push_back(body.release());
    for (auto [value, result] :
         llvm::zip(old.getTerminator()->getOperands(), sums.first.getResults()))
      sums.second.push_back(partial_.contains(value)
                                ? sumOfParts(b, value.getDefiningOp<graph::ReduceOp>(), result)
                                : graph::FusionOp());
    return sums;
  }

private:
  int count() const { return static_cast<int>(parts_.factors.size()); }
  ArrayRef<int> dimsOf(Value value) const {
    auto it = space_.dims.find(value);
    return it == space_.dims.end() ? ArrayRef<int>() : ArrayRef<int>(it->second);
  }
  int place(Value value) const { return *placeOf(dimsOf(value), parts_.factors); }
  RankedTensorType typeOf(Value value) {
    return RankedTensorType::get(shapeOf(value), graph::elementTypeOf(value));
  }
  // The number that a dim of `value` has after the split; the dim itself is not split.
  int64_t moved(Value value, int64_t dim) const {
    const int at = place(value);
    return at < 0 || dim < at ? dim : dim + 2 - count();
  }

  void clone(OpBuilder &b, Operation *op) {
    Value result = op->getResult(0);
    if (std::optional<double> splat = graph::splatValue(result)) {
      splats_.insert(result);
      return;
    }
    if (auto reduce = dyn_cast<graph::ReduceOp>(op))
      return cloneReduction(b, reduce);
    auto type = typeOf(result);
    if (auto broadcast = dyn_cast<graph::BroadcastOp>(op)) {
      mapping_.map(result, graph::BroadcastOp::create(b, op->getLoc(), type,
                                                      mapping_.lookup(broadcast.getOperand()),
                                                      dimsOfBroadcast(broadcast)));
      return;
    }
    for (Value operand : op->getOperands())
      if (splats_.contains(operand))
        mapping_.map(operand, splat(b, operand, type.getShape()));
    Operation *copy = b.clone(*op, mapping_);
    copy->getResult(0).setType(type);
    if (auto iota = dyn_cast<graph::IotaOp>(copy))
      iota.setDim(moved(result, iota.getDim()));
  }

  Value splat(OpBuilder &b, Value value, ArrayRef<int64_t> shape) {
    Type element = graph::elementTypeOf(value);
    return graph::buildSplat(b, value.getLoc(), RankedTensorType::get(shape, element),
                             *graph::splatValue(value));
  }

  SmallVector<int64_t> dimsOfBroadcast(graph::BroadcastOp broadcast) {
    SmallVector<int64_t> dims;
    const int at = place(broadcast.getOperand());
    for (auto [i, dim] : llvm::enumerate(broadcast.getDims())) {
      const int number = static_cast<int>(i);
      if (number == at) {
        const int64_t first = place(broadcast.getResult());
        dims.append({first, first + 1});
      } else if (at < 0 || number < at || number >= at + count()) {
        dims.push_back(moved(broadcast.getResult(), dim));
      }
    }
    return dims;
  }

  void cloneReduction(OpBuilder &b, graph::ReduceOp reduce) {
    Value operand = reduce.getOperand(), value = mapping_.lookup(operand);
    const int at = place(operand);
    SmallVector<int64_t> dims;
    bool isPartial = false;
    for (int64_t dim : reduce.getDims())
      if (at < 0 || dim < at || dim >= at + count())
        dims.push_back(moved(operand, dim));
      else
        isPartial = true;
    if (isPartial)
      dims.push_back(at + 1);
    llvm::sort(dims);
    Type element = graph::elementTypeOf(operand);
    if (isPartial && isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
      value = graph::CastOp::create(
          b, reduce.getLoc(), cast<RankedTensorType>(value.getType()).clone(b.getF32Type()), value);
    Value result = graph::ReduceOp::create(b, reduce.getLoc(), reduce.getKindAttr(), value,
                                           b.getDenseI64ArrayAttr(dims));
    if (isPartial)
      partial_.map(reduce.getResult(), result);
    else
      mapping_.map(reduce.getResult(), result);
  }

  // Adds the partial results of a reduction.
  graph::FusionOp sumOfParts(OpBuilder &b, graph::ReduceOp reduce, Value parts) {
    Location loc = reduce.getLoc();
    int64_t dim = 0; // the dim of the parts
    for (int64_t i = 0; i < place(reduce.getOperand()); ++i)
      dim += !llvm::is_contained(reduce.getDims(), i);
    auto body = std::make_unique<Block>();
    OpBuilder inside(fusion_.getContext());
    inside.setInsertionPointToEnd(body.get());
    Value sum = graph::ReduceOp::create(inside, loc, reduce.getKindAttr(),
                                        body->addArgument(parts.getType(), loc),
                                        b.getDenseI64ArrayAttr({dim}));
    if (sum.getType() != reduce.getType())
      sum = graph::CastOp::create(inside, loc, reduce.getType(), sum);
    graph::YieldOp::create(inside, loc, sum);
    auto fusion = graph::FusionOp::create(b, loc, reduce.getType(), parts);
    fusion.getBody().push_back(body.release());
    return fusion;
  }

  graph::FusionOp fusion_;
  ColumnParts parts_;
  analysis::IterationSpace space_;
  IRMapping mapping_, partial_; // of values in the body; partial sums per reduction
  llvm::DenseSet<Value> splats_;
};

// Neighbouring reduced dims of the operand, as factors: the first run of them with `wanted`
// indices, else the run with the most.
SmallVector<int> splittable(graph::ReduceOp reduce, const analysis::IterationSpace &space,
                            int64_t wanted) {
  SmallVector<int> best, run;
  int64_t most = 1, size = 1;
  for (int64_t dim = 0, rank = graph::rankOf(reduce.getOperand()); dim <= rank; ++dim) {
    if (dim < rank && llvm::is_contained(reduce.getDims(), dim)) {
      if (int factor = space.factorOf(reduce.getOperand(), dim); factor >= 0) {
        run.push_back(factor);
        size *= *space.sizes[factor].constant();
      }
      continue;
    }
    if (size > most) {
      best = run;
      most = size;
    }
    if (most >= wanted)
      break;
    run.clear();
    size = 1;
  }
  return best;
}

} // namespace

std::optional<ColumnParts> columnPartsOf(graph::FusionOp fusion, Fits fits) {
  SmallVector<graph::ReduceOp> columns = columnReductions(fusion);
  if (columns.empty())
    return std::nullopt;
  const analysis::IterationSpace space = spaceOf(fusion);
  graph::ReduceOp reduce = columns.front();
  auto reducedBy = [&](graph::ReduceOp op) {
    auto it = space.reduced.find(op);
    SmallVector<int> factors = it == space.reduced.end() ? SmallVector<int>() : it->second;
    llvm::sort(factors);
    return factors;
  };
  for (graph::ReduceOp other : columns)
    if (reducedBy(other) != reducedBy(reduce))
      return std::nullopt;
  int64_t rows = 1;
  for (int factor : reducedBy(reduce))
    rows *= *space.sizes[factor].constant();
  const int64_t results = *graph::elementCount(reduce.getType()).constant();
  const bool isSwept = llvm::any_of(fusion.getBody().front().getOps<graph::ReduceOp>(),
                                    [&](auto op) { return reducedBy(op) != reducedBy(reduce); });
  if (!isSwept && rows < kLongColumn)
    return std::nullopt;
  const int64_t blocks = (results + kColumnsPerBlock - 1) / kColumnsPerBlock;
  const int64_t swept =
      std::max(kElementsInHand / std::max(results, kColumnsPerBlock), kFewestSweeps);
  const int64_t wanted = isSwept ? std::min(swept, rows / kFewestSwept)
                                 : std::min(kBlocks / blocks, rows / kFewestRows);
  if (wanted < 2)
    return std::nullopt;
  ColumnParts parts;
  parts.factors = splittable(reduce, space, wanted);
  auto finish = [&] {
    parts.size = 1;
    for (int factor : parts.factors)
      parts.size *= *space.sizes[factor].constant();
    parts.parts = nearDivisor(parts.size, wanted);
    return parts.parts > 1 && Splitter(fusion, parts).isPossible() && fits(parts);
  };
  if (parts.factors.empty())
    return std::nullopt;
  if (finish())
    return parts;
  // Not all values have these dims together: the largest one is split.
  parts.factors = {*llvm::max_element(parts.factors, [&](int a, int b) {
    return *space.sizes[a].constant() < *space.sizes[b].constant();
  })};
  return finish() ? std::optional(parts) : std::nullopt;
}

SmallVector<int64_t> shapeInParts(graph::FusionOp fusion, const ColumnParts &parts, Value value) {
  return Splitter(fusion, parts).shapeOf(value);
}

PartialSums inParts(graph::FusionOp fusion, const ColumnParts &parts) {
  return Splitter(fusion, parts).build();
}

} // namespace cleave::bufferize
