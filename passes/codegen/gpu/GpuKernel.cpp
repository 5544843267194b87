// NVVM's intrinsics, shared memory and vectors as LLVM ops.
#include "passes/codegen/gpu/GpuKernel.h"

#include "dialects/graph/Pointwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <numbers>
#include <numeric>

using namespace mlir;

namespace cleave::codegen {

static constexpr unsigned kSharedSpace = 3; // NVVM's address space

GpuKernel::GpuKernel(ModuleOp module, program::KernelOp kernel)
    : KernelBuilder(module.getContext()), module_(module), name_(kernel.getSymName().str()) {
  const int64_t buffers = kernel.instanceBuffers();
  const bool sharesLaunch = kernel.instanceCount() > 1;
  declare(module, name_, buffers, sharesLaunch ? 1 : 0);
  if (sharesLaunch)
    block_ = body_.getArgument(buffers);
}

// -- threads --------------------------------------------------------------------------------------

Value GpuKernel::call(Type result, StringRef intrinsic, ValueRange arguments) {
  auto op =
      result
          ? LLVM::CallIntrinsicOp::create(b_, loc_, result, b_.getStringAttr(intrinsic), arguments)
          : LLVM::CallIntrinsicOp::create(b_, loc_, b_.getStringAttr(intrinsic), arguments);
  return result ? op->getResult(0) : Value();
}

Value GpuKernel::special(StringRef name) {
  Value number = call(b_.getI32Type(), ("llvm.nvvm.read.ptx.sreg." + name).str(), {});
  return arith::ExtUIOp::create(b_, loc_, b_.getI64Type(), number);
}

Value GpuKernel::thread() { return special("tid.x"); }
Value GpuKernel::block() { return block_ ? block_ : special("ctaid.x"); }

void GpuKernel::barrier() {
  Value first = arith::ConstantOp::create(b_, loc_, b_.getI32IntegerAttr(0));
  call({}, "llvm.nvvm.barrier.cta.sync.aligned.all", first);
}

void GpuKernel::points(int64_t extent, const Body &body) {
  extent_ = extent;
  launch_.threads = kThreads;
  launch_.blocks = std::min<int64_t>(llvm::divideCeil(extent, kThreads), kMostBlocks);
  Value first = add(mul(block(), kThreads), thread());
  loop(first, constant(extent), std::max<int64_t>(1, launch_.blocks) * kThreads, body);
}

// Few blocks, so that a thread has several rows.
void GpuKernel::points(int64_t rows, int64_t columns, const GridBody &body) {
  constexpr int64_t kBlocks = 1 << 10;
  extent_ = rows * columns;
  launch_.threads = kThreads;
  const int64_t wanted = std::min<int64_t>(llvm::divideCeil(extent_, kThreads), kBlocks);
  launch_.blocks =
      llvm::alignTo(std::max<int64_t>(1, wanted), columns / std::gcd(columns, kThreads));
  const int64_t rowsAtOnce = launch_.blocks * kThreads / columns;
  Value number = add(mul(block(), kThreads), thread());
  SmallVector<Value> at = delinearize(number, {rowsAtOnce, columns});
  loop(at[0], constant(rows), rowsAtOnce, [&](Value row) { body(row, at[1]); });
}

void GpuKernel::parts(int64_t extent, const Range &body) {
  points(extent, [&](Value point) { body(point, add(point, constant(1))); });
}

Value GpuKernel::shuffleWord(Value word, int mask) {
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b_, loc_, b_.getIntegerAttr(b_.getI32Type(), value));
  };
  return call(b_.getI32Type(), "llvm.nvvm.shfl.sync.bfly.i32",
              {number(-1), word, number(mask), number(kWarp - 1)});
}

Value GpuKernel::fastExp(Value x) {
  Value log2e = scalar(x.getType(), std::numbers::log2e);
  return call(x.getType(), "llvm.nvvm.ex2.approx.ftz",
              arith::MulFOp::create(b_, loc_, x, log2e).getResult());
}

Value GpuKernel::shuffle(Value value, int mask) {
  Type type = value.getType(), word = b_.getI32Type();
  unsigned bits = type.getIntOrFloatBitWidth();
  Type integer = b_.getIntegerType(bits);
  if (integer != type)
    value = arith::BitcastOp::create(b_, loc_, integer, value);
  Value moved;
  if (bits == 64) {
    Value half = constant(32);
    Value high =
        arith::TruncIOp::create(b_, loc_, word, arith::ShRUIOp::create(b_, loc_, value, half));
    Value low = arith::TruncIOp::create(b_, loc_, word, value);
    high = arith::ExtUIOp::create(b_, loc_, integer, shuffleWord(high, mask));
    low = arith::ExtUIOp::create(b_, loc_, integer, shuffleWord(low, mask));
    moved = arith::OrIOp::create(b_, loc_, arith::ShLIOp::create(b_, loc_, high, half), low);
  } else if (bits == 32) {
    moved = shuffleWord(value, mask);
  } else {
    moved = shuffleWord(arith::ExtUIOp::create(b_, loc_, word, value), mask);
    moved = arith::TruncIOp::create(b_, loc_, integer, moved);
  }
  return integer == type ? moved : Value(arith::BitcastOp::create(b_, loc_, type, moved));
}

Value GpuKernel::holdsForAny(Value condition) {
  Type word = b_.getI32Type();
  const int64_t warps = llvm::divideCeil(launch_.threads, kWarp);
  Value any = arith::ExtUIOp::create(b_, loc_, word, condition);
  for (int mask = 1; mask < kWarp; mask *= 2)
    any = arith::OrIOp::create(b_, loc_, any, shuffle(any, mask));
  Value found = shared(warps, word);
  SmallVector<Value> at = delinearize(thread(), {warps, kWarp});
  when(isBelow(at[1], 1), [&] { storeTo(any, found, at[0]); });
  barrier();
  for (int64_t warp = 0; warp < warps; ++warp)
    any = arith::OrIOp::create(b_, loc_, any, loadFrom(found, constant(warp), word));
  return arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::ne, any, scalar(word, 0));
}

// -- memory ---------------------------------------------------------------------------------------

Value GpuKernel::shared(int64_t count, Type element) {
  Type memory = memoryType(element);
  std::string name = name_ + "_shared" + std::to_string(arrays_++);
  launch_.sharedBytes += count * (memory.getIntOrFloatBitWidth() / 8);
  OpBuilder at = OpBuilder::atBlockBegin(module_.getBody());
  LLVM::GlobalOp::create(at, loc_, LLVM::LLVMArrayType::get(memory, count), /*isConstant=*/false,
                         LLVM::Linkage::Internal, name, Attribute(), /*alignment=*/16,
                         kSharedSpace);
  return LLVM::AddressOfOp::create(b_, loc_,
                                   LLVM::LLVMPointerType::get(b_.getContext(), kSharedSpace), name);
}

static unsigned alignmentOf(Type memory, int width) {
  return std::min(16u, memory.getIntOrFloatBitWidth() / 8 * width);
}

Value GpuKernel::loadVector(int64_t argument, Value index, Type element, int width) {
  Type memory = memoryType(element);
  Value pointer = body_.getArgument(argument);
  Value address =
      LLVM::GEPOp::create(b_, loc_, pointer.getType(), memory, pointer,
                          ArrayRef<LLVM::GEPArg>{index}, LLVM::GEPNoWrapFlags::inbounds);
  return LLVM::LoadOp::create(b_, loc_, VectorType::get({width}, memory), address,
                              alignmentOf(memory, width));
}

Value GpuKernel::elementOf(Value vector, int lane, Type element) {
  Value at = arith::ConstantOp::create(b_, loc_, b_.getI32IntegerAttr(lane));
  Value value = LLVM::ExtractElementOp::create(b_, loc_, vector, at);
  if (!element.isInteger(1))
    return value;
  return arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::ne, value,
                               scalar(value.getType(), 0));
}

void GpuKernel::storeVector(ArrayRef<Value> elements, int64_t argument, Value index) {
  Type memory = memoryType(elements.front().getType());
  int width = static_cast<int>(elements.size());
  Value vector = LLVM::PoisonOp::create(b_, loc_, VectorType::get({width}, memory));
  for (auto [lane, value] : llvm::enumerate(elements)) {
    Value at = arith::ConstantOp::create(b_, loc_, b_.getI32IntegerAttr(static_cast<int>(lane)));
    Value stored =
        value.getType() == memory ? value : Value(arith::ExtUIOp::create(b_, loc_, memory, value));
    vector = LLVM::InsertElementOp::create(b_, loc_, vector, stored, at);
  }
  Value pointer = body_.getArgument(argument);
  Value address =
      LLVM::GEPOp::create(b_, loc_, pointer.getType(), memory, pointer,
                          ArrayRef<LLVM::GEPArg>{index}, LLVM::GEPNoWrapFlags::inbounds);
  LLVM::StoreOp::create(b_, loc_, vector, address, alignmentOf(memory, width));
}

// -- arithmetic -----------------------------------------------------------------------------------

Value GpuKernel::choose(Value condition, Value a, Value b) {
  return condition ? Value(arith::SelectOp::create(b_, loc_, condition, a, b)) : a;
}

Value GpuKernel::guarded(Value condition, llvm::function_ref<Value()> body) {
  return guardedValues(condition, [&] { return SmallVector<Value>{body()}; }).front();
}

SmallVector<Value> GpuKernel::guardedValues(Value condition, Branch body) {
  if (!condition)
    return body();
  OpBuilder::InsertPoint here = b_.saveInsertionPoint();
  Block skipped; // holds the body until its types are known
  b_.setInsertionPointToEnd(&skipped);
  SmallVector<Value> made = body();
  b_.restoreInsertionPoint(here);
  if (made.empty())
    return {};
  TypeRange types(made);
  auto branch = scf::IfOp::create(b_, loc_, types, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b_);
  Block *then = branch.thenBlock();
  then->getOperations().splice(then->end(), skipped.getOperations());
  b_.setInsertionPointToEnd(then);
  scf::YieldOp::create(b_, loc_, made);
  b_.setInsertionPointToEnd(branch.elseBlock());
  SmallVector<Value> zeros;
  for (Type type : types)
    zeros.push_back(arith::ConstantOp::create(b_, loc_, b_.getZeroAttr(type)));
  scf::YieldOp::create(b_, loc_, zeros);
  return llvm::to_vector_of<Value>(branch.getResults());
}

SmallVector<Value> GpuKernel::either(Value condition, TypeRange types, Branch yes, Branch no) {
  auto branch = scf::IfOp::create(b_, loc_, types, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b_);
  for (auto [block, body] :
       {std::pair(branch.thenBlock(), yes), std::pair(branch.elseBlock(), no)}) {
    if (types.empty()) {
      b_.setInsertionPointToStart(block);
      body();
    } else {
      b_.setInsertionPointToEnd(block);
      scf::YieldOp::create(b_, loc_, body());
    }
  }
  return llvm::to_vector_of<Value>(branch.getResults());
}

Value GpuKernel::both(Value a, Value b) {
  return !a ? b : !b ? a : Value(arith::AndIOp::create(b_, loc_, a, b));
}

Value GpuKernel::isBelow(Value index, int64_t limit) {
  return arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::ult, index, constant(limit));
}

SmallVector<Value> GpuKernel::delinearize(Value linear, ArrayRef<int64_t> sizes) {
  if (sizes.size() < 2 || llvm::product_of(sizes) > std::numeric_limits<int32_t>::max())
    return KernelBuilder::delinearize(linear, sizes);
  SmallVector<Value> indices(sizes.size());
  Value rest = arith::TruncIOp::create(b_, loc_, b_.getI32Type(), linear);
  for (size_t i = sizes.size(); i-- > 0;) {
    Value index = rest;
    if (i > 0) {
      Value size = arith::ConstantOp::create(
          b_, loc_, b_.getI32IntegerAttr(static_cast<int32_t>(std::max<int64_t>(1, sizes[i]))));
      index = arith::RemUIOp::create(b_, loc_, rest, size);
      rest = arith::DivUIOp::create(b_, loc_, rest, size);
    }
    indices[i] = arith::ExtUIOp::create(b_, loc_, b_.getI64Type(), index);
  }
  return indices;
}

} // namespace cleave::codegen
