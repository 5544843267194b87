// From the iteration space and the operands' layouts: orders the factors by their strides, merges
// factors that all accesses have together, and chooses the kind of nest.
#include "passes/codegen/nest/GroupNest.h"

#include "compiler/analysis/IterationSpace.h"

using namespace mlir;

namespace cleave::codegen {

namespace {

class NestBuilder {
public:
  NestBuilder(program::KernelOp kernel, bool maySweep)
      : kernel_(kernel), maySweep_(maySweep),
        fusion_(cast<graph::FusionOp>(kernel.getComputation())), body_(fusion_.getBody().front()) {}

  FailureOr<GroupNest> build() {
    SmallVector<Operation *> ops;
    for (Operation &op : body_.without_terminator())
      ops.push_back(&op);
    space_ = analysis::iterationSpaceOf(ops, body_.getArguments());
    for (const Polynomial &size : space_.sizes)
      sizes_.push_back(*size.constant());
    if (!space_.isProper())
      return fusion_.emitOpError("has a value with two dims of one factor");
    if (space_.sizes.size() > 64)
      return fusion_.emitOpError("has more than 64 factors");
    if (failed(collectReduced(ops)))
      return failure();
    collectAccesses();
    mergeFactors();
    collectValues(ops);
    chooseKind();
    return std::move(nest_);
  }

private:
  LogicalResult collectReduced(ArrayRef<Operation *> ops) {
    reduced_.assign(sizes_.size(), false);
    swept_ = reduced_;
    Operation *first = nullptr, *firstColumn = nullptr;
    for (Operation *op : ops) {
      auto reduce = dyn_cast<graph::ReduceOp>(op);
      if (!reduce)
        continue;
      std::vector<bool> mine(sizes_.size(), false);
      for (int factor : space_.reduced.lookup(op))
        mine[factor] = true;
      const bool isColumn = isColumnSum(reduce, ops);
      std::vector<bool> &others = isColumn ? swept_ : reduced_;
      Operation *&before = isColumn ? firstColumn : first;
      if (before && mine != others) {
        auto diag = op->emitOpError("reduces other dims than the rest of its group");
        diag.attachNote(before->getLoc()) << "the first reduction of the group is here";
        return diag;
      }
      others = std::move(mine);
      before = before ? before : op;
      if (isColumn)
        nest_.columnSums.insert(reduce.getResult());
    }
    return success();
  }

  // Whether the reduction keeps the last dim of its operand, in a group with one that reduces it.
  bool isColumnSum(graph::ReduceOp reduce, ArrayRef<Operation *> ops) {
    auto reducesLast = [](graph::ReduceOp op) {
      return llvm::is_contained(op.getDims(), graph::rankOf(op.getOperand()) - 1);
    };
    return maySweep_ && !reducesLast(reduce) && llvm::any_of(ops, [&](Operation *op) {
             auto other = dyn_cast<graph::ReduceOp>(op);
             return other && reducesLast(other);
           });
  }

  // Strides per factor of the space; a dim without a factor has only index 0.
  Access accessOf(Value value, program::ViewAttr view) {
    Access access;
    access.argument = view.getBuffer();
    access.offset = view.getOffset();
    access.element = graph::elementTypeOf(value);
    access.strides.assign(sizes_.size(), 0);
    for (auto [dim, stride] : llvm::enumerate(view.getStrides()))
      if (int factor = space_.factorOf(value, dim); factor >= 0)
        access.strides[factor] = stride;
    return access;
  }

  void collectAccesses() {
    // The group's operands are the kernel's block arguments in any order, possibly repeated.
    for (Value operand : fusion_.getOperands())
      nest_.operands.push_back(
          accessOf(body_.getArgument(nest_.operands.size()),
                   kernel_.getOperandView(cast<BlockArgument>(operand).getArgNumber())));
    for (auto [i, value] : llvm::enumerate(body_.getTerminator()->getOperands()))
      nest_.results.push_back(accessOf(value, kernel_.getResultView(i)));
    all_.append(nest_.operands.begin(), nest_.operands.end());
    all_.append(nest_.results.begin(), nest_.results.end());
    // Results come first: if accesses differ in order, sequential writes are worth more.
    std::rotate(all_.begin(), all_.begin() + nest_.operands.size(), all_.end());
  }

  // The factors from the largest stride to the smallest, in the access that has most of them.
  SmallVector<int> factorOrder() {
    auto count = [](const Access &access) {
      return llvm::count_if(access.strides, [](int64_t s) { return s != 0; });
    };
    const Access *reference = nullptr;
    for (const Access &access : all_)
      if (!reference || count(access) > count(*reference))
        reference = &access;
    SmallVector<int> order = llvm::to_vector(llvm::seq<int>(0, sizes_.size()));
    if (reference)
      llvm::stable_sort(order, [&](int a, int b) {
        int64_t x = std::abs(reference->strides[a]), y = std::abs(reference->strides[b]);
        return (x == 0) != (y == 0) ? x == 0 : x > y;
      });
    return order;
  }

  bool canMerge(int major, int minor) {
    if (reduced_[major] != reduced_[minor] || swept_[major] != swept_[minor])
      return false;
    for (auto &[value, dims] : space_.dims)
      if (auto iota = value.getDefiningOp<graph::IotaOp>())
        if (int f = space_.factorOf(value, iota.getDim()); f == major || f == minor)
          return false;
    return llvm::all_of(all_, [&](const Access &access) {
      return access.strides[major] == access.strides[minor] * sizes_[minor];
    });
  }

  void mergeFactors() {
    SmallVector<int> order = factorOrder();
    SmallVector<SmallVector<int>> merged;
    for (int factor : order) {
      if (!merged.empty() && canMerge(merged.back().back(), factor))
        merged.back().push_back(factor);
      else
        merged.push_back({factor});
    }
    number_.assign(sizes_.size(), -1);
    for (auto [id, parts] : llvm::enumerate(merged)) {
      nest_.sizes.push_back(1);
      for (int part : parts) {
        nest_.sizes.back() *= sizes_[part];
        number_[part] = id;
      }
    }
    auto restride = [&](Access &access) {
      SmallVector<int64_t> strides;
      for (ArrayRef<int> parts : merged)
        strides.push_back(access.strides[parts.back()]);
      access.strides = std::move(strides);
    };
    llvm::for_each(nest_.operands, restride);
    llvm::for_each(nest_.results, restride);
  }

  void collectValues(ArrayRef<Operation *> ops) {
    auto mask = [&](Value value) {
      uint64_t bits = 0;
      for (int factor : space_.factorsOf(value))
        bits |= uint64_t(1) << number_[factor];
      return bits;
    };
    for (Value argument : body_.getArguments())
      nest_.factors[argument] = mask(argument);
    for (Operation *op : ops) {
      int stage = 0;
      for (Value operand : op->getOperands())
        stage = std::max(stage, nest_.stage.lookup(operand));
      Value result = op->getResult(0);
      nest_.stage[result] =
          stage + (!space_.reduced.lookup(op).empty() && !nest_.columnSums.contains(result));
      nest_.factors[result] = mask(result);
      if (auto iota = dyn_cast<graph::IotaOp>(op)) {
        int factor = space_.factorOf(result, iota.getDim());
        nest_.iota[result] = factor < 0 ? -1 : number_[factor];
      }
    }
  }

  bool isContiguous(int factor) {
    return llvm::any_of(
               nest_.operands,
               [&](const Access &access) { return std::abs(access.strides[factor]) == 1; }) ||
           llvm::any_of(nest_.results, [&](const Access &access) {
             return std::abs(access.strides[factor]) == 1;
           });
  }

  void chooseKind() {
    uint64_t reducedMask = 0, sweptMask = 0;
    for (auto [factor, number] : llvm::enumerate(number_)) {
      if (reduced_[factor])
        reducedMask |= uint64_t(1) << number;
      if (swept_[factor])
        sweptMask |= uint64_t(1) << number;
    }
    SmallVector<int> parallel;
    for (int factor = 0; factor < static_cast<int>(nest_.sizes.size()); ++factor)
      (reducedMask >> factor & 1 ? nest_.reduced
       : sweptMask >> factor & 1 ? nest_.swept
                                 : parallel)
          .push_back(factor);
    int maxStage = 0;
    for (auto &[value, stage] : nest_.stage) {
      maxStage = std::max(maxStage, stage);
      nest_.rereadsRows |=
          stage > 0 && (nest_.factors.lookup(value) & reducedMask) && !graph::splatValue(value);
    }
    int last = static_cast<int>(nest_.sizes.size()) - 1;
    if (maxStage == 0 && nest_.columnSums.empty())
      nest_.kind = GroupNest::Kind::Pointwise;
    else if (nest_.reduced.empty() || nest_.reduced.back() == last || maxStage > 1 ||
             nest_.rereadsRows || !nest_.columnSums.empty() || parallel.empty() ||
             !isContiguous(last))
      nest_.kind = GroupNest::Kind::Rows;
    else
      nest_.kind = GroupNest::Kind::Columns;
    if (nest_.kind != GroupNest::Kind::Rows && !parallel.empty())
      nest_.inner = parallel.pop_back_val();
    nest_.outer = std::move(parallel);
    if (nest_.kind == GroupNest::Kind::Pointwise && nest_.inner >= 0)
      nest_.across = acrossFactor();
  }

  // The largest factor in which an operand is contiguous while the inner one strides over cache
  // lines. A short inner factor, such as the three channels of an image, would leave most of a tile
  // empty; its operands share few cache lines.
  int acrossFactor() {
    int across = -1;
    if (nest_.sizes[nest_.inner] < kTile)
      return across;
    for (const Access &access : nest_.operands)
      for (int factor : nest_.outer)
        if (std::abs(access.strides[factor]) == 1 && std::abs(access.strides[nest_.inner]) > 1 &&
            (across < 0 || nest_.sizes[factor] > nest_.sizes[across]))
          across = factor;
    return across;
  }

  program::KernelOp kernel_;
  bool maySweep_;
  graph::FusionOp fusion_;
  Block &body_;
  analysis::IterationSpace space_;
  std::vector<int64_t> sizes_; // per factor of the space
  std::vector<bool> reduced_;  // likewise
  std::vector<bool> swept_;    // per factor of the space, whether column sums reduce it
  SmallVector<int> number_;    // likewise its factor in the nest
  SmallVector<Access> all_;    // results, then operands, with strides per factor of the space
  GroupNest nest_;
};

} // namespace

uint64_t GroupNest::innerFactors() const {
  uint64_t mask = inner >= 0 ? uint64_t(1) << inner : 0;
  if (across >= 0)
    mask |= uint64_t(1) << across;
  for (int factor : reduced)
    mask |= uint64_t(1) << factor;
  return mask;
}

int64_t GroupNest::size(ArrayRef<int> list) const {
  int64_t size = 1;
  for (int factor : list)
    size *= sizes[factor];
  return size;
}

SmallVector<int64_t> GroupNest::outerSizes() const {
  SmallVector<int64_t> list;
  for (int factor : outer)
    list.push_back(factor == across ? llvm::divideCeil(sizes[factor], kTile) : sizes[factor]);
  return list;
}

int64_t GroupNest::extent() const {
  if (!outer.empty() || inner < 0)
    return llvm::product_of(outerSizes());
  return kind == Kind::Columns ? llvm::divideCeil(sizes[inner], kColumnUnit) : sizes[inner];
}

FailureOr<GroupNest> groupNestOf(program::KernelOp kernel, bool maySweep) {
  return NestBuilder(kernel, maySweep).build();
}

} // namespace cleave::codegen
