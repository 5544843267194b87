// The entry function, the part of the parallel range of a call, and scratch memory.
#include "passes/codegen/cpu/CpuKernel.h"

#include "passes/codegen/nest/LlvmModule.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace cleave::codegen {

CpuKernel::CpuKernel(ModuleOp module, program::KernelOp kernel, bool checked)
    : KernelBuilder(module.getContext()), kernel_(kernel), buffers_(kernel.getBuffers()),
      checked_(checked) {
  declare(module, (kernel.getSymName() + kBodySuffix).str(), buffers_, 2);
  buildEntry(module, kernel.getSymName());
  describeBuffers();
}

void CpuKernel::buildEntry(ModuleOp module, StringRef symbol) {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto entry = func::FuncOp::create(
      b, loc_, symbol, b.getFunctionType({pointer, b.getI64Type(), b.getI64Type()}, {}));
  Block *block = entry.addEntryBlock();
  b.setInsertionPointToEnd(block);
  SmallVector<Value> arguments;
  for (int64_t i = 0; i < buffers_; ++i) {
    Value slot = LLVM::GEPOp::create(b, loc_, pointer, pointer, block->getArgument(0),
                                     ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    arguments.push_back(LLVM::LoadOp::create(b, loc_, pointer, slot));
  }
  arguments.push_back(block->getArgument(1));
  arguments.push_back(block->getArgument(2));
  func::CallOp::create(b, loc_, body_, arguments);
  func::ReturnOp::create(b, loc_);
}

void CpuKernel::parts(int64_t extent, const Range &body) {
  extent_ = extent;
  body(body_.getArgument(buffers_), body_.getArgument(buffers_ + 1));
}

void CpuKernel::points(int64_t extent, const Body &body) {
  parts(extent, [&](Value from, Value to) { loop(from, to, 1, body); });
}

void CpuKernel::rolled(int64_t from, int64_t to, int64_t step, const Body &body) {
  loop(constant(from), constant(to), step, body);
  keepRolled();
}

void CpuKernel::lanes(int64_t count, int64_t vectors, const Body &body) {
  loop(constant(0), constant(count), 1, body);
  keepRolled(vectors);
}

// Annotates the loop before the insertion point.
void CpuKernel::keepRolled(std::optional<int64_t> vectors) {
  MLIRContext *context = b_.getContext();
  auto unroll = LLVM::LoopUnrollAttr::get(context, b_.getBoolAttr(true), {}, {}, {}, {}, {}, {});
  LLVM::LoopInterleaveAttr interleave;
  if (vectors)
    interleave = LLVM::LoopInterleaveAttr::get(context, b_.getI32IntegerAttr(*vectors));
  auto annotation = LLVM::LoopAnnotationAttr::get(context, {}, {}, interleave, unroll, {}, {}, {},
                                                  {}, {}, {}, {}, {}, {}, {}, {});
  std::prev(b_.getInsertionPoint())->setAttr(kLoopAnnotation, annotation);
}

Value CpuKernel::scratch(int64_t count, Type element) {
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(&body_.front());
  Value pointer = LLVM::AllocaOp::create(b_, loc_, LLVM::LLVMPointerType::get(b_.getContext()),
                                         memoryType(element), constant(count), /*alignment=*/64);
  if (checked_)
    extents_[pointer] = {0, count, "its scratch memory"};
  return pointer;
}

} // namespace cleave::codegen
