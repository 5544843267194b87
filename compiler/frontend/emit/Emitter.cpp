// See Emitter.h.
#include "compiler/frontend/emit/Emitter.h"

#include "dialects/graph/Symbols.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace cleave::emit {

using namespace graph;

// -- checks ---------------------------------------------------------------------------------------
int64_t Emitter::axis(int64_t axis, int64_t rank, const std::string &what) const {
  if (axis < -rank || axis >= rank)
    fail(what, " ", axis, " is out of range for ", rank, " dims");
  return axis < 0 ? axis + rank : axis;
}

Ints Emitter::axes(const Ints &axes, int64_t rank) const {
  std::set<int64_t> seen;
  for (int64_t one : axes)
    if (!seen.insert(axis(one, rank, "axes:")).second)
      fail("axes: ", one, " is named twice");
  return Ints(seen.begin(), seen.end());
}

void Emitter::checkFloat(Value value) const {
  if (!emit::isFloat(value))
    fail("has an operand of ", typeNameOf(value), ", expected floating-point numbers");
}

void Emitter::checkInteger(Value value, const std::string &what) const {
  if (emit::isFloat(value) || isBool(value))
    fail("has ", what, " of ", typeNameOf(value), ", expected integers");
}

void Emitter::checkBool(Value value, const std::string &what) const {
  if (!isBool(value))
    fail("has ", what, " of ", typeNameOf(value), ", expected bool");
}

void Emitter::checkSameType(Value a, Value b) const {
  if (elementOf(a) != elementOf(b))
    fail("has operands of ", typeNameOf(a), " and ", typeNameOf(b), ", expected the same type");
}

void Emitter::checkDim(int64_t dim, int64_t rank) const {
  if (dim < 0 || dim >= rank)
    fail("has a tensor of ", rank, " dims, expected at least ", dim + 1);
}

void Emitter::checkPermutation(llvm::ArrayRef<int64_t> permutation, int64_t rank) const {
  Ints sorted(permutation.begin(), permutation.end());
  std::sort(sorted.begin(), sorted.end());
  if (sorted != dimsFrom(0, rank))
    fail("has ", rank, " dims and orders them as ",
         showInts(Ints(permutation.begin(), permutation.end())));
}

void Emitter::checkAlike(Value a, Value b) const {
  if (a.getType() == b.getType())
    return;
  checkSameType(a, b);
  fail("has operands of the shapes ", showShape(shapeOf(a)), " and ", showShape(shapeOf(b)),
       ", expected the same shape");
}

void Emitter::checkRank(Value value, int64_t atLeast) const {
  (void)emit::shapeOf(value).dropFront(atLeast);
}

mlir::RankedTensorType Emitter::type(const Sizes &dims, mlir::Type element) const {
  int64_t count = 1;
  for (const Polynomial &dim : dims) {
    if (dim.atMost(kLeastSymbol).value_or(0) < 0)
      fail("the result would have a dim of size ", dim.str());
    // A dim of size 0 counts as 1, since offsets are products of the others.
    int64_t number =
        std::max<int64_t>(dim.constant().value_or(dim.atLeast(kLeastSymbol).value_or(1)), 1);
    if (__builtin_mul_overflow(count, number, &count) || count > (int64_t(1) << 56))
      fail("the result ", showShape(dims), " has more elements than fit into memory");
  }
  if (dims.size() > kMaxRank)
    fail("the result has ", dims.size(), " dims, expected at most ", kMaxRank);
  return graph::tensorOf(dims, element);
}

// -- known values ---------------------------------------------------------------------------------
int64_t Emitter::number(const Polynomial &size, const std::string &what) const {
  if (std::optional<int64_t> number = size.constant())
    return *number;
  fail("the ", what, " ", size.str(), " ", dependsOnSymbols(size.symbols()));
}

Ints Emitter::numbers(const Sizes &sizes, const std::string &what) const {
  Ints out;
  for (const Polynomial &size : sizes)
    out.push_back(number(size, what));
  return out;
}

Sizes Emitter::sizesOf(Value value, const std::string &what) const {
  if (emit::isFloat(value) || rankOf(value) > 1)
    fail("the ", what, " is ", typeNameOf(value), showShape(shapeOf(value)),
         ", expected a list of integers");
  std::optional<SizeTensor> known = evaluator.sizes(value);
  if (!known)
    fail("the ", what, " ", evaluator.whyUnknown(value));
  Sizes out;
  for (const Quotient &element : known->elements)
    out.push_back(element.value);
  return out;
}

Polynomial Emitter::sizeOf(Value value, const std::string &what) const {
  Sizes sizes = sizesOf(value, what);
  if (sizes.size() != 1)
    fail("the ", what, " has ", sizes.size(), " elements, expected 1");
  return sizes[0];
}

Ints Emitter::integersOf(Value value, const std::string &what) const {
  return numbers(sizesOf(value, what), what);
}

int64_t Emitter::integerOf(Value value, const std::string &what) const {
  return number(sizeOf(value, what), what);
}

Tensor Emitter::tensorOf(Value value, const std::string &what) const {
  std::optional<Tensor> known = evaluator.evaluate(value);
  if (!known)
    fail("the ", what, " ", evaluator.whyUnknown(value));
  return *known;
}

double Emitter::numberOf(Value value, const std::string &what) const {
  Tensor known = tensorOf(value, what);
  if (known.size() != 1)
    fail("the ", what, " has ", known.size(), " elements, expected 1");
  return known.values[0];
}

// -- constants ------------------------------------------------------------------------------------
Value Emitter::constant(const Tensor &tensor) const {
  if (tensor.size() > kMaxConstant)
    fail("makes a constant of ", tensor.size(), " elements, expected fewer");
  evaluator.countConstant(tensor.size());
  return ConstantOp::create(b, loc, toAttribute(tensor, b.getContext()));
}

Value Emitter::scalar(mlir::Type element, double value) const {
  return buildSplat(b, loc, mlir::RankedTensorType::get({}, element), value);
}

Value Emitter::integers(const Ints &values) const {
  auto type = mlir::RankedTensorType::get({static_cast<int64_t>(values.size())}, b.getI64Type());
  return ConstantOp::create(b, loc,
                            mlir::DenseElementsAttr::get(type, llvm::ArrayRef<int64_t>(values)));
}

Value Emitter::sizes(const Sizes &values) const {
  Ints constants;
  llvm::SmallVector<std::string> texts;
  for (const Polynomial &value : values) {
    if (std::optional<int64_t> number = value.constant())
      constants.push_back(*number);
    texts.push_back(value.str());
  }
  if (constants.size() == values.size())
    return integers(constants);
  llvm::SmallVector<llvm::StringRef> references(texts.begin(), texts.end());
  auto type = mlir::RankedTensorType::get({static_cast<int64_t>(values.size())}, b.getI64Type());
  return SizesOp::create(b, loc, type, b.getStrArrayAttr(references), b.getStringAttr("1"));
}

Value Emitter::size(const Polynomial &value) const { return reshape(sizes({value}), {}); }

Value Emitter::splat(Value like, double value) const {
  return buildSplat(b, loc, like.getType(), value);
}

Value Emitter::splat(const Sizes &dims, mlir::Type element, double value) const {
  return buildSplat(b, loc, type(dims, element), value);
}

Value Emitter::splatSize(Value like, const Polynomial &numerator, const Polynomial &divisor) const {
  Value scalar = buildSize(b, loc, elementOf(like), numerator, divisor);
  return broadcast(scalar, shapeOf(like));
}

Value Emitter::iota(const Sizes &dims, int64_t dim, mlir::Type element) const {
  return IotaOp::create(b, loc, type(dims, element), dim);
}

// -- movement -------------------------------------------------------------------------------------
Value Emitter::reshape(Value value, const Sizes &dims) const {
  Sizes found = shapeOf(value);
  if (found == dims)
    return value;
  auto result = type(dims, elementOf(value));
  Polynomial have = product(found), want = product(dims);
  if (have != want)
    fail("cannot give ", showShape(found), " with ", have.str(), " elements the shape ",
         showShape(dims), " with ", want.str());
  return ReshapeOp::create(b, loc, result, value);
}

Value Emitter::insertDim(Value value, int64_t axis) const {
  Sizes dims = shapeOf(value);
  checkDim(axis, static_cast<int64_t>(dims.size()) + 1);
  dims.insert(dims.begin() + axis, Polynomial(1));
  return reshape(value, dims);
}

Value Emitter::dropDim(Value value, int64_t axis) const {
  Sizes dims = shapeOf(value);
  checkDim(axis, static_cast<int64_t>(dims.size()));
  if (dims[axis] != Polynomial(1))
    fail("drops dim ", axis, " of size ", dims[axis].str(), ", expected size 1");
  dims.erase(dims.begin() + axis);
  return reshape(value, dims);
}

Value Emitter::broadcast(Value value, const Sizes &dims) const {
  Sizes found = shapeOf(value);
  if (found == dims)
    return value;
  type(dims, elementOf(value));
  if (found.size() > dims.size() || broadcastShape(found, dims) != dims)
    fail("cannot broadcast ", showShape(found), " to ", showShape(dims));
  return buildBroadcast(b, loc, value, dims);
}

void Emitter::broadcastTogether(Value &x, Value &y) const {
  Sizes dims = broadcastShape(shapeOf(x), shapeOf(y));
  x = broadcast(x, dims);
  y = broadcast(y, dims);
}

void Emitter::broadcastTogether(Values &values) const {
  Sizes dims;
  for (Value value : values)
    dims = broadcastShape(dims, shapeOf(value));
  for (Value &value : values)
    value = broadcast(value, dims);
}

Value Emitter::transpose(Value value, llvm::ArrayRef<int64_t> permutation) const {
  checkPermutation(permutation, rankOf(value));
  for (size_t i = 0; i < permutation.size(); ++i)
    if (permutation[i] != static_cast<int64_t>(i))
      return buildTranspose(b, value, permutation);
  return value;
}

Value Emitter::swapDims(Value value, int64_t first, int64_t second) const {
  Ints permutation = dimsFrom(0, rankOf(value));
  checkDim(std::max(first, second), rankOf(value));
  std::swap(permutation[first], permutation[second]);
  return transpose(value, permutation);
}

Value Emitter::slice(Value value, int64_t dim, const Polynomial &start, const Polynomial &size,
                     int64_t stride) const {
  Sizes dims = shapeOf(value);
  checkDim(dim, static_cast<int64_t>(dims.size()));
  if (start == Polynomial() && stride == 1 && size == dims[dim])
    return value;
  Polynomial left = dims[dim] - 1 - start - (size - 1) * stride;
  if (size != Polynomial() &&
      (left.atMost(kLeastSymbol).value_or(0) < 0 || start.atMost(kLeastSymbol).value_or(0) < 0))
    fail("takes ", size.str(), " elements from ", start.str(), " on of dim ", dim, " of ",
         showShape(dims));
  evaluator.assume(start);
  if (size != Polynomial())
    evaluator.assume(left);
  dims[dim] = size;
  return SliceOp::create(b, loc, type(dims, elementOf(value)), value, dim, start, stride);
}

Value Emitter::gather(Value value, Value indices, int64_t dim, int64_t batch) const {
  Sizes from = shapeOf(value), at = shapeOf(indices);
  checkInteger(indices, "indices");
  checkDim(dim, static_cast<int64_t>(from.size()));
  bool fits = 0 <= batch && batch <= dim && batch <= static_cast<int64_t>(at.size());
  if (!fits || !std::equal(from.begin(), from.begin() + batch, at.begin()))
    fail("has indices ", showShape(at), " for dim ", dim, " of data ", showShape(from),
         ", expected the first ", batch, " dims to be the same");
  Value result = GatherOp::create(b, loc, value, indices, dim, batch);
  type(shapeOf(result), elementOf(result)); // fails if it is too large
  return result;
}

Value Emitter::pad(Value value, int64_t dim, const Polynomial &low, const Polynomial &high,
                   double fill) const {
  if (low == Polynomial() && high == Polynomial())
    return value;
  Sizes dims = shapeOf(value);
  checkDim(dim, static_cast<int64_t>(dims.size()));
  if (low.atMost(kLeastSymbol).value_or(0) < 0 || high.atMost(kLeastSymbol).value_or(0) < 0)
    fail("cannot pad dim ", dim, " of ", showShape(dims), " by ", low.str(), " and ", high.str(),
         " elements, expected at least 0 on both sides");
  dims[dim] += low + high;
  return PadOp::create(b, loc, type(dims, elementOf(value)), value, dim, low, 0, fill);
}

Value Emitter::concat(const Values &values, int64_t dim) const {
  if (values.empty())
    fail("joins no tensors, expected at least 1");
  Sizes joined = shapeOf(values[0]);
  checkDim(dim, static_cast<int64_t>(joined.size()));
  for (Value value : llvm::drop_begin(values)) {
    checkSameType(values[0], value);
    Sizes expected = joined, found = shapeOf(value);
    if (found.size() == expected.size())
      expected[dim] = found[dim];
    if (found != expected)
      fail("joins shapes ", showShape(shapeOf(values[0])), " and ", showShape(found), " along dim ",
           dim, ": the other dims differ");
    joined[dim] += found[dim];
  }
  type(joined, elementOf(values[0]));
  return values.size() == 1 ? values[0] : Value(ConcatOp::create(b, loc, values, dim));
}

Value Emitter::reverse(Value value, int64_t dim) const {
  checkDim(dim, rankOf(value));
  return ReverseOp::create(b, loc, value.getType(), value, dim);
}

// -- arithmetic -----------------------------------------------------------------------------------
Value Emitter::neg(Value x) const { return unary<NegOp>(x); }
Value Emitter::abs(Value x) const { return unary<AbsOp>(x); }

Value Emitter::compare(Predicate predicate, Value x, Value y) const {
  checkAlike(x, y);
  return CompareOp::create(b, loc, predicate, x, y);
}

Value Emitter::compare(Predicate predicate, Value x, double y) const {
  return compare(predicate, x, splat(x, y));
}

Value Emitter::select(Value condition, Value yes, Value no) const {
  checkBool(condition, "a condition");
  checkAlike(yes, no);
  if (shapeOf(condition) != shapeOf(yes))
    fail("selects from ", showShape(shapeOf(yes)), " by a condition of the shape ",
         showShape(shapeOf(condition)), ", expected the same shape");
  return SelectOp::create(b, loc, yes.getType(), condition, yes, no);
}

Value Emitter::cast(Value value, mlir::Type element) const {
  if (element.isInteger(1) && !isBool(value))
    return compare(Predicate::NE, value, 0);
  return buildCast(b, value, element);
}

// -- reductions -----------------------------------------------------------------------------------
static Sizes keptShape(Value value, const Ints &dims) {
  Sizes kept = shapeOf(value);
  for (int64_t dim : dims)
    kept[dim] = Polynomial(1);
  return kept;
}

Value Emitter::reduce(Reduction kind, Value value, const Ints &dims, bool keep) const {
  for (int64_t dim : dims)
    checkDim(dim, rankOf(value));
  Value reduced = buildReduce(b, kind, value, dims);
  return keep ? reshape(reduced, keptShape(value, dims)) : reduced;
}

Value Emitter::mean(Value value, const Ints &dims, bool keep) const {
  for (int64_t dim : dims)
    checkDim(dim, rankOf(value));
  Value reduced = buildMean(b, value, dims);
  return keep ? reshape(reduced, keptShape(value, dims)) : reduced;
}

// -- functions that families share ----------------------------------------------------------------
bool isFloat(Value value) { return mlir::isa<mlir::FloatType>(elementOf(value)); }
bool isBool(Value value) { return elementOf(value).isInteger(1); }

std::string typeName(ElementType type) { return std::string(longName(type)); }
std::string typeNameOf(Value value) { return typeName(toElementType(elementOf(value))); }

std::string showShape(const Sizes &dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i)
    text += (i ? ", " : "") + dims[i].str();
  return text + "]";
}

std::string showInts(const Ints &values) { return showShape(toShape(values)); }

template <> void Sizes::failShort(size_t expected) const {
  fail("has data ", showShape(*this), ", expected at least ", expected, " dims");
}

template <> void Ints::failShort(size_t expected) const {
  fail("has the numbers ", showInts(*this), ", expected at least ", expected);
}

int64_t truncated(double number) {
  constexpr double limit = 9223372036854775808.0; // 2^63
  if (!(number >= -limit && number < limit))
    fail("makes an integer of ", number);
  return static_cast<int64_t>(number);
}

Sizes toShape(llvm::ArrayRef<int64_t> values) { return Sizes(values.begin(), values.end()); }

Polynomial product(llvm::ArrayRef<Polynomial> dims) {
  Polynomial out(1);
  for (const Polynomial &dim : dims)
    out *= dim;
  return out;
}

Sizes broadcastShape(const Sizes &a, const Sizes &b) {
  Sizes out(std::max(a.size(), b.size()), Polynomial(1));
  const Polynomial one(1);
  for (size_t i = 0; i < out.size(); ++i) { // starting with the last dim
    const Polynomial &x = i < a.size() ? a[a.size() - 1 - i] : one;
    const Polynomial &y = i < b.size() ? b[b.size() - 1 - i] : one;
    if (x != y && x != one && y != one)
      fail("cannot broadcast the shapes ", showShape(a), " and ", showShape(b), " together",
           (x.isConstant() && y.isConstant() ? ""
                                             : ": whether " + x.str() + " is " + y.str() + " " +
                                                   dependsOnSymbols((x - y).symbols())));
    out[out.size() - 1 - i] = x == one ? y : x;
  }
  return out;
}

Ints dimsFrom(int64_t first, int64_t rank) {
  Ints dims(std::max<int64_t>(rank - first, 0));
  std::iota(dims.begin(), dims.end(), first);
  return dims;
}

} // namespace cleave::emit
