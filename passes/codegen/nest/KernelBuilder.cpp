// Scalars and loops as arith, scf and LLVM ops.
#include "passes/codegen/nest/KernelBuilder.h"

#include "dialects/graph/Pointwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

using namespace mlir;

namespace cleave::codegen {

KernelBuilder::KernelBuilder(MLIRContext *context) : b_(context), loc_(UnknownLoc::get(context)) {}

void KernelBuilder::declare(ModuleOp module, const std::string &name, int64_t buffers,
                            int64_t further) {
  b_.setInsertionPointToEnd(module.getBody());
  SmallVector<Type> types(buffers, LLVM::LLVMPointerType::get(b_.getContext()));
  types.append(further, b_.getI64Type());
  body_ = func::FuncOp::create(b_, loc_, name, b_.getFunctionType(types, {}));
  Block *block = body_.addEntryBlock();
  b_.setInsertionPointToEnd(block);
  b_.setInsertionPoint(func::ReturnOp::create(b_, loc_));
}

Value KernelBuilder::constant(int64_t value) {
  return arith::ConstantOp::create(b_, loc_, b_.getI64IntegerAttr(value));
}

Value KernelBuilder::add(Value a, Value b) {
  return arith::AddIOp::create(b_, loc_, a, b, arith::IntegerOverflowFlags::nsw);
}

Value KernelBuilder::mul(Value a, int64_t factor) {
  if (factor == 1)
    return a;
  return arith::MulIOp::create(b_, loc_, a, constant(factor), arith::IntegerOverflowFlags::nsw);
}

Value KernelBuilder::smaller(Value a, int64_t limit) {
  return arith::MinSIOp::create(b_, loc_, a, constant(limit));
}

Value KernelBuilder::scalar(Type type, double value) {
  if (isa<FloatType>(type))
    return arith::ConstantOp::create(b_, loc_, b_.getFloatAttr(type, value));
  int64_t bits = static_cast<int64_t>(graph::integerBits(type, value));
  return arith::ConstantOp::create(b_, loc_, b_.getIntegerAttr(graph::scalarType(type), bits));
}

Type KernelBuilder::memoryType(Type element) {
  return element.isInteger(1) ? b_.getI8Type() : graph::scalarType(element);
}

Value KernelBuilder::loadFrom(Value pointer, Value index, Type element) {
  check(pointer, index, "reads");
  Type memory = memoryType(element);
  Value address =
      LLVM::GEPOp::create(b_, loc_, pointer.getType(), memory, pointer,
                          ArrayRef<LLVM::GEPArg>{index}, LLVM::GEPNoWrapFlags::inbounds);
  Value value = LLVM::LoadOp::create(b_, loc_, memory, address);
  if (!element.isInteger(1))
    return value;
  return arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::ne, value, scalar(memory, 0));
}

void KernelBuilder::storeTo(Value value, Value pointer, Value index) {
  check(pointer, index, "writes");
  Type memory = memoryType(value.getType());
  if (memory != value.getType())
    value = arith::ExtUIOp::create(b_, loc_, memory, value);
  Value address =
      LLVM::GEPOp::create(b_, loc_, pointer.getType(), memory, pointer,
                          ArrayRef<LLVM::GEPArg>{index}, LLVM::GEPNoWrapFlags::inbounds);
  LLVM::StoreOp::create(b_, loc_, value, address);
}

Value KernelBuilder::load(int64_t argument, Value index, Type element) {
  return loadFrom(body_.getArgument(argument), index, element);
}

void KernelBuilder::store(Value value, int64_t argument, Value index) {
  storeTo(value, body_.getArgument(argument), index);
}

void KernelBuilder::loop(Value from, Value to, int64_t step, const Body &body) {
  auto loop = scf::ForOp::create(b_, loc_, from, to, constant(step));
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

SmallVector<Value> KernelBuilder::fold(Value from, Value to, int64_t step, ValueRange start,
                                       const Fold &body) {
  auto loop = scf::ForOp::create(b_, loc_, from, to, constant(step), start);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!start.empty())
    scf::YieldOp::create(b_, loc_, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

void KernelBuilder::when(Value condition, llvm::function_ref<void()> body) {
  auto branch = scf::IfOp::create(b_, loc_, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(branch.thenBlock());
  body();
}

Value KernelBuilder::combine(graph::Reduction kind, Type element, Value a, Value b) {
  bool isFloat = isa<FloatType>(a.getType()), isUnsigned = graph::isUnsigned(element);
  Value value;
  switch (kind) {
  case graph::Reduction::Sum:
    value = isFloat ? Value(arith::AddFOp::create(b_, loc_, a, b))
                    : Value(arith::AddIOp::create(b_, loc_, a, b));
    break;
  case graph::Reduction::Prod:
    value = isFloat ? Value(arith::MulFOp::create(b_, loc_, a, b))
                    : Value(arith::MulIOp::create(b_, loc_, a, b));
    break;
  case graph::Reduction::Max:
    value = isFloat      ? Value(arith::MaximumFOp::create(b_, loc_, a, b))
            : isUnsigned ? Value(arith::MaxUIOp::create(b_, loc_, a, b))
                         : Value(arith::MaxSIOp::create(b_, loc_, a, b));
    break;
  case graph::Reduction::Min:
    value = isFloat      ? Value(arith::MinimumFOp::create(b_, loc_, a, b))
            : isUnsigned ? Value(arith::MinUIOp::create(b_, loc_, a, b))
                         : Value(arith::MinSIOp::create(b_, loc_, a, b));
    break;
  }
  if (isFloat && (kind == graph::Reduction::Max || kind == graph::Reduction::Min)) {
    using Flags = arith::FastMathFlags;
    auto op = cast<arith::ArithFastMathInterface>(value.getDefiningOp());
    op->setAttr(op.getFastMathAttrName(),
                arith::FastMathFlagsAttr::get(b_.getContext(), Flags::nsz | Flags::reassoc));
  }
  return value;
}

Value KernelBuilder::neutral(graph::Reduction kind, Type element) {
  double infinity = std::numeric_limits<double>::infinity();
  switch (kind) {
  case graph::Reduction::Sum:
    return scalar(element, 0);
  case graph::Reduction::Prod:
    return scalar(element, 1);
  case graph::Reduction::Max:
  case graph::Reduction::Min:
    break;
  }
  bool isMax = kind == graph::Reduction::Max;
  if (isa<FloatType>(element))
    return scalar(element, isMax ? -infinity : infinity);
  unsigned bits = element.getIntOrFloatBitWidth();
  APInt limit = graph::isUnsigned(element)
                    ? (isMax ? APInt::getMinValue(bits) : APInt::getMaxValue(bits))
                    : (isMax ? APInt::getSignedMinValue(bits) : APInt::getSignedMaxValue(bits));
  return arith::ConstantOp::create(b_, loc_, b_.getIntegerAttr(graph::scalarType(element), limit));
}

Type KernelBuilder::wideType(Type element) {
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32 ? b_.getF32Type()
                                                                         : element;
}

Value KernelBuilder::widen(Value value) {
  Type wide = wideType(value.getType());
  return wide == value.getType() ? value : Value(arith::ExtFOp::create(b_, loc_, wide, value));
}

Value KernelBuilder::narrow(Value value, Type element) {
  Type type = graph::scalarType(element);
  if (auto widened = value.getDefiningOp<arith::ExtFOp>(); widened && type != value.getType())
    if (widened.getIn().getType() == type)
      return widened.getIn();
  return type == value.getType() ? value : Value(arith::TruncFOp::create(b_, loc_, type, value));
}

SmallVector<Value> KernelBuilder::delinearize(Value linear, ArrayRef<int64_t> sizes) {
  SmallVector<Value> indices(sizes.size());
  for (size_t i = sizes.size(); i-- > 1;) {
    Value size = constant(sizes[i]);
    indices[i] = arith::RemUIOp::create(b_, loc_, linear, size);
    linear = arith::DivUIOp::create(b_, loc_, linear, size);
  }
  if (!sizes.empty())
    indices[0] = linear;
  return indices;
}

void forEachRow(KernelBuilder &k, int64_t rows, int64_t length,
                const std::function<void(Value, const ForEach &)> &body) {
  if (k.grain() == Grain::Coarse)
    return k.points(rows, [&](Value row) {
      body(row, [&](const KernelBuilder::Body &element) {
        k.loop(k.constant(0), k.constant(length), 1, element);
      });
    });
  k.points(rows * length, [&](Value point) {
    SmallVector<Value> at = k.delinearize(point, {rows, length});
    body(at[0], [&](const KernelBuilder::Body &element) { element(at[1]); });
  });
}

} // namespace cleave::codegen
