// Checked kernels: the extent of every pointer, and the check before each access.
#include "passes/codegen/cpu/CpuKernel.h"

#include "runtime/base/Concat.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace cleave::codegen {

// Computes the range of elements that the kernel's views reach in each buffer.
void CpuKernel::describeBuffers() {
  if (!checked_)
    return;
  auto include = [&](program::ViewAttr view, Type type) {
    int64_t first = view.getOffset(), last = first;
    std::vector<int64_t> shape = graph::staticShapeOf(type);
    for (auto [size, stride] : llvm::zip(shape, view.getStrides()))
      (stride < 0 ? first : last) += (size - 1) * stride;
    std::string name = concat("buffer ", view.getBuffer());
    bool isEmpty = llvm::is_contained(shape, 0);
    Extent mine = isEmpty ? Extent{0, 0, name} : Extent{first, last + 1, name};
    auto [known, isNew] = extents_.try_emplace(body_.getArgument(view.getBuffer()), mine);
    Extent &extent = known->second;
    if (isNew || isEmpty)
      return;
    bool wasEmpty = extent.first == extent.end;
    extent.first = wasEmpty ? first : std::min(extent.first, first);
    extent.end = wasEmpty ? last + 1 : std::max(extent.end, last + 1);
  };
  for (auto [i, type] : llvm::enumerate(kernel_.getBody().getArgumentTypes()))
    include(kernel_.getOperandView(i), type);
  for (auto [i, type] : llvm::enumerate(kernel_.getComputation().getResultTypes()))
    include(kernel_.getResultView(i), type);
}

void CpuKernel::describe(int64_t argument, int64_t count) {
  if (checked_)
    extents_[body_.getArgument(argument)] = {0, count, concat("buffer ", argument)};
}

// A string constant of the module; kernels share equal strings by their name.
static Value textOf(OpBuilder &b, Location loc, ModuleOp module, const std::string &name,
                    std::string text) {
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

// kCheck(index, first, end, format): unless the index is in [first, end), prints it by the format
// and ends the process, by libc's dprintf and abort. A function of its own, since every access
// calls it.
static func::FuncOp checkFunction(Location loc, ModuleOp module) {
  if (auto known = module.lookupSymbol<func::FuncOp>(kCheck))
    return known;
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  Type text = LLVM::LLVMPointerType::get(b.getContext()), number = b.getI32Type(),
       wide = b.getI64Type(), none = LLVM::LLVMVoidType::get(b.getContext());
  auto print = LLVM::LLVMFuncOp::create(
      b, loc, "dprintf", LLVM::LLVMFunctionType::get(number, {number, text}, /*isVarArg=*/true));
  auto end = LLVM::LLVMFuncOp::create(b, loc, "abort", LLVM::LLVMFunctionType::get(none, {}));
  auto check =
      func::FuncOp::create(b, loc, kCheck, b.getFunctionType({wide, wide, wide, text}, {}));
  Block *block = check.addEntryBlock();
  b.setInsertionPointToEnd(block);
  b.setInsertionPoint(func::ReturnOp::create(b, loc));
  auto argument = [&](unsigned i) { return block->getArgument(i); };
  using P = arith::CmpIPredicate;
  Value below = arith::CmpIOp::create(b, loc, P::slt, argument(0), argument(1));
  Value above = arith::CmpIOp::create(b, loc, P::sge, argument(0), argument(2));
  Value outside = arith::OrIOp::create(b, loc, below, above);
  auto branch = scf::IfOp::create(b, loc, outside, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  Value file = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(2));
  LLVM::CallOp::create(b, loc, print, ValueRange{file, argument(3), argument(0)});
  LLVM::CallOp::create(b, loc, end, ValueRange{});
  return check;
}

void CpuKernel::check(Value pointer, Value index, const char *access) {
  if (!checked_)
    return;
  auto found = extents_.find(pointer);
  assert(found != extents_.end() && "a pointer that nothing describes");
  const Extent &extent = found->second;
  auto module = body_->getParentOfType<ModuleOp>();
  std::string kernel = kernel_.getSymName().str();
  std::string message = concat("kernel ", kernel, " ", access, " element %ld of ", extent.name,
                               ", expected one of [", extent.first, ", ", extent.end, ")\n");
  Value format = textOf(b_, loc_, module, kernel + "." + access + "." + extent.name, message);
  func::CallOp::create(b_, loc_, checkFunction(loc_, module),
                       ValueRange{index, constant(extent.first), constant(extent.end), format});
}

} // namespace cleave::codegen
