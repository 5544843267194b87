// Checked kernels: the elements that every pointer may reach, and the comparison before each access.
#include "passes/codegen/cpu/KernelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace cleave::codegen {

// The range of elements that the kernel's views reach in each buffer.
void KernelBuilder::describeBuffers() {
  if (!checked_)
    return;
  auto include = [&](program::ViewAttr view, Type type) {
    int64_t first = view.getOffset(), last = first;
    bool isEmpty = false;
    for (auto [size, stride] : llvm::zip(graph::staticShapeOf(type), view.getStrides())) {
      isEmpty |= size == 0;
      (stride < 0 ? first : last) += (size - 1) * stride;
    }
    if (isEmpty)
      return;
    std::string name = "buffer " + std::to_string(view.getBuffer());
    Extent &extent = extents_.try_emplace(body_.getArgument(view.getBuffer()),
                                          Extent{first, last + 1, name})
                         .first->second;
    extent.first = std::min(extent.first, first);
    extent.end = std::max(extent.end, last + 1);
  };
  for (auto [i, type] : llvm::enumerate(kernel_.getBody().getArgumentTypes()))
    include(kernel_.getOperandView(i), type);
  for (auto [i, type] : llvm::enumerate(kernel_.getComputation().getResultTypes()))
    include(kernel_.getResultView(i), type);
}

void KernelBuilder::describe(int64_t argument, int64_t count) {
  if (checked_)
    extents_[body_.getArgument(argument)] = {0, count, "buffer " + std::to_string(argument)};
}

// A constant text in the module; several kernels share equal ones by their name.
static Value textOf(OpBuilder &b, Location loc, ModuleOp module, StringRef name, std::string text) {
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    text.push_back('\0');
    Type type = LLVM::LLVMArrayType::get(b.getI8Type(), text.size());
    LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                           b.getStringAttr(text));
  }
  return LLVM::AddressOfOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()), name);
}

static LLVM::LLVMFuncOp libraryFunction(OpBuilder &b, Location loc, ModuleOp module, StringRef name,
                                        Type result, ArrayRef<Type> arguments, bool isVariadic) {
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  return LLVM::LLVMFuncOp::create(b, loc, name,
                                  LLVM::LLVMFunctionType::get(result, arguments, isVariadic));
}

// Ends the process, by libc's dprintf and abort, unless 0 <= index - first < end - first.
void KernelBuilder::check(Value pointer, Value index, const char *access) {
  if (!checked_)
    return;
  auto found = extents_.find(pointer);
  assert(found != extents_.end() && "a pointer that nothing describes");
  const Extent &extent = found->second;
  Value shifted = arith::SubIOp::create(b_, loc_, index, constant(extent.first));
  Value outside = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::uge, shifted,
                                        constant(extent.end - extent.first));
  auto branch = scf::IfOp::create(b_, loc_, outside, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(branch.thenBlock());
  ModuleOp module = body_->getParentOfType<ModuleOp>();
  Type text = LLVM::LLVMPointerType::get(b_.getContext()), number = b_.getI32Type();
  LLVM::LLVMFuncOp print =
      libraryFunction(b_, loc_, module, "dprintf", number, {number, text}, /*isVariadic=*/true);
  LLVM::LLVMFuncOp end = libraryFunction(
      b_, loc_, module, "abort", LLVM::LLVMVoidType::get(b_.getContext()), {}, false);
  std::string kernel = kernel_.getSymName().str();
  std::string message = "kernel " + kernel + " " + access + " element %ld of " + extent.name +
                        ", expected one of [" + std::to_string(extent.first) + ", " +
                        std::to_string(extent.end) + ")\n";
  std::string name = kernel + "." + access + "." + extent.name;
  Value file = arith::ConstantOp::create(b_, loc_, b_.getI32IntegerAttr(2));
  Value format = textOf(b_, loc_, module, name, message);
  LLVM::CallOp::create(b_, loc_, print, ValueRange{file, format, index});
  LLVM::CallOp::create(b_, loc_, end, ValueRange{});
}

} // namespace cleave::codegen
