// Whole vectors of a row in scratch memory, which LLVM keeps in registers, and what is left.
#include "passes/codegen/cpu/RowSums.h"

using namespace mlir;

namespace cleave::codegen {

// Elements of a vector of AVX-512 in f32, and the vectors that are accumulated at a time.
static constexpr int64_t kVector = 16, kVectors = 4, kShortVector = 8;

RowSums::RowSums(CpuKernel &kernel, const GroupNest &nest, ArrayRef<graph::ReduceOp> reductions,
                 MutableArrayRef<Value> index, Element element)
    : k_(kernel), nest_(nest), reductions_(reductions), index_(index), element_(element) {
  if (reductions.empty() || nest.reduced.empty())
    return;
  const int64_t size = nest.sizes[nest.reduced.back()];
  if (size >= kShortVector)
    count_ = llvm::bit_floor(static_cast<uint64_t>(std::min(size, kVector * kVectors)));
}

// for lane in [0, count): as vectors, all of them at a time.
void RowSums::lanes(int64_t count, const KernelBuilder::Body &body) {
  k_.lanes(count, std::clamp<int64_t>(count / kVector, 1, kVectors), body);
}

Value RowSums::combine(size_t reduction, Value a, Value b) {
  graph::ReduceOp op = reductions_[reduction];
  return k_.combine(op.getKind(), graph::elementTypeOf(op.getOperand()), a, b);
}

Value RowSums::neutral(size_t reduction) {
  graph::ReduceOp op = reductions_[reduction];
  return k_.neutral(op.getKind(), k_.wideType(graph::elementTypeOf(op.getOperand())));
}

SmallVector<Value> RowSums::emit() {
  SmallVector<Value> sums;
  for (size_t i = 0; i < reductions_.size(); ++i) {
    sums.push_back(neutral(i));
    if (count_ == 1)
      continue;
    partials_.push_back(k_.scratch(count_, sums.back().getType()));
    lanes(count_, [&](Value lane) { k_.storeTo(neutral(i), partials_.back(), lane); });
  }
  sums = nest_.reduced.empty() ? element_() : emitFactor(0, sums);
  if (count_ > 1)
    for (size_t i = 0; i < reductions_.size(); ++i)
      sums[i] = combine(i, total(i), sums[i]);
  return sums;
}

// Loops over a factor and those inside of it. Returns the sums of the elements that fill no vector;
// `rest` are these sums so far.
SmallVector<Value> RowSums::emitFactor(size_t depth, ValueRange rest) {
  const int factor = nest_.reduced[depth];
  const bool isInnermost = depth + 1 == nest_.reduced.size();
  const int64_t size = nest_.sizes[factor], done = isInnermost ? emitVectors(size) : 0;
  if (done == size)
    return llvm::to_vector(rest);
  return k_.fold(k_.constant(done), k_.constant(size), 1, rest,
                 [&](Value index, ValueRange before) {
                   index_[factor] = index;
                   if (!isInnermost)
                     return emitFactor(depth + 1, before);
                   SmallVector<Value> sums = element_();
                   for (size_t i = 0; i < sums.size(); ++i)
                     sums[i] = combine(i, before[i], sums[i]);
                   return sums;
                 });
}

// Emits the elements of the innermost factor that fill vectors, and returns their number.
int64_t RowSums::emitVectors(int64_t size) {
  if (count_ == 1)
    return 0;
  int64_t done = size - size % count_;
  k_.rolled(0, done, count_, [&](Value first) { emitLanes(first, 0, count_); });
  for (int64_t unit : {kVector, kShortVector})
    if (const int64_t count = (size - done) / unit * unit; count > 0) {
      emitLanes(k_.constant(done), done % count_, count);
      done += count;
    }
  return done;
}

// Adds elements [first, first + count) to the partial sums from `partial` on.
void RowSums::emitLanes(Value first, int64_t partial, int64_t count) {
  lanes(count, [&](Value lane) {
    index_[nest_.reduced.back()] = k_.add(first, lane);
    SmallVector<Value> operands = element_();
    Value at = k_.add(lane, k_.constant(partial));
    for (auto [i, operand] : llvm::enumerate(operands)) {
      Value before = k_.loadFrom(partials_[i], at, operand.getType());
      k_.storeTo(combine(i, before, operand), partials_[i], at);
    }
  });
}

Value RowSums::total(size_t reduction) {
  Value partials = partials_[reduction];
  const Type type = neutral(reduction).getType();
  for (int64_t half = count_ / 2; half > 0; half /= 2)
    lanes(half, [&](Value lane) {
      Value upper = k_.loadFrom(partials, k_.add(lane, k_.constant(half)), type);
      Value lower = k_.loadFrom(partials, lane, type);
      k_.storeTo(combine(reduction, lower, upper), partials, lane);
    });
  return k_.loadFrom(partials, k_.constant(0), type);
}

} // namespace cleave::codegen
