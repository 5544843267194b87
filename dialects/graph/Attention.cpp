// Attention and its gradient: the scores they share, types and verification.
#include "dialects/graph/Attention.h"

#include "dialects/graph/Random.h"
#include "runtime/base/AttentionScratch.h"
#include "runtime/base/Concat.h"

#include <algorithm>
#include <limits>

using namespace mlir;

namespace cleave::graph {

// -- scores ---------------------------------------------------------------------------------------

// f64 for f64 values, else f32.
static Type wideTypeOf(Value value) {
  Type element = elementTypeOf(value);
  return element.isF64() ? element : Type(Float32Type::get(element.getContext()));
}

Shape AttentionScores::shape() const {
  Shape shape = shapeOf(query), keys = shapeOf(key);
  shape.back() = keys[keys.size() - 2];
  return shape;
}

int64_t AttentionScores::headsPerGroup() const {
  Shape q = shapeOf(query), k = shapeOf(key);
  const Polynomial &heads = q[q.size() - 3], &groups = k[k.size() - 3];
  return heads == groups ? 1 : *heads.constant() / *groups.constant();
}

double AttentionScores::fillValue() const {
  return fill.value_or(-std::numeric_limits<double>::infinity());
}

Type AttentionScores::wideType() const { return wideTypeOf(value); }
double AttentionScores::dropRate() const { return dropout ? dropout.getValueAsDouble() : 0; }
bool AttentionScores::drops() const { return seed && dropRate() > 0; }

int64_t AttentionOp::headsPerGroup() { return AttentionScores(*this).headsPerGroup(); }
int64_t AttentionGradOp::headsPerGroup() { return AttentionScores(*this).headsPerGroup(); }
double AttentionOp::fillValue() { return AttentionScores(*this).fillValue(); }
double AttentionGradOp::fillValue() { return AttentionScores(*this).fillValue(); }
double AttentionOp::getDropRate() { return AttentionScores(*this).dropRate(); }
double AttentionGradOp::getDropRate() { return AttentionScores(*this).dropRate(); }
void AttentionOp::getEffects(MemoryEffectList &effects) { addDropoutEffects(*this, effects); }

// The kernels compute in f32, on matrices of at most kMostAttentionColumns columns and no empty
// ones. They never hold a matrix of scores, so they have no gradient of a bias.
static bool hasKernelFor(const AttentionScores &scores) {
  auto isEmpty = [](Value matrices) {
    return llvm::any_of(shapeOf(matrices), [](const Polynomial &size) { return size == 0; });
  };
  auto fits = [](Value matrix) {
    std::optional<int64_t> columns = shapeOf(matrix).back().constant();
    return columns && *columns >= 1 && *columns <= kMostAttentionColumns;
  };
  Type type = elementTypeOf(scores.value);
  return (type.isF32() || type.isBF16() || type.isF16()) && fits(scores.query) &&
         fits(scores.value) && !isEmpty(scores.query) && !isEmpty(scores.key) &&
         (!scores.bias || elementTypeOf(scores.bias) == type || elementTypeOf(scores.bias).isF32());
}
bool AttentionOp::hasKernel() { return hasKernelFor(AttentionScores(*this)); }
bool AttentionGradOp::hasKernel() { return !getBiasGrad() && hasKernelFor(AttentionScores(*this)); }

// -- the library of GPUs --------------------------------------------------------------------------

// cuDNN 9.19 has engines on Hopper for everything that this accepts; asked for plans of models, it
// confirms it without a device (test/unit/runtime_device_cuda/support.py).
std::string AttentionScores::libraryRefusal() const {
  constexpr int64_t kColumns = 8, kMostColumns = 128; // of matrices: 16-byte rows of 16-bit floats
  constexpr double kHidden = -1e4;                    // its weight is 0
  // The gradient takes 2 bytes of memory per score (bufferize::attentionWorkspace).
  constexpr int64_t kMostScores = 4096 * 4096;
  Type type = elementTypeOf(value);
  Shape sizes = shape();
  const size_t rank = sizes.size();
  std::optional<int64_t> queries = sizes[rank - 2].constant(), keys = sizes[rank - 1].constant(),
                         width = shapeOf(query).back().constant(),
                         depth = shapeOf(value).back().constant();
  if (!type.isBF16() && !type.isF16())
    return "its type is neither bf16 nor f16";
  if (drops())
    return "its random numbers of dropout are the plan's";
  if (mask || bias)
    return "a mask or a bias can hide all keys of a query";
  if (!offsets.empty())
    return "the place of its block of scores is known at run time only";
  if (rank > 4)
    return "it has several batch dims";
  if (!queries || !keys || !width || !depth)
    return "its sizes are symbols";
  for (int64_t columns : {*width, *depth})
    if (columns % kColumns != 0 || columns > kMostColumns)
      return concat("it has ", columns, " columns, expected a multiple of ", kColumns, " up to ",
                    kMostColumns);
  if (*queries == 1)
    return "it has a single query";
  if (*queries * *keys > kMostScores)
    return concat("its ", *queries, " x ", *keys, " scores per head take too much memory");
  if (causal && *queries != *keys)
    return concat("it is causal with ", *queries, " queries and ", *keys, " keys");
  if (causal && fillValue() > kHidden)
    return concat("hidden scores are ", fillValue(), ", expected a large negative number");
  return "";
}

bool isCausalAttention(Operation *op) {
  if (auto attention = dyn_cast<AttentionOp>(op))
    return attention.getCausal();
  if (auto gradient = dyn_cast<AttentionGradOp>(op))
    return gradient.getCausal();
  return false;
}

bool isLibraryAttention(Operation *op) {
  if (op->hasAttr(kDirectAttention))
    return false;
  if (auto attention = dyn_cast<AttentionOp>(op))
    return AttentionScores(attention).libraryRefusal().empty();
  if (auto gradient = dyn_cast<AttentionGradOp>(op))
    return AttentionScores(gradient).libraryRefusal().empty();
  return false;
}

AttentionSizes attentionSizes(Operation *op) {
  const std::vector<int64_t> query = staticShapeOf(op->getOperand(0)),
                             key = staticShapeOf(op->getOperand(1)),
                             value = staticShapeOf(op->getOperand(2));
  const size_t heads = query.size() - 3; // the dim; batch dims are before it
  return {.batch = llvm::product_of(llvm::ArrayRef(query).take_front(heads)),
          .heads = query[heads],
          .groups = key[heads],
          .queries = query[heads + 1],
          .keys = key[heads + 1],
          .width = query.back(),
          .depth = value.back()};
}

// -- verification ---------------------------------------------------------------------------------

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  Shape shape = shapeOf(adaptor.getQuery()), value = shapeOf(adaptor.getValue());
  if (shape.empty() || value.empty())
    return emitOptionalError(location, "needs query, key and value of one rank of at least 3");
  shape.back() = value.back();
  types.push_back(tensorOf(shape, elementTypeOf(adaptor.getValue())));
  shape.pop_back();
  types.push_back(tensorOf(shape, wideTypeOf(adaptor.getValue())));
  return success();
}

// (C1) to (C3).
static LogicalResult verifyHeads(const AttentionScores &scores) {
  Value query = scores.query, key = scores.key, value = scores.value;
  Shape q = shapeOf(query), k = shapeOf(key), v = shapeOf(value);
  size_t rank = q.size();
  if (rank < 3 || k.size() != rank || v.size() != rank) {
    auto diag = scores.op->emitOpError("needs query, key and value of one rank of at least 3");
    diag.attachNote(query.getLoc()) << "the query has type " << query.getType();
    diag.attachNote(key.getLoc()) << "the key has type " << key.getType();
    diag.attachNote(value.getLoc()) << "the value has type " << value.getType();
    return diag;
  }
  bool fits = std::equal(k.begin(), k.end() - 1, v.begin()) && q.back() == k.back() &&
              std::equal(q.begin(), q.end() - 3, k.begin());
  if (!fits || elementTypeOf(query) != elementTypeOf(key) ||
      elementTypeOf(query) != elementTypeOf(value)) {
    auto diag = scores.op->emitOpError("needs key and value that fit the query, found ")
                << key.getType() << " and " << value.getType() << " for " << query.getType();
    diag.attachNote(query.getLoc()) << "the query comes from here";
    diag.attachNote(key.getLoc()) << "the key comes from here";
    diag.attachNote(value.getLoc()) << "the value comes from here";
    return diag;
  }
  std::optional<int64_t> heads = q[rank - 3].constant(), groups = k[rank - 3].constant();
  if (q[rank - 3] != k[rank - 3] && (!heads || !groups || *groups <= 0 || *heads % *groups != 0)) {
    auto diag = scores.op->emitOpError("needs heads that are a multiple of the key's, found ")
                << q[rank - 3].str() << " and " << k[rank - 3].str();
    diag.attachNote(key.getLoc()) << "the key has type " << key.getType();
    return diag;
  }
  return success();
}

// (C4).
static LogicalResult verifyMasks(const AttentionScores &scores) {
  Shape shape = scores.shape();
  auto isRepeated = [](const Polynomial &found, const Polynomial &expected) {
    return found == expected || found == Polynomial(1);
  };
  for (Value added : {scores.bias, scores.mask}) {
    if (!added)
      continue;
    Shape found = shapeOf(added);
    if (found.size() == shape.size() &&
        std::equal(found.begin(), found.end(), shape.begin(), isRepeated))
      continue;
    auto diag = scores.op->emitOpError("needs a bias and a mask of the scores' shape, found ")
                << added.getType();
    diag.attachNote(added.getLoc())
        << "expected " << tensorOf(shape, elementTypeOf(added)) << ", where dims may be 1";
    return diag;
  }
  return success();
}

// (C9) and (C10).
static LogicalResult verifyBlock(const AttentionScores &scores) {
  auto rank = static_cast<int64_t>(scores.shape().size());
  ArrayRef<int64_t> dims = scores.offsetDims;
  bool isAscending = llvm::is_sorted(dims, std::less_equal<int64_t>());
  if (dims.size() != scores.offsets.size() || !isAscending ||
      (!dims.empty() && (dims.front() < 0 || dims.back() > rank - 2)))
    return scores.op->emitOpError("needs an ascending list of dims below ")
           << rank - 1 << ", one per offset, found " << dims.size() << " dims for "
           << scores.offsets.size() << " offsets";
  size_t sizes = scores.offsets.empty() ? 0 : static_cast<size_t>(rank);
  if (scores.whole.size() != sizes)
    return scores.op->emitOpError("needs ")
           << sizes << " sizes of the whole scores, found " << scores.whole.size();
  return success();
}

static LogicalResult verifyScores(const AttentionScores &scores) {
  if (failed(verifyHeads(scores)) || failed(verifyMasks(scores)))
    return failure();
  if (scores.seed && !scores.dropout) {
    auto diag = scores.op->emitOpError("needs a rate of dropout for its seed");
    diag.attachNote(scores.seed.getLoc()) << "the seed comes from here";
    return diag;
  }
  return verifyBlock(scores);
}

LogicalResult AttentionOp::verify() { return verifyScores(AttentionScores(*this)); }

// That `found` has this type; `what` names it.
static LogicalResult verifyType(Operation *op, StringRef what, Value found, Type expected) {
  if (found.getType() == expected)
    return success();
  auto diag = op->emitOpError("needs ")
              << what << " of type " << expected << ", found " << found.getType();
  diag.attachNote(found.getLoc()) << "it comes from here";
  return diag;
}

LogicalResult AttentionGradOp::verify() {
  AttentionScores scores(*this);
  if (failed(verifyScores(scores)))
    return failure();
  if (scores.dropout && !scores.seed)
    return emitOpError() << "needs a seed for its dropout";
  Shape rows = shapeOf(getQuery()), result = rows;
  rows.pop_back();
  result.back() = shapeOf(getValue()).back();
  Type resultType = tensorOf(result, elementTypeOf(getValue()));
  if (getBiasGrad() && !getBias())
    return emitOpError() << "has a gradient of the bias, but no bias";
  return success(
      succeeded(verifyType(*this, "a result", getResult(), resultType)) &&
      succeeded(verifyType(*this, "a gradient of the result", getGrad(), resultType)) &&
      succeeded(verifyType(*this, "a log-sum-exp", getLse(), tensorOf(rows, scores.wideType()))) &&
      succeeded(
          verifyType(*this, "a gradient of the query", getQueryGrad(), getQuery().getType())) &&
      succeeded(verifyType(*this, "a gradient of the key", getKeyGrad(), getKey().getType())) &&
      succeeded(
          verifyType(*this, "a gradient of the value", getValueGrad(), getValue().getType())) &&
      (!getBiasGrad() ||
       succeeded(verifyType(*this, "a gradient of the bias", getBiasGrad(), getBias().getType()))));
}

} // namespace cleave::graph

#define GET_OP_CLASSES
#include "dialects/graph/Attention.cpp.inc"

void cleave::graph::GraphDialect::addAttentionOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/graph/Attention.cpp.inc"
      >();
}
