// Copies tensors that the instruction does not accept, and adds it with its scratch memory.
#include "passes/bufferize/Attention.h"

#include "dialects/graph/Attention.h"
#include "passes/bufferize/Kernels.h"
#include "passes/bufferize/Workspace.h"
#include "runtime/base/AttentionScratch.h"

#include <array>

using namespace mlir;

namespace cleave::bufferize {
namespace {

// The tensors of an attention in the order of program.attention, and their views; none for absent
// ones.
enum AttentionPlace {
  kQuery,
  kKey,
  kValue,
  kResult,
  kLse,
  kBias,
  kMask,
  kGrad,
  kQueryGrad,
  kKeyGrad,
  kValueGrad,
  kAttentionPlaces
};
using AttentionViews = std::array<std::optional<View>, kAttentionPlaces>;

// The memory of an attention beside its tensors: on CPUs scratch memory, on GPUs the library's
// workspace. Either may be null.
struct AttentionMemory {
  Value scratch = {}, workspace = {};
};

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

  AttentionSizes all() const { return {batchCount(), heads, groups, queries, keys, width, depth}; }
};

// A bias or a mask, of which dims of size 1 are repeated.
View repeated(View view, ArrayRef<int64_t> scores) {
  for (auto [size, stride, whole] : llvm::zip(view.shape, view.strides, scores))
    if (size != whole)
      stride = 0;
  return view;
}

bool hasDenseRows(const View &view) { return view.shape.back() <= 1 || view.strides.back() == 1; }

// Whether the rows of a 16-bit tensor are dense and begin at multiples of 16 bytes, and no two are
// the same: what cuDNN expects of matrices.
bool hasAlignedRows(const View &view) {
  constexpr int64_t kElements = 8;
  auto isAligned = [](int64_t elements) { return elements % kElements == 0; };
  for (auto [size, stride] : llvm::drop_end(llvm::zip(view.shape, view.strides)))
    if (!isAligned(stride) || (size > 1 && stride <= 0))
      return false;
  return hasDenseRows(view) && isAligned(view.offset);
}

int64_t elementBytesOf(Value value) {
  return graph::elementTypeOf(value).getIntOrFloatBitWidth() / 8;
}

// Adds the instruction. `memory` may have null buffers.
void addInstruction(ProgramBuilder &program, const graph::AttentionScores &scores,
                    const AttentionViews &at, bool isSafe, Value seed, ArrayRef<Value> offsets,
                    const AttentionMemory &memory) {
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
      offsets, memory.scratch, memory.workspace, b.getArrayAttr(views),
      b.getDenseI64ArrayAttr(sizes.batch), number(sizes.heads), number(sizes.groups),
      number(sizes.queries), number(sizes.keys), number(sizes.width), number(sizes.depth),
      b.getF64FloatAttr(scores.scale), b.getF64FloatAttr(scores.fillValue()), flag(scores.causal),
      flag(isSafe), flag(scores.op->hasAttr(graph::kMirrored)),
      seed ? b.getF64FloatAttr(scores.dropRate()) : FloatAttr(), list(scores.offsetDims),
      list(scores.whole));
}

class AttentionLowering {
public:
  AttentionLowering(Operation *op, ProgramBuilder &program, ValueBuffers &buffers,
                    ValueViews &views, GpuLibraries &libraries)
      : isForGpus_(program::isForGpus(op)), program_(program), buffers_(buffers), views_(views),
        libraries_(libraries) {}

  void lower(graph::AttentionOp op);
  void lower(graph::AttentionGradOp op);

private:
  // The view of a matrix, copied if the instruction does not accept it.
  View matrixOf(Value value);
  // The views of query, key, value, bias and mask.
  AttentionViews operandsOf(const graph::AttentionScores &scores);
  View newResult(graph::AttentionOp op, const View &query);
  AttentionMemory newMemory(const graph::AttentionScores &scores, bool isGradient);
  void add(const graph::AttentionScores &scores, const AttentionViews &at, bool isSafe,
           const AttentionMemory &memory);

  bool isForGpus_;
  ProgramBuilder &program_;
  ValueBuffers &buffers_;
  ValueViews &views_;
  GpuLibraries &libraries_;
};

View AttentionLowering::matrixOf(Value value) {
  if (!isForGpus_)
    return views_.forwardOf(value);
  View view = views_.of(value);
  return hasAlignedRows(view) ? view : copyToDense(program_, view);
}

AttentionMemory AttentionLowering::newMemory(const graph::AttentionScores &scores,
                                             bool isGradient) {
  const AttentionSizes sizes = Sizes(scores).all();
  if (isForGpus_)
    return {.workspace = libraries_.newWorkspace(attentionWorkspace(sizes, isGradient))};
  const int64_t bytes = isGradient ? attentionScratchBytes(sizes, elementBytesOf(scores.query)) : 0;
  if (bytes == 0)
    return {};
  return {.scratch = program_.addBuffer("attention.scratch", program::Role::Workspace,
                                        program_.builder().getF32Type(),
                                        {bytes / static_cast<int64_t>(sizeof(float))})};
}

AttentionViews AttentionLowering::operandsOf(const graph::AttentionScores &scores) {
  std::vector<int64_t> shape = Sizes(scores).scores();
  AttentionViews at;
  at[kQuery] = matrixOf(scores.query);
  at[kKey] = matrixOf(scores.key);
  at[kValue] = matrixOf(scores.value);
  if (scores.bias)
    at[kBias] = repeated(views_.forwardOf(scores.bias), shape);
  if (scores.mask)
    at[kMask] = repeated(views_.forwardOf(scores.mask), shape);
  return at;
}

void AttentionLowering::add(const graph::AttentionScores &scores, const AttentionViews &at,
                            bool isSafe, const AttentionMemory &memory) {
  Value seed = scores.drops() ? views_.wholeOf(scores.seed).buffer : Value();
  SmallVector<Value> offsets;
  for (Value offset : scores.offsets)
    offsets.push_back(views_.wholeOf(offset).buffer);
  addInstruction(program_, scores, at, isSafe, seed, offsets, memory);
}

// The result in the memory order of the query if its readers accept any: heads are often transposed
// before attention and back after it, and merged by a reshape, which then is a view.
View AttentionLowering::newResult(graph::AttentionOp op, const View &query) {
  bool isFree = llvm::all_of(op.getResult().getUsers(), [](Operation *user) {
    return isa<graph::TransposeOp, graph::AttentionGradOp>(user);
  });
  return isFree ? buffers_.addLike(op.getResult(), query.strides) : buffers_.add(op.getResult());
}

void AttentionLowering::lower(graph::AttentionOp op) {
  const View *destination = views_.destinationOf(op.getResult());
  View place = destination ? *destination : newResult(op, views_.of(op.getQuery()));
  View lse = views_.resultView(op.getLse());
  if (isForGpus_ && !graph::isLibraryAttention(op))
    return launchOnViews(op, {place, lse}, program_, views_);
  graph::AttentionScores scores(op);
  AttentionViews at = operandsOf(scores);
  const bool fits = !isForGpus_ || hasAlignedRows(place);
  at[kResult] = fits ? place : buffers_.add(op.getResult(), ".dense");
  at[kLse] = lse;
  add(scores, at, op.getSafe(), newMemory(scores, /*isGradient=*/false));
  if (!fits)
    program_.copy(*at[kResult], place);
  views_.set(op.getResult(), place);
  views_.set(op.getLse(), lse);
}

void AttentionLowering::lower(graph::AttentionGradOp op) {
  SmallVector<View, 3> places;
  for (Value result : op->getResults())
    places.push_back(views_.resultView(result));
  if (isForGpus_ && !graph::isLibraryAttention(op))
    return launchOnViews(op, places, program_, views_);
  graph::AttentionScores scores(op);
  AttentionViews at = operandsOf(scores);
  at[kResult] = matrixOf(op.getResult());
  at[kLse] = views_.forwardOf(op.getLse());
  at[kGrad] = matrixOf(op.getGrad());
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    const bool fits = isForGpus_ ? hasAlignedRows(places[i])
                                 // on CPUs, the query's gradient may lie anyhow
                                 : i == 0 || hasDenseRows(places[i]);
    at[kQueryGrad + i] = fits ? places[i] : buffers_.add(result, ".dense");
  }
  add(scores, at, /*isSafe=*/false, newMemory(scores, /*isGradient=*/true));
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    if (!(*at[kQueryGrad + i] == places[i]))
      program_.copy(*at[kQueryGrad + i], places[i]);
    views_.set(result, places[i]);
  }
}

} // namespace

void lowerAttention(graph::AttentionOp op, ProgramBuilder &program, ValueBuffers &buffers,
                    ValueViews &views, GpuLibraries &libraries) {
  AttentionLowering(op, program, buffers, views, libraries).lower(op);
}

void lowerAttentionGrad(graph::AttentionGradOp op, ProgramBuilder &program, ValueBuffers &buffers,
                        ValueViews &views, GpuLibraries &libraries) {
  AttentionLowering(op, program, buffers, views, libraries).lower(op);
}

} // namespace cleave::bufferize
