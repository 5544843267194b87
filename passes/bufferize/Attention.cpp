// Attention and its gradient on strided views: one instruction, or on GPUs one kernel.
#include "dialects/graph/Attention.h"
#include "passes/bufferize/StepLowering.h"
#include "runtime/base/AttentionScratch.h"

using namespace mlir;

namespace cleave::bufferize {
namespace {

// The sizes of the instruction, from the shapes of query, key and value on this rank.
struct Sizes {
  SmallVector<int64_t> batch;
  int64_t heads, groups, queries, keys, width, depth;

  explicit Sizes(const graph::AttentionScores &scores) {
    std::vector<int64_t> q = graph::staticShapeOf(scores.query),
                         k = graph::staticShapeOf(scores.key);
    size_t rank = q.size();
    batch.assign(q.begin(), q.end() - 3);
    heads = q[rank - 3], groups = k[rank - 3];
    queries = q[rank - 2], keys = k[rank - 2];
    width = q[rank - 1], depth = graph::staticShapeOf(scores.value).back();
  }

  // The shape of the scores.
  std::vector<int64_t> scores() const {
    std::vector<int64_t> shape(batch.begin(), batch.end());
    shape.insert(shape.end(), {heads, queries, keys});
    return shape;
  }

  int64_t batchCount() const {
    int64_t count = 1;
    for (int64_t dim : batch)
      count *= dim;
    return count;
  }

  int64_t scratchBytes(int64_t elementBytes) const {
    return attentionScratchBytes({batchCount(), heads, groups, queries, keys, width, depth},
                                 elementBytes);
  }
};

// A bias or a mask, of which dims of size 1 are repeated.
View repeated(View view, ArrayRef<int64_t> scores) {
  for (auto [size, stride, whole] : llvm::zip(view.shape, view.strides, scores))
    if (size != whole)
      stride = 0;
  return view;
}

bool hasDenseRows(const View &view) { return view.shape.back() <= 1 || view.strides.back() == 1; }

int64_t elementBytesOf(Value value) {
  return graph::elementTypeOf(value).getIntOrFloatBitWidth() / 8;
}

// Adds the instruction. `scratch` may be null.
void add(ProgramBuilder &program, const graph::AttentionScores &scores, const AttentionViews &at,
         bool isSafe, Value seed, ArrayRef<Value> offsets, Value scratch) {
  OpBuilder &b = program.builder();
  Sizes sizes(scores);
  SmallVector<Attribute> views;
  for (const std::optional<View> &view : at)
    if (view)
      views.push_back(view->attribute(static_cast<int64_t>(views.size())));
  auto buffer = [&](AttentionPlace place) { return at[place] ? at[place]->buffer : Value(); };
  auto number = [&](int64_t size) { return b.getI64IntegerAttr(size); };
  auto flag = [&](bool isSet) { return isSet ? b.getUnitAttr() : UnitAttr(); };
  auto list = [&](ArrayRef<int64_t> numbers) {
    return offsets.empty() ? DenseI64ArrayAttr() : b.getDenseI64ArrayAttr(numbers);
  };
  program.add<program::AttentionOp>(
      buffer(kQuery), buffer(kKey), buffer(kValue), buffer(kResult), buffer(kLse), buffer(kBias),
      buffer(kMask), buffer(kGrad), buffer(kQueryGrad), buffer(kKeyGrad), buffer(kValueGrad), seed,
      offsets, scratch, /*workspace=*/Value(), b.getArrayAttr(views),
      b.getDenseI64ArrayAttr(sizes.batch), number(sizes.heads), number(sizes.groups),
      number(sizes.queries), number(sizes.keys), number(sizes.width), number(sizes.depth),
      b.getF64FloatAttr(scores.scale), b.getF64FloatAttr(scores.fillValue()), flag(scores.causal),
      flag(isSafe), seed ? b.getF64FloatAttr(scores.dropRate()) : FloatAttr(),
      list(scores.offsetDims), list(scores.whole));
}

} // namespace

View StepLowering::forwardView(Value value) {
  View view = viewOf(value);
  bool isForward = llvm::all_of(view.strides, [](int64_t stride) { return stride >= 0; });
  return isForward ? view : copyToDense(view);
}

AttentionViews StepLowering::attentionOperands(const graph::AttentionScores &scores) {
  std::vector<int64_t> shape = Sizes(scores).scores();
  AttentionViews at;
  at[kQuery] = forwardView(scores.query);
  at[kKey] = forwardView(scores.key);
  at[kValue] = forwardView(scores.value);
  if (scores.bias)
    at[kBias] = repeated(forwardView(scores.bias), shape);
  if (scores.mask)
    at[kMask] = repeated(forwardView(scores.mask), shape);
  return at;
}

void StepLowering::addAttention(const graph::AttentionScores &scores, const AttentionViews &at,
                                bool isSafe, Value scratch) {
  Value seed = scores.drops() ? wholeViewOf(scores.seed).buffer : Value();
  SmallVector<Value> offsets;
  for (Value offset : scores.offsets)
    offsets.push_back(wholeViewOf(offset).buffer);
  add(program_, scores, at, isSafe, seed, offsets, scratch);
}

// The result in the memory order of the query if its readers accept any: heads are often transposed
// before attention and back after it, and merged by a reshape, which then is a view.
View StepLowering::newAttentionResult(graph::AttentionOp op, const View &query) {
  bool isFree = llvm::all_of(op.getResult().getUsers(), [](Operation *user) {
    return isa<graph::TransposeOp, graph::AttentionGradOp>(user);
  });
  return isFree ? newBufferLike(op.getResult(), query.strides) : newBuffer(op.getResult());
}

// The kernel of GPUs reads and writes any views.
void StepLowering::launchAttention(Operation *op, ArrayRef<View> results) {
  SmallVector<View> operands;
  for (Value operand : op->getOperands())
    operands.push_back(viewOf(operand));
  program_.launch(op, operands, results);
  for (auto [result, view] : llvm::zip(op->getResults(), results))
    setView(result, view);
}

void StepLowering::lowerAttention(graph::AttentionOp op) {
  View result = destinations_.contains(op.getResult())
                    ? destinations_[op.getResult()]
                    : newAttentionResult(op, viewOf(op.getQuery()));
  View lse = resultView(op.getLse());
  if (isForGpus_)
    return launchAttention(op, {result, lse});
  graph::AttentionScores scores(op);
  AttentionViews at = attentionOperands(scores);
  at[kResult] = result, at[kLse] = lse;
  addAttention(scores, at, op.getSafe(), Value());
  setView(op.getResult(), result);
  setView(op.getLse(), lse);
}

void StepLowering::lowerAttentionGrad(graph::AttentionGradOp op) {
  SmallVector<View, 3> places;
  for (Value result : op->getResults())
    places.push_back(resultView(result));
  if (isForGpus_)
    return launchAttention(op, places);
  graph::AttentionScores scores(op);
  AttentionViews at = attentionOperands(scores);
  at[kResult] = forwardView(op.getResult());
  at[kLse] = forwardView(op.getLse());
  at[kGrad] = forwardView(op.getGrad());
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    bool fits = i == 0 || hasDenseRows(places[i]); // the query's gradient may lie anyhow
    at[kQueryGrad + i] = fits ? places[i] : newBuffer(result, ".dense");
  }
  const int64_t bytes = Sizes(scores).scratchBytes(elementBytesOf(scores.query));
  Value scratch;
  if (bytes > 0)
    scratch = program_.addBuffer("attention.scratch", program::Role::Workspace,
                                 program_.builder().getF32Type(),
                                 {bytes / static_cast<int64_t>(sizeof(float))});
  addAttention(scores, at, /*isSafe=*/false, scratch);
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    if (!(*at[kQueryGrad + i] == places[i]))
      program_.copy(*at[kQueryGrad + i], places[i]);
    setView(result, places[i]);
  }
}

} // namespace cleave::bufferize
