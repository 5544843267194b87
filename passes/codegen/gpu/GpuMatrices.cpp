// GpuKernel's instructions on small matrices, whose elements are spread over the lanes of a warp
// (PTX ISA, "Matrix fragments for mma.m16n8k16" and "ldmatrix").
#include "passes/codegen/gpu/GpuKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace cleave::codegen {

static SmallVector<Value> elementsOf(OpBuilder &b, Location loc, Value record, int count) {
  SmallVector<Value> elements;
  for (int i = 0; i < count; ++i)
    elements.push_back(LLVM::ExtractValueOp::create(b, loc, record, i));
  return elements;
}

Value GpuKernel::vectorOf(ArrayRef<Value> elements) {
  auto type = VectorType::get({static_cast<int64_t>(elements.size())}, elements.front().getType());
  Value vector = LLVM::PoisonOp::create(b_, loc_, type);
  for (auto [lane, element] : llvm::enumerate(elements)) {
    Value at = arith::ConstantOp::create(b_, loc_, b_.getI32IntegerAttr(static_cast<int>(lane)));
    vector = LLVM::InsertElementOp::create(b_, loc_, vector, element, at);
  }
  return vector;
}

Value GpuKernel::pack(Value low, Value high, Type element) {
  Value both = vectorOf({low, high});
  Value narrow = arith::TruncFOp::create(b_, loc_, VectorType::get({2}, element), both);
  return LLVM::BitcastOp::create(b_, loc_, b_.getI32Type(), narrow);
}

Value GpuKernel::sharedAddress(Value pointer, Value index, Type element) {
  return LLVM::GEPOp::create(b_, loc_, pointer.getType(), memoryType(element), pointer,
                             ArrayRef<LLVM::GEPArg>{index}, LLVM::GEPNoWrapFlags::inbounds);
}

void GpuKernel::storeVectorTo(Value vector, Value pointer, Value index, Type element) {
  LLVM::StoreOp::create(b_, loc_, vector, sharedAddress(pointer, index, element), 16);
}

SmallVector<Value> GpuKernel::loadMatrices(Value pointer, Value index, Type element,
                                           bool isTransposed) {
  Type words =
      LLVM::LLVMStructType::getLiteral(b_.getContext(), SmallVector<Type>(4, b_.getI32Type()));
  Value loaded = call(words,
                      isTransposed ? "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16"
                                   : "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16",
                      sharedAddress(pointer, index, element));
  return elementsOf(b_, loc_, loaded, 4);
}

SmallVector<Value> GpuKernel::multiplyMatrices(ValueRange a, ValueRange b, ValueRange sums,
                                               Type element) {
  SmallVector<Value> arguments;
  for (ValueRange factor : {a, b})
    for (Value word : factor)
      arguments.push_back(element.isF16() ? Value(LLVM::BitcastOp::create(
                                                b_, loc_, VectorType::get({2}, element), word))
                                          : word);
  append_range(arguments, sums);
  Type numbers =
      LLVM::LLVMStructType::getLiteral(b_.getContext(), SmallVector<Type>(4, b_.getF32Type()));
  Value next = call(numbers,
                    element.isF16() ? "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
                                    : "llvm.nvvm.mma.m16n8k16.row.col.bf16",
                    arguments);
  return elementsOf(b_, loc_, next, 4);
}

} // namespace cleave::codegen
