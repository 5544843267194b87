#include "test/fuzz/programs/GraphMaker.h"

#include "dialects/graph/Build.h"
#include "dialects/graph/Step.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace cleave::fuzz {

namespace {

constexpr double kTooLarge = 1e5;

// From simple to difficult: whole vectors, one more or less, primes.
const Sizes kSizes = {2, 3, 4, 1, 5, 7, 8, 16, 17, 31, 33, 64, 129};
// Larger than the rows, scratch memory and blocks of columns that kernels keep in the cache.
const Sizes kLong = {1000, 4097, 5000, 16385, 17000};

bool isFloatValue(Value value) { return isa<FloatType>(graph::elementTypeOf(value)); }

} // namespace

GraphMaker::GraphMaker(Choices &choices, MLIRContext &context, bool hasRoles)
    : choices_(choices), b_(&context), loc_(UnknownLoc::get(&context)), hasRoles_(hasRoles),
      module_(ModuleOp::create(loc_)) {
  function_ = func::FuncOp::create(loc_, "step", b_.getFunctionType({}, {}));
  module_->push_back(function_);
  b_.setInsertionPointToEnd(function_.addEntryBlock());
  uint32_t type = choices_.below(20);
  float_ = type < (hasRoles ? 13 : 15) ? Type(b_.getF32Type())
           : type < 18 || hasRoles     ? Type(b_.getF64Type())
           : type == 18                ? Type(b_.getF16Type())
                                       : Type(b_.getBF16Type());
  for (uint32_t count = 1 + choices_.below(4); count > 0; --count)
    sizes_.push_back(choices_.pick(kSizes));
  if (choices_.chance(hasRoles ? 6 : 3))
    sizes_.push_back(0);
  mostElements_ = hasRoles ? 600 : 1200;
  if (!hasRoles && choices_.chance(1)) {
    sizes_ = {choices_.pick(kLong), 1 + choices_.below(4)};
    mostElements_ = 70000;
  }
}

bool GraphMaker::fits(const Sizes &shape) const {
  int64_t elements = 1;
  for (int64_t size : shape)
    elements *= size;
  return elements <= mostElements_;
}

Sizes GraphMaker::shape(size_t most) {
  Sizes shape;
  for (uint32_t rank = choices_.below(static_cast<uint32_t>(most) + 1); rank > 0; --rank) {
    shape.push_back(size());
    if (!fits(shape))
      shape.pop_back();
  }
  return shape;
}

// -- values ---------------------------------------------------------------------------------------

Value GraphMaker::newArgument(Type type, Role role, double low, double high) {
  unsigned number = function_.getNumArguments();
  std::string name = "a" + std::to_string(number);
  graph::TensorOrigin origin;
  bool isInput = !hasRoles_ || role == Role::Input;
  if (!isInput) {
    origin.kind = graph::TensorOrigin::Kind::Inline;
    origin.data =
        Tensor(graph::toElementType(graph::elementTypeOf(type)), graph::staticShapeOf(type));
    std::mt19937 random(choices_.below(1000));
    for (int64_t i = 0; i < origin.data.size(); ++i)
      origin.data.set(i, low + static_cast<double>(random()) / 0x1p32 * (high - low));
  }
  if (hasRoles_) {
    graph::addArgument(function_, type, name, role, isInput ? nullptr : &origin);
  } else {
    (void)function_.insertArgument(number, type, {}, loc_);
  }
  function_.setArgAttr(number, "graph.low", b_.getF64FloatAttr(low));
  function_.setArgAttr(number, "graph.high", b_.getF64FloatAttr(high));
  Value value = function_.getArgument(number);
  bounds_[value] = std::max(std::fabs(low), std::fabs(high));
  values_.push_back(value);
  return value;
}

Value GraphMaker::argument(const Sizes &shape) {
  if (hasRoles_ && !choices_.chance(40))
    return parameter(shape);
  return newArgument(RankedTensorType::get(shape, float_), Role::Input, -2, 2);
}
Value GraphMaker::integers(const Sizes &shape, int64_t low, int64_t high) {
  Type element = choices_.chance(25) ? b_.getI32Type() : b_.getI64Type();
  return newArgument(RankedTensorType::get(shape, element), Role::Input, static_cast<double>(low),
                     static_cast<double>(high));
}
Value GraphMaker::parameter(const Sizes &shape, double low, double high) {
  return newArgument(RankedTensorType::get(shape, float_), Role::Parameter, low, high);
}
Value GraphMaker::state(const Sizes &shape, double low, double high) {
  return newArgument(RankedTensorType::get(shape, float_), Role::State, low, high);
}

Value GraphMaker::splat(Type type, double value) {
  Value made = graph::buildSplat(b_, loc_, type, value);
  bounds_[made] = std::fabs(value);
  return made;
}

Value GraphMaker::find(llvm::function_ref<bool(Value)> suits) {
  std::vector<Value> found;
  for (Value value : llvm::reverse(values_))
    if (suits(value))
      found.push_back(value);
  if (found.empty())
    return {};
  auto count = static_cast<uint32_t>(found.size());
  return found[choices_.chance(50) ? choices_.below(count) : choices_.below(std::min(count, 3u))];
}

Value GraphMaker::anyFloat(int64_t rank) {
  if (!choices_.chance(10))
    if (Value found = find([&](Value value) {
          return graph::elementTypeOf(value) == float_ && graph::rankOf(value) >= rank;
        }))
      return found;
  Sizes shape = this->shape(4);
  while (static_cast<int64_t>(shape.size()) < rank)
    shape.push_back(fits(shape) ? size() : 1);
  while (!fits(shape))
    *llvm::max_element(shape) = 1;
  return argument(shape);
}

Value GraphMaker::anyInteger() {
  if (Value found = find([](Value value) {
        return isa<IntegerType>(graph::elementTypeOf(value)) &&
               !graph::elementTypeOf(value).isInteger(1);
      }))
    return found;
  return integers(shape(3), -3, 9);
}

Value GraphMaker::like(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  uint32_t kind = choices_.below(10);
  if (kind < 5)
    if (Value found = find([&](Value v) { return v.getType() == type && v != value; }))
      return found;
  if (!isFloatValue(value) || type.getElementType() != float_ || kind == 9)
    return splat(type, choices_.below(7) - 2.0);
  if (kind < 7)
    return argument(graph::staticShapeOf(value));
  // A row, a column or a scalar, broadcast.
  Sizes shape, whole = graph::staticShapeOf(value);
  SmallVector<int64_t> dims;
  for (auto [dim, size] : llvm::enumerate(whole))
    if (choices_.chance(50)) {
      dims.push_back(static_cast<int64_t>(dim));
      shape.push_back(size);
    }
  Value part = find([&](Value v) {
    return graph::elementTypeOf(v) == float_ && graph::staticShapeOf(v) == shape;
  });
  if (!part)
    part = argument(shape);
  Value made = graph::BroadcastOp::create(b_, loc_, type, part, dims);
  bounds_[made] = bound(part);
  return made;
}

double GraphMaker::bound(Value value) const {
  auto found = bounds_.find(value);
  return found == bounds_.end() ? 1 : found->second;
}

Value GraphMaker::add(Value value, double bound) {
  bounds_[value] = bound;
  if (!(bound <= kTooLarge))
    value = limited(value, 1);
  values_.push_back(value);
  return value;
}

Value GraphMaker::limited(Value value, double most) {
  double now = bound(value);
  if (now <= most)
    return value;
  Value made;
  if (!isFloatValue(value)) {
    most = std::max(1.0, std::floor(most));
    made = graph::RemOp::create(b_, loc_, value, splat(value.getType(), most));
  } else if (std::isfinite(now) && choices_.chance(50)) {
    made = graph::MulOp::create(b_, loc_, value, splat(value.getType(), most / now));
  } else {
    made = graph::TanhOp::create(b_, loc_, value);
    most = 1;
  }
  bounds_[made] = most;
  return made;
}

Value GraphMaker::awayFromZero(Value value) {
  Value size = graph::AbsOp::create(b_, loc_, value);
  Value made = graph::AddOp::create(b_, loc_, size, splat(value.getType(), 0.5));
  bounds_[made] = bound(value) + 0.5;
  return made;
}

void GraphMaker::grow(const std::vector<Family> &families, int most) {
  for (int i = 0; i < most && choices_.below(24) != 0; ++i)
    choices_.pick(families)(*this);
}

OwningOpRef<ModuleOp> GraphMaker::finish(ArrayRef<Value> results) {
  func::ReturnOp::create(b_, loc_, results);
  function_.setFunctionType(FunctionType::get(b_.getContext(), function_.getArgumentTypes(),
                                              ValueRange(results).getTypes()));
  return std::move(module_);
}

} // namespace cleave::fuzz
